"""Rows that bring their own chunks, with vectors of their own or without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus
from pipeline.embedding.embedder import Embedder
from pipeline.errors import SourceError

Jsonl = Callable[..., Path]
GraphOf = Callable[[str], dict[str, set[tuple[Any, ...]]]]

NORTH = [2.0, *[0.0] * 383]
EAST = [0.0, 3.0, *[0.0] * 382]
ROWS = [
    {
        "id": "a",
        "title": "Ada",
        "chunks": [{"text": "One.", "embedding": NORTH}, {"text": "Two\nlines.", "embedding": EAST}],
    },
    {"id": "b", "title": "Bab", "chunks": [{"text": "Three, by Ada.", "embedding": NORTH}]},
]


def test_chunks_and_vectors_are_taken_as_they_are_and_no_model_is_asked(
    hoprank: HopRank, corpus_name: str, jsonl: Jsonl, graph_of: GraphOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("nothing is to be embedded or tokenised")

    monkeypatch.setattr(Embedder, "encode", refuse)
    monkeypatch.setattr(Embedder, "token_offsets", refuse)
    hoprank.sync(jsonl(ROWS), corpus=corpus_name)

    graph = graph_of(corpus_name)
    assert {(*chunk[:3], *chunk[5:9]) for chunk in graph["chunks"]} == {
        ("a", 0, "One.", 0, 4, 1, 1),
        ("a", 1, "Two\nlines.", 6, 16, 3, 4),
        ("b", 0, "Three, by Ada.", 0, 14, 1, 1),
    }
    assert graph["SIMILAR"] == {(("a", 0), ("b", 0), True, 1.0)}
    found = hoprank.search(query_vector=EAST, corpus=corpus_name, leg="vector").items
    assert (found[0].content, found[0].metadata["score"]) == ("Two\nlines.", pytest.approx(1.0))


@pytest.mark.slow
def test_chunks_without_vectors_are_embedded(hoprank: HopRank, corpus_name: str, jsonl: Jsonl) -> None:
    rows = [{"id": "a", "chunks": [{"text": "An otter swims."}, {"text": "A train is late.", "embedding": NORTH}]}]
    hoprank.ingest(jsonl(rows), corpus=corpus_name)

    assert hoprank.search("otters", corpus=corpus_name, leg="vector").items[0].content == "An otter swims."


def test_another_vector_is_a_change(hoprank: HopRank, corpus_name: str, jsonl: Jsonl, graph_of: GraphOf) -> None:
    hoprank.ingest(jsonl(ROWS), corpus=corpus_name)
    assert graph_of(corpus_name)["SIMILAR"]
    other = {**ROWS[1], "chunks": [{"text": "Three, by Ada.", "embedding": list(np.ones(384))}]}

    summary = hoprank.ingest(jsonl([ROWS[0], other]), corpus=corpus_name)

    assert summary.changed == 1
    assert not graph_of(corpus_name)["SIMILAR"]


@pytest.mark.slow
def test_other_metadata_of_a_chunk_is_a_change_that_embeds_nothing(
    hoprank: HopRank, corpus_name: str, new_corpus: Callable[[], Any], jsonl: Jsonl, graph_of: GraphOf
) -> None:
    def rows(*metadata: dict[str, Any]) -> Path:
        texts = (("One.", NORTH), ("Two\nlines.", EAST))
        chunks = [
            {"text": text, "embedding": vector, "metadata": given}
            for (text, vector), given in zip(texts, metadata, strict=True)
        ]
        return jsonl([{**ROWS[0], "metadata": {"page": 9}, "chunks": chunks}, ROWS[1]])

    hoprank.sync(rows({"page": 1, "draft": True}, {"by": ["Ada"]}), corpus=corpus_name)
    path = rows({"page": 1.0}, {})
    summary = hoprank.sync(path, corpus=corpus_name)
    again = hoprank.sync(path, corpus=corpus_name)

    assert summary.plan.changed == ("a",)
    assert summary.plan.chunks_to_embed == 0
    assert not again.plan
    with new_corpus() as fresh:
        hoprank.sync(path, corpus=fresh)
        assert graph_of(fresh) == graph_of(corpus_name)
    hits = hoprank.search(query_vector=NORTH, corpus=corpus_name, filters={"document": "a"}).items
    shown = {item.content: item.metadata for item in hits}
    assert {text: hit["chunk_metadata"] for text, hit in shown.items()} == {"One.": {"page": 1.0}, "Two\nlines.": {}}
    assert all(hit["document_metadata"] == {"page": 9} for hit in shown.values())
    assert hoprank.document("a", corpus_name).chunk_metadata == {shown["One."]["id"]: {"page": 1.0}}


@pytest.mark.parametrize(
    ("chunks", "said"),
    [
        ([{"text": "x", "embedding": [1.0, 2.0]}], "'a' brings an embedding of 2 numbers"),
        ([{"text": "x", "embedding": [0.0] * 384}], "without a direction"),
        ([{"text": "x", "embedding": ["1"] * 384}], "line 1 has a chunk with an embedding that isn't"),
        ([{"text": "x", "embedding": [True] * 384}], "line 1 has a chunk with an embedding that isn't"),
        ([{"text": " "}], "line 1 has a chunk without a text"),
        ([{"embedding": NORTH}], "line 1 has a chunk without a text"),
        ({"text": "x"}, "line 1 has chunks that aren't a list"),
        (["x"], "line 1 has chunks that aren't a list"),
    ],
)
def test_what_can_not_be_a_chunk_is_refused(
    hoprank: HopRank, corpus_name: str, jsonl: Jsonl, chunks: object, said: str
) -> None:
    with pytest.raises(SourceError, match=said) as caught:
        hoprank.ingest(jsonl([{"id": "a", "chunks": chunks}]), corpus=corpus_name)

    assert caught.value.fix
    assert find_corpus(hoprank.client, corpus_name) is None


def test_a_text_beside_chunks_is_refused(hoprank: HopRank, corpus_name: str, jsonl: Jsonl) -> None:
    with pytest.raises(SourceError, match="line 1 has both a text and chunks"):
        hoprank.ingest(jsonl([{"id": "a", "text": "x", "chunks": [{"text": "x"}]}]), corpus=corpus_name)
