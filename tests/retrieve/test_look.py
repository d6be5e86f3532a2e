"""A first look at several corpora: what a search of each would find nearest, and the names that each has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.db.client import Client
from pipeline.retrieve.look import LookedAt, look

QUESTION = "Where did Ada Lovelace meet Charles Babbage?"


@pytest.fixture(scope="module")
def other(hoprank: HopRank, new_corpus: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A second corpus, of two documents."""
    folder: Path = tmp_path_factory.mktemp("other")
    (folder / "a.md").write_text("Charles Babbage dined with Mary Somerville in London.", encoding="utf-8")
    (folder / "b.md").write_text("A gauge writes the height of the sea, as Charles Babbage saw.", encoding="utf-8")
    with new_corpus() as name:
        hoprank.ingest(folder, corpus=name)
        yield name


def looked_at(client: Client, name: str) -> LookedAt:
    corpus = get_corpus(client, name)
    return LookedAt(corpus.id, corpus.fingerprint)


def test_the_cosines_are_those_of_a_vector_search_of_each_corpus(hoprank: HopRank, library: str, other: str) -> None:
    vector = hoprank.embedder.embed_query(QUESTION)
    corpora = [looked_at(hoprank.client, name) for name in (library, other)]

    found = look(hoprank.client, corpora, QUESTION, vector)

    for corpus, name in zip(corpora, (library, other), strict=True):
        hits = hoprank.search(query_vector=vector, corpus=name, leg="vector").hits
        assert found.cosines[corpus.id] == pytest.approx([hit.score for hit in hits], abs=1e-6)


def test_the_names_are_those_that_each_corpus_has(hoprank: HopRank, library: str, other: str) -> None:
    first, second = (looked_at(hoprank.client, name) for name in (library, other))

    found = look(hoprank.client, [first, second], QUESTION, hoprank.embedder.embed_query(QUESTION))

    assert found.names["charles babbage"] == {first.id: 2, second.id: 2}
    assert found.names["ada lovelace"] == {first.id: 2}
    assert "where" not in found.names


def test_only_the_corpora_that_are_looked_at_count_and_one_that_was_dropped_has_nothing(
    hoprank: HopRank, library: str, other: str
) -> None:
    corpus, vector = looked_at(hoprank.client, other), hoprank.embedder.embed_query(QUESTION)

    found = look(hoprank.client, [corpus, LookedAt("gone", corpus.fingerprint)], QUESTION, vector)

    assert found.cosines.keys() == {corpus.id}
    assert set().union(*found.names.values()) == {corpus.id}
    assert look(hoprank.client, [], QUESTION, vector).cosines == {}
