"""Questions by OpenVINO in bfloat16: near those of ONNX Runtime, where a measurement says that it is quicker."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.embedding import sessions
from pipeline.embedding.onnx import SAMPLES
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.embedding.sessions import OnnxSession, OpenVinoSession, Session, Tokens, question_session
from pipeline.records import Precision, Vector
from tests.embedding.test_bert import TEXTS

pytestmark = pytest.mark.slow

_TOKENS = {name: np.ones((1, 9), dtype=np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the graph of the bundled model; tests take a copy."""
    made = tmp_path_factory.mktemp("onnx")
    SentenceTransformerEmbedder(precision="float32", onnx=made).embed_query("it is made")
    return made


@pytest.fixture
def graph(home: Path, tmp_path: Path) -> Path:
    """The graph of the bundled model, of which nothing was measured."""
    (copied,) = shutil.copytree(home, tmp_path / "onnx").glob("*/model.onnx")
    return Path(copied)


_CI = ("CI", "TF_BUILD", "JENKINS_URL")
_TELEMETRY = """
import sys
from pathlib import Path
from pipeline.embedding.sessions import OpenVinoSession
OpenVinoSession(Path(sys.argv[1]))
print([name for name in sys.modules if "openvino_telemetry" in name])
"""


def samples() -> list[Tokens]:
    return [_TOKENS]


def measured(graph: Path) -> dict[str, Any]:
    return dict(json.loads(graph.with_name("questions.json").read_text()))


def told(*, quicker: bool, cosine: float = 1.0) -> Callable[[tuple[Path, list[Tokens]]], dict[str, float]]:
    return lambda *_: {"onnxruntime_ms": 6.0, "openvino_ms": 3.0 if quicker else 6.0, "cosine": cosine}


def crash(_: object) -> bytes:
    """End the process as a processor does that can't compute what it announces."""
    os.kill(os.getpid(), signal.SIGILL)
    return b""


def unit(vector: Vector) -> Vector:
    of_one: Vector = vector[0] / np.linalg.norm(vector[0])
    return of_one


def test_what_is_measured_chooses_and_is_measured_once(graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = question_session(graph, samples, may_round=True)
    found = measured(graph)
    monkeypatch.setattr(sessions, "_measured_apart", lambda *_: pytest.fail("it was measured again"))

    assert isinstance(first, OpenVinoSession if found["quicker"] else OnnxSession)
    assert found["cosine"] > 0.999
    assert min(found["onnxruntime_ms"], found["openvino_ms"]) > 0
    assert type(question_session(graph, samples, may_round=True)) is type(first)


@pytest.mark.parametrize(
    ("quicker", "cosine", "kind"), [(True, 1.0, OpenVinoSession), (True, 0.99, OnnxSession), (False, 1.0, OnnxSession)]
)
def test_openvino_must_be_quicker_and_near(
    quicker: bool, cosine: float, kind: type[Session], graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_measured_apart", told(quicker=quicker, cosine=cosine))

    assert isinstance(question_session(graph, samples, may_round=True), kind)
    assert type(question_session(graph, samples, may_round=True)) is kind, "as it is kept"


@pytest.mark.parametrize("kept", ["{", "[]", "{}", '{"key": 1}', '{"key": ["another boot"], "quicker": false}'])
def test_what_is_damaged_or_outdated_is_measured_again(kept: str, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_measured_apart", told(quicker=True))
    graph.with_name("questions.json").write_text(kept)

    assert isinstance(question_session(graph, samples, may_round=True), OpenVinoSession)
    assert measured(graph)["quicker"] is True


def test_a_processor_that_ends_the_measurement_ends_nothing_else(graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_MEASURE", f"{__name__}:{crash.__name__}")

    assert isinstance(question_session(graph, samples, may_round=True), OnnxSession)
    assert measured(graph)["quicker"] is False


@pytest.mark.parametrize("where", ["version", "OpenVinoSession"])
def test_what_openvino_cant_run_onnx_runtime_does(
    where: str, graph: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("no such device")

    monkeypatch.setattr(sessions, "_measured_apart", told(quicker=True))
    monkeypatch.setattr(sessions, where, refuse)

    with caplog.at_level(logging.WARNING):
        assert isinstance(question_session(graph, samples, may_round=True), OnnxSession)
    assert caplog.messages == [f"OpenVINO can't run {graph}, so ONNX Runtime does: no such device"]


def test_a_graph_in_memory_or_in_a_folder_that_cant_be_written_is_run_by_onnx_runtime(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    assert isinstance(question_session(graph.read_bytes(), samples, may_round=True), OnnxSession)
    monkeypatch.setattr(sessions, "replacing", full)
    monkeypatch.setattr(sessions, "_measured_apart", told(quicker=True))
    assert isinstance(question_session(graph, samples, may_round=True), OnnxSession)


@pytest.mark.parametrize(
    ("precision", "kind"), [("auto", OpenVinoSession), ("bfloat16", OpenVinoSession), ("float32", OnnxSession)]
)
def test_questions_are_rounded_unless_the_settings_say_float32(
    precision: str, kind: type[Session], graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_measured_apart", told(quicker=True))
    embedder = SentenceTransformerEmbedder(precision=precision, onnx=graph.parent.parent)
    exact = SentenceTransformerEmbedder(precision="float32", onnx=graph.parent.parent)
    questions = [*TEXTS, *SAMPLES, "tide", "東京都は日本の首都です。"]

    asked = np.array([embedder.embed_query(text) for text in questions])
    near = np.sum(asked * np.array([exact.embed_query(text) for text in questions]), axis=1)

    assert isinstance(next(iter(embedder._find_onnx()._sessions.values())), kind)  # type: ignore[union-attr]
    assert near.min() > (0.999 if kind is OpenVinoSession else 1 - 1e-6)
    rounded, precise = (one.encode(TEXTS, precision=Precision.FLOAT32) for one in (embedder, exact))
    assert np.array_equal(rounded, precise), "passages are as precise as they were"


def test_threads_get_what_one_gets(graph: Path) -> None:
    session = OpenVinoSession(graph)
    texts = [
        {name: np.full((1, size), 2054 if name == "input_ids" else 1) for name in _TOKENS} for size in range(3, 40)
    ]
    alone = [session.run(text)[0] for text in texts]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: session.run(text)[0], texts * 8))

    assert all(unit(one) @ unit(other) > 1 - 1e-6 for one, other in zip(alone * 8, together, strict=True))


def test_openvino_tells_nobody_of_its_use(graph: Path, tmp_path: Path) -> None:
    """Its telemetry sends an event at each import, and keeps its identity in the user's folder; not in CI's."""
    user = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    environment = {name: value for name, value in os.environ.items() if name not in _CI} | user
    command = [sys.executable, "-c", _TELEMETRY, str(graph)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["[]"]
    assert [path.name for path in tmp_path.iterdir()] == ["onnx"]
