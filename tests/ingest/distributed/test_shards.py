"""Shards without Ray: their names, what is whole, and what a run that was killed left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import ConfigurationError
from pipeline.ingest.distributed.shards import Leftovers, Shards
from pipeline.records import Chunk, Document

ADA = Document("ada", "Ada", "Ada wrote notes.")
MOON = Document("moon", "Moon", "The moon raises tides.")
CHUNK = Chunk("id", "ada", 0, "Ada wrote\x00 notes. \U0001f319", "Ada", "", 0, 16, 1, 1, 4, {"page": 7, "part": 1.0})
VECTORS = {"a": np.array([0.1, -1e-30, 3.4e38], dtype=np.float32), "b": np.array([1 / 3, 0, 1], dtype=np.float32)}


@pytest.fixture(params=["folder", "url", "memory"])
def shards(request: pytest.FixtureRequest, tmp_path: Path) -> Shards:
    roots = {"folder": str(tmp_path), "url": tmp_path.as_uri(), "memory": f"memory://{tmp_path}"}
    return Shards(roots[request.param], "bolt://there/corpus", ("model/3/mean/float32", "structure"))


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_what_is_written_is_read_back_bit_by_bit(shards: Shards) -> None:
    shards.write_chunks("one", [[CHUNK], []], {"a": "text"})
    shards.write_vectors("one", VECTORS)

    assert shards.read_chunks("one") == ([[CHUNK], []], {"a": "text"})
    found = shards.read_vectors("one")
    assert found is not None
    assert {key: vector.tobytes() for key, vector in found.items()} == {k: v.tobytes() for k, v in VECTORS.items()}
    assert repr((shards.read_chunks("one") or [[[]]])[0][0][0].metadata) == "{'page': 7, 'part': 1.0}"
    assert shards.embedded() == {"one"}


def test_a_shard_that_is_not_there_is_none(shards: Shards) -> None:
    assert (shards.read_chunks("one"), shards.read_vectors("one"), shards.hashes("one")) == (None, None, [])
    assert shards.embedded() == set()
    shards.remove()


def test_a_half_written_shard_is_ignored_and_written_again(tmp_path: Path) -> None:
    shards = Shards(str(tmp_path), "corpus", ("model",))
    shards.write_vectors("one", VECTORS)
    (file,) = files(tmp_path)
    content = file.read_bytes()
    file.with_name(f"two.vectors.parquet.{'0' * 32}.partial").write_bytes(content)

    assert shards.embedded() == {"one"}
    for size in (0, 3, len(content) // 2, len(content) - 1):
        file.write_bytes(content[:size])
        assert (shards.read_vectors("one"), shards.hashes("one")) == (None, []), size
    shards.write_vectors("one", VECTORS)
    assert (shards.read_vectors("one") or {}).keys() == VECTORS.keys()


def test_attempts_of_a_run_at_what_has_no_vectors_are_counted(shards: Shards) -> None:
    shards.write_vectors("done", VECTORS)
    for name, run in (("done", "now"), ("one", "now"), ("one", "now"), ("two", "now"), ("two", "before")):
        shards.begin(name, run)

    assert shards.begun("now") == {"one": 2, "two": 1}
    assert shards.embedded() == {"done"}


def test_the_documents_of_a_shard_are_told_in_words(shards: Shards) -> None:
    shards.write_chunks("one", [[], [CHUNK], [replace(CHUNK, document_key="moon")], []], {})

    assert shards.documents("one") == "'ada' to 'moon'"
    assert shards.documents("none") == ""


def test_a_name_is_of_the_content_the_order_and_the_corpus(shards: Shards) -> None:
    name = shards.name("c", [ADA, MOON])

    assert name == shards.name("c", [replace(ADA, path="elsewhere"), MOON])
    others = [("c", [MOON, ADA]), ("c", [ADA]), ("d", [ADA, MOON]), ("c", [replace(ADA, text="Ada wrote."), MOON])]
    assert name not in [shards.name(*other) for other in others]


def test_shards_of_other_models_and_corpora_are_others(shards: Shards) -> None:
    shards.write_vectors("one", VECTORS)

    assert replace(shards, vectors=("other/3",)).embedded() == replace(shards, corpus="other").embedded() == set()
    replace(shards, corpus="other").remove()
    assert shards.embedded() == {"one"}
    replace(shards, vectors=("other/3",)).remove()
    assert shards.embedded() == set(), "all of a corpus go with it"


def test_leftovers_serve_texts_of_shards_of_other_names(shards: Shards) -> None:
    shards.write_vectors("one", VECTORS)
    shards.write_vectors("two", {"c": np.zeros(3, dtype=np.float32)})

    leftovers = Leftovers(shards, ["one", "two", "gone"])

    assert leftovers.vectors(["c", "none", "a"]).keys() == {"a", "c"}
    assert Leftovers(shards, []).vectors(["a"]) == {}


def test_a_url_that_nothing_opens_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"ray\.shards is 'nowhere://bucket'"):
        Shards("nowhere://bucket", "corpus", ("model",)).embedded()
