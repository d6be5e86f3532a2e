"""Retrievers: kept while their corpus is the same, and replaced once it is another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ClientError

from pipeline import HopRank, RetrieverResult, RetrieverResultItem
from pipeline.errors import CorpusError
from pipeline.flows.maintain import drop, rename
from pipeline.flows.search import Retriever, Retrievers

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


def make_anew(hoprank: HopRank, corpus: str, jsonl: Jsonl) -> None:
    drop(hoprank.client, corpus)
    hoprank.ingest(jsonl([{"id": "beaver", "text": "The beaver builds."}]), corpus=corpus)


def test_a_retriever_is_kept(retrievers: Retrievers, corpus: str) -> None:
    search = Asking(SOMETHING, NOTHING)

    assert retrievers.search(corpus, search) is SOMETHING
    assert retrievers.search(corpus, search) is NOTHING
    assert search.asked == [retrievers.current(corpus)] * 2


@pytest.mark.slow
@pytest.mark.parametrize("outcome", [NOTHING, ClientError("There is no such index")])
def test_a_search_is_repeated_once_in_a_corpus_made_anew(
    hoprank: HopRank, retrievers: Retrievers, corpus: str, jsonl: Jsonl, outcome: RetrieverResult | Exception
) -> None:
    old = retrievers.current(corpus)
    make_anew(hoprank, corpus, jsonl)
    search = Asking(outcome, SOMETHING)

    assert retrievers.search(corpus, search) is SOMETHING

    assert search.asked == [old, retrievers.current(corpus)]
    assert search.asked[1].corpus.id != old.corpus.id


def test_a_fault_of_a_corpus_that_is_the_same_is_raised(retrievers: Retrievers, corpus: str) -> None:
    search = Asking(ClientError("Something else"))

    with pytest.raises(ClientError, match="Something else"):
        retrievers.search(corpus, search)

    assert len(search.asked) == 1


def test_a_search_that_finds_something_asks_for_no_corpus(
    hoprank: HopRank, retrievers: Retrievers, corpus: str, jsonl: Jsonl
) -> None:
    old = retrievers.current(corpus)
    make_anew(hoprank, corpus, jsonl)
    search = Asking(SOMETHING)

    assert retrievers.search(corpus, search) is SOMETHING

    assert search.asked == [old]


def test_a_corpus_that_was_renamed_is_no_more_under_its_old_name(
    hoprank: HopRank, retrievers: Retrievers, corpus: str
) -> None:
    old = retrievers.current(corpus)
    rename(hoprank.client, corpus, f"{corpus}-new")
    try:
        with pytest.raises(CorpusError):
            retrievers.search(corpus, Asking(NOTHING))
        with pytest.raises(CorpusError):
            retrievers.current(corpus)
        assert retrievers.current(f"{corpus}-new").corpus.id == old.corpus.id
    finally:
        rename(hoprank.client, f"{corpus}-new", corpus)


@pytest.mark.slow
def test_the_retriever_that_was_used_longest_ago_is_dropped(few: Retrievers, corpora: list[str]) -> None:
    a, b, c = corpora
    first, second = few.current(a), few.current(b)
    few.search(a, Asking(SOMETHING))  # so b is the one that was used longest ago
    third = few.current(c)

    assert few.current(a) is first
    assert few.current(c) is third
    assert few.current(b) is not second


@pytest.mark.slow
def test_a_search_goes_on_with_a_retriever_that_was_dropped_meanwhile(few: Retrievers, corpora: list[str]) -> None:
    a, b, c = corpora

    def search(retriever: Retriever) -> RetrieverResult:
        few.current(b)
        few.current(c)
        assert few.current(a) is not retriever
        return retriever.search("otter")

    assert few.search(a, search).items[0].content == f"The otter swims in {a}."


@pytest.mark.slow
def test_threads_that_search_more_corpora_than_are_kept_get_the_right_answers(
    few: Retrievers, corpora: list[str]
) -> None:
    def ask(turn: int) -> bool:
        name = corpora[turn % 3]
        hits = few.search(name, lambda retriever: retriever.search("otter")).items
        return [hit.content for hit in hits] == [f"The otter swims in {name}."]

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(ask, range(30)))
