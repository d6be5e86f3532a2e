"""Passages as frameworks take them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pipeline import HopRank, RetrieverResult, RetrieverResultItem
from pipeline.serve.adapters.passages import passages_of


def test_the_metadata_of_a_document_stands_beside_that_of_the_passage(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path]
) -> None:
    own = {"year": 1911, "title": "of its own", "tags": ["tides", "harbour"]}
    hoprank.ingest(
        jsonl([{"id": "gauge", "title": "Gauge", "text": "The gauge.", "metadata": own}]), corpus=corpus_name
    )
    result = hoprank.search("gauge", corpus=corpus_name)

    (passage,) = passages_of(result)

    (item,) = result.items
    expected = {**item.metadata, "year": 1911, "metadata.title": "of its own", "tags": ["tides", "harbour"]}
    del expected["document_metadata"], expected["chunk_metadata"]
    assert passage.metadata == expected
    assert (passage.content, passage.score) == (item.content, item.metadata["score"])


def test_a_name_in_the_metadata_is_a_name_in_filters(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path]
) -> None:
    own = {"year": 1911, "title": "of its own"}
    hoprank.ingest(
        jsonl([{"id": "gauge", "title": "Gauge", "text": "The gauge.", "metadata": own}]), corpus=corpus_name
    )
    (passage,) = passages_of(hoprank.search("gauge", corpus=corpus_name))

    for name in ("title", "document", "line_start", "year", "metadata.title"):
        assert hoprank.search("gauge", corpus=corpus_name, filters={name: passage.metadata[name]}).items


def test_the_metadata_of_a_chunk_takes_precedence_over_that_of_its_document() -> None:
    metadata = {"rank": 1, "score": 0.5, "document_metadata": {"page": 1, "year": 1911}}
    item = RetrieverResultItem("The gauge.", {**metadata, "chunk_metadata": {"page": 2, "rank": 3}})

    (passage,) = passages_of(RetrieverResult((item,)))

    assert passage.metadata == {"rank": 1, "score": 0.5, "page": 2, "year": 1911, "metadata.rank": 3}
