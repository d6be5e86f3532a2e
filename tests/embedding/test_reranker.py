"""Rerankers: the scores of the library, by ONNX and by PyTorch; what their files tell, and errors that name them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from sentence_transformers import CrossEncoder, MultiVectorEncoder

from pipeline.embedding.backends import make_reranker
from pipeline.embedding.model_files import BUNDLED_MODEL
from pipeline.embedding.reranker import Reranker
from pipeline.errors import ConfigurationError, ExtraMissing
from pipeline.settings import load_settings
from tests.tiny_rerankers import cross_encoder, multi_vector, noted_loads

pytestmark = pytest.mark.slow

QUESTION = "Who wrote notes on the Analytical Engine?"
PASSAGES = [
    "Ada Lovelace\nAda Lovelace wrote notes on his machine.",
    "Bread is baked from flour and water.",
    "",
    "The moon raises the tides of the sea. " * 40,
    "東京都は日本の首都です。",
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A cross-encoder, the same with the files of transformers alone, and a multi-vector model, by kind."""
    made = tmp_path_factory.mktemp("models")
    return {
        "cross": cross_encoder(made / "cross"),
        "plain": cross_encoder(made / "plain", plain=True),
        "multi": multi_vector(made / "multi"),
    }


def scores_of_the_library(kind: str, folder: str) -> list[float]:
    scores: list[float]
    if kind == "multi":
        model = MultiVectorEncoder(folder, device="cpu")
        scores = model.similarity(model.encode_query([QUESTION]), model.encode_document(PASSAGES))[0].tolist()
    else:
        pairs = [(QUESTION, passage) for passage in PASSAGES]
        scores = CrossEncoder(folder, device="cpu").predict(pairs, activation_fn=torch.nn.Identity()).tolist()
    return scores


def no_model(*_: object) -> None:
    raise AssertionError("a model was loaded")


@pytest.mark.parametrize("kind", ["cross", "plain", "multi"])
def test_scores_are_the_librarys_by_onnx_and_by_pytorch(
    kind: str, folders: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = scores_of_the_library(kind, folders[kind])
    assert max(expected) - min(expected) > 0.1, "the model tells passages apart"

    by_pytorch = Reranker(folders[kind], device="cpu").scores(QUESTION, PASSAGES)
    first = Reranker(folders[kind], device="cpu", onnx=tmp_path).scores(QUESTION, PASSAGES)
    monkeypatch.setattr("pipeline.embedding.reranker.load_model", no_model)
    later = Reranker(folders[kind], device="cpu", onnx=tmp_path).scores(QUESTION, PASSAGES)

    assert by_pytorch == pytest.approx(expected, abs=1e-4)
    assert first == pytest.approx(expected, abs=1e-3)
    assert later == first, "the export that the first left"


def test_what_onnx_cannot_do_the_model_does(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Questions that are filled up with masks to a length aren't in the export, whose scores differ."""
    folder = multi_vector(
        tmp_path / "model", query_expansion={"strategy": "fixed", "length": 16, "attend": True, "token": "[MASK]"}
    )
    expected = scores_of_the_library("multi", folder)

    for _ in range(2):
        found = Reranker(folder, device="cpu", onnx=tmp_path / "onnx").scores(QUESTION, PASSAGES)
        assert found == pytest.approx(expected, abs=1e-4)

    (warning,) = [record.getMessage() for record in caplog.records if record.name == "pipeline.embedding.onnx"]
    assert "has no ONNX" in warning
    (left,) = (path for path in (tmp_path / "onnx").iterdir() if path.is_dir())
    assert [path.name for path in left.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize("by_onnx", [True, False])
@pytest.mark.parametrize("kind", ["cross", "multi"])
def test_sixteen_threads_share_one_model_and_get_what_each_gets_alone(
    kind: str, by_onnx: bool, folders: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = noted_loads(monkeypatch)
    reranker = Reranker(folders[kind], device="cpu", onnx=tmp_path if by_onnx else None)
    barrier = threading.Barrier(16)

    def ask(number: int) -> list[float]:
        barrier.wait()
        return reranker.scores(QUESTION, PASSAGES[number % 2 :])

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(ask, range(16)))

    alone = [reranker.scores(QUESTION, PASSAGES[start:]) for start in (0, 1)]
    for number, scores in enumerate(found):
        assert scores == pytest.approx(alone[number % 2], abs=1e-5)
    assert loads == [folders[kind]]


def embedder(_: Path) -> str:
    return BUNDLED_MODEL


def plain_embedder(folder: Path) -> str:
    return str(Path(multi_vector(folder)) / "bert")


def classifier(folder: Path) -> str:
    return cross_encoder(folder, labels=3)


def described_otherwise(folder: Path) -> str:
    made = Path(cross_encoder(folder))
    (made / "config_sentence_transformers.json").write_text(json.dumps({"model_type": "SparseEncoder"}))
    return str(made)


def garbled(folder: Path) -> str:
    made = Path(cross_encoder(folder))
    (made / "config.json").write_text("{")
    return str(made)


def empty(folder: Path) -> str:
    folder.mkdir()
    return str(folder)


def missing(folder: Path) -> str:
    return str(folder)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (embedder, "it is an embedding model"),
        (plain_embedder, "it is BertModel"),
        (described_otherwise, "it is an embedding model"),
        (classifier, "it tells 3 classes apart"),
        (garbled, "can't be loaded"),
        (empty, "it is nothing that its files name"),
        (missing, "there is no folder"),
    ],
)
def test_what_is_no_reranker_is_refused_by_name(make: Callable[[Path], str], says: str, tmp_path: Path) -> None:
    name = make(tmp_path / "made")

    with pytest.raises(ConfigurationError, match=says) as caught:
        Reranker(name, device="cpu").scores(QUESTION, PASSAGES)

    assert repr(name) in caught.value.message
    assert "retrieve.reranker" in caught.value.fix


def test_a_score_that_is_no_number_is_an_error(tmp_path: Path) -> None:
    folder = cross_encoder(tmp_path / "model")
    model = CrossEncoder(folder, device="cpu")
    torch.nn.init.constant_(model.model.classifier.bias, float("nan"))
    model.save_pretrained(folder)

    with pytest.raises(ConfigurationError, match="failed on the question 'Who wrote") as caught:
        Reranker(folder, device="cpu", onnx=tmp_path / "onnx").scores(QUESTION, PASSAGES)

    assert repr(folder) in caught.value.message


def test_a_question_that_the_model_fails_on_is_an_error(
    folders: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reranker = Reranker(folders["cross"], device="cpu")
    reranker.scores(QUESTION, PASSAGES)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("out of memory\nmore")

    monkeypatch.setattr(CrossEncoder, "predict", fail)
    with pytest.raises(ConfigurationError, match=r"failed on the question .*: out of memory\n"):
        reranker.scores(QUESTION, PASSAGES)


def test_without_the_extra_it_says_what_to_install(
    folders: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Reranker(folders["cross"], device="cpu", onnx=tmp_path).scores(QUESTION, PASSAGES)
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)

    assert Reranker(folders["cross"], device="cpu", onnx=tmp_path).scores(QUESTION, PASSAGES), "by the export"
    with pytest.raises(ExtraMissing, match=r"leave retrieve\.reranker empty"):
        Reranker(folders["cross"], device="cpu").scores(QUESTION, PASSAGES)


def test_for_no_passages_no_model_is_loaded() -> None:
    assert Reranker("/nowhere/at/all").scores(QUESTION, []) == []


def test_the_settings_name_it_and_by_default_none(folders: dict[str, str], tmp_path: Path) -> None:
    assert make_reranker(load_settings()) is None

    made = make_reranker(load_settings({"retrieve": {"reranker": folders["multi"]}}))

    assert made
    assert made.name == folders["multi"]


@pytest.mark.parametrize("value", ["0", "101"])
def test_it_reads_up_to_a_hundred_candidates(value: str) -> None:
    with pytest.raises(ConfigurationError, match=r"retrieve\.reranked"):
        load_settings({"retrieve": {"reranked": value}})
