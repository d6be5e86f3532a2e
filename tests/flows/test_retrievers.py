"""Retrievers: kept while their corpus is the same, and replaced once it is another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from neo4j.exceptions import ClientError

from pipeline import HopRank, RetrieverResult, RetrieverResultItem
from pipeline.db.catalogue import create_corpus
from pipeline.db.corpus import _READINGS, open_corpus
from pipeline.errors import CorpusError, Superseded, UnknownCorpus
from pipeline.flows.maintain import drop, rename
from pipeline.flows.search import Retriever, Retrievers
from pipeline.ingest.engine import make_chunker
from pipeline.ingest.entities.extract import extractor_fingerprint
from pipeline.retrieve.legs import Leg

Jsonl = Callable[..., Path]

NOTHING = RetrieverResult(())
SOMETHING = RetrieverResult((RetrieverResultItem("", {}),))


@pytest.fixture
def retrievers(hoprank: HopRank) -> Retrievers:
    return Retrievers(hoprank.client, hoprank.embedder, hoprank.settings)


@pytest.fixture
def corpus(hoprank: HopRank, corpus_name: str, jsonl: Jsonl) -> str:
    hoprank.ingest(jsonl([{"id": "otter", "text": "The otter swims."}]), corpus=corpus_name)
    return corpus_name


@pytest.fixture
def corpora(hoprank: HopRank, new_corpus: Callable[[], Any], jsonl: Jsonl) -> Iterator[list[str]]:
    """Three corpora of a document each."""
    with ExitStack() as made:
        names = [made.enter_context(new_corpus()) for _ in range(3)]
        for name in names:
            hoprank.ingest(jsonl([{"id": "otter", "text": f"The otter swims in {name}."}]), corpus=name)
        yield names


@pytest.fixture
def few(hoprank: HopRank) -> Retrievers:
    """Retrievers that keep two."""
    retrieve = hoprank.settings.retrieve.model_copy(update={"open_corpora": 2})
    settings = hoprank.settings.model_copy(update={"retrieve": retrieve})
    return Retrievers(hoprank.client, hoprank.embedder, settings)


class Asking:
    """A search that notes which retrievers it is made with, and does with each what it is told to."""

    def __init__(self, *outcomes: RetrieverResult | Exception) -> None:
        self.asked: list[Retriever] = []
        self._outcomes = list(outcomes)

    def __call__(self, retriever: Retriever) -> RetrieverResult:
        self.asked.append(retriever)
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def otter(retriever: Retriever) -> RetrieverResult:
    return retriever.search("otter")


def make_anew(hoprank: HopRank, corpus: str, jsonl: Jsonl) -> None:
    drop(hoprank.client, corpus)
    hoprank.ingest(jsonl([{"id": "beaver", "text": "The beaver builds."}]), corpus=corpus)


def test_a_retriever_is_kept(retrievers: Retrievers, corpus: str) -> None:
    search = Asking(SOMETHING, NOTHING)

    assert retrievers.call(corpus, search) is SOMETHING
    assert retrievers.call(corpus, search) is NOTHING
    assert search.asked == [retrievers.current(corpus)] * 2


@pytest.mark.slow
@pytest.mark.parametrize("outcome", [Superseded("The corpus went on."), ClientError("There is no such index")])
def test_a_search_is_repeated_once_in_a_corpus_made_anew(
    hoprank: HopRank, retrievers: Retrievers, corpus: str, jsonl: Jsonl, outcome: Exception
) -> None:
    old = retrievers.current(corpus)
    make_anew(hoprank, corpus, jsonl)
    search = Asking(outcome, SOMETHING)

    assert retrievers.call(corpus, search) is SOMETHING

    assert search.asked == [old, retrievers.current(corpus)]
    assert search.asked[1].corpus.id != old.corpus.id


def test_a_fault_of_a_corpus_that_is_the_same_is_raised(retrievers: Retrievers, corpus: str) -> None:
    search = Asking(ClientError("Something else"))

    with pytest.raises(ClientError, match="Something else"):
        retrievers.call(corpus, search)

    assert len(search.asked) == 1


def test_a_search_that_is_superseded_again_and_again_says_so(retrievers: Retrievers, corpus: str) -> None:
    search = Asking(*[Superseded("The corpus went on.")] * _READINGS)

    with pytest.raises(Superseded, match="went on"):
        retrievers.call(corpus, search)

    assert len(search.asked) == _READINGS


def test_names_that_two_corpora_swap_mean_the_other_one(
    hoprank: HopRank, retrievers: Retrievers, corpora: list[str]
) -> None:
    a, b, _ = corpora
    before = {name: retrievers.call(name, otter).items[0].content for name in (a, b)}

    for old, new in ((a, f"{a}-aside"), (b, a), (f"{a}-aside", b)):
        rename(hoprank.client, old, new)

    assert {name: retrievers.call(name, otter).items[0].content for name in (b, a)} == {
        b: before[a],
        a: before[b],
    }


@pytest.mark.slow
def test_a_corpus_that_was_never_published_is_empty(hoprank: HopRank, corpus_name: str) -> None:
    settings, model = hoprank.settings, f"{uuid4().hex}@1"
    create_corpus(
        hoprank.client,
        corpus_name,
        fingerprint=model,
        dimension=hoprank.embedder.dimension,
        chunker="x",
        extractor="x",
        analyzer="english",
        links=settings.link.of_edges,
    )
    retriever = Retriever(open_corpus(hoprank.client, corpus_name), hoprank.embedder.embed_query, settings)

    for leg in Leg:
        assert not retriever.search("otter", leg=leg).items
    assert not retriever.search("otter", filters={"year": 1}).items
    assert not retriever.context("otter", len).passages


def test_a_corpus_that_was_asked_before_its_first_ingest_is_found_in_afterwards(
    hoprank: HopRank, corpus_name: str
) -> None:
    settings = hoprank.settings
    create_corpus(
        hoprank.client,
        corpus_name,
        fingerprint=hoprank.embedder.fingerprint,
        dimension=hoprank.embedder.dimension,
        chunker=make_chunker(hoprank.embedder, settings).fingerprint,
        extractor=extractor_fingerprint(settings.link),
        analyzer="english",
        links=settings.link.of_edges,
    )
    before = [hoprank.search("otter", corpus=corpus_name, leg=leg).items for leg in ("fulltext", "hoprank")]
    hoprank.add([{"id": "a", "text": "An otter swims."}], corpus_name)

    assert not any(before)
    for leg in ("fulltext", "hoprank"):
        assert len(hoprank.search("otter", corpus=corpus_name, leg=leg).items) == 1


def test_a_corpus_that_was_renamed_is_no_more_under_its_old_name(
    hoprank: HopRank, retrievers: Retrievers, corpus: str
) -> None:
    old = retrievers.current(corpus)
    rename(hoprank.client, corpus, f"{corpus}-new")
    try:
        with pytest.raises(UnknownCorpus):
            retrievers.call(corpus, otter)
        with pytest.raises(CorpusError):
            retrievers.current(corpus)
        assert retrievers.current(f"{corpus}-new").corpus.id == old.corpus.id
    finally:
        rename(hoprank.client, f"{corpus}-new", corpus)


@pytest.mark.slow
def test_a_search_goes_on_with_a_retriever_that_was_dropped_meanwhile(few: Retrievers, corpora: list[str]) -> None:
    a, b, c = corpora

    def search(retriever: Retriever) -> RetrieverResult:
        few.current(b)
        few.current(c)
        assert few.current(a) is not retriever
        return retriever.search("otter")

    assert few.call(a, search).items[0].content == f"The otter swims in {a}."
