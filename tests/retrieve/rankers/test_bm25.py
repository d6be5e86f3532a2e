"""BM25 in Python over the chunks that are visible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from pipeline import HopRank
from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.errors import CorpusError
from pipeline.flows.maintain import drop
from pipeline.retrieve.rankers.bm25 import Bm25, Inverted

TEXTS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), min_size=1, max_size=12).filter(any)


@pytest.fixture
def bm25(hoprank: HopRank, library: str) -> Bm25:
    return Bm25(open_corpus(hoprank.client, library))


@given(TEXTS, st.lists(st.sampled_from("abcdefghz"), max_size=6))
def test_scores_are_those_of_the_library(texts: list[list[str]], query: list[str]) -> None:
    assert Inverted(texts).get_scores(query) == pytest.approx(BM25Okapi(texts).get_scores(query))


def test_words_are_compared_by_their_stems_in_any_case(bm25: Bm25) -> None:
    _, one = bm25.rank("PUNCHED CARD", 10)
    _, other = bm25.rank("punching cards", 10)

    assert one.leg == "bm25"
    assert len(one.ids) == 2
    assert one.scores == other.scores


def test_titles_and_headings_count(bm25: Bm25) -> None:
    assert len(bm25.rank("stage", 10)[1].ids) >= 1
    assert len(bm25.rank("gauge", 10)[1].ids) == 1


@pytest.mark.parametrize("question", ["", "?!", "zyzzyva"])
def test_nothing_shared_is_nothing_found(bm25: Bm25, question: str) -> None:
    assert bm25.rank(question, 10)[1].ids == []


def test_no_more_than_the_limit_are_ranked(bm25: Bm25) -> None:
    every = bm25.rank("the moon sea tide", 50)[1].ids

    assert bm25.rank("the moon sea tide", 2)[1].ids == every[:2]
    assert len(every) > 2


@pytest.mark.parametrize(
    ("analyzer", "text", "question", "found"),
    [
        ("german", "Die Häuser am Hafen.", "Hafens", 1),
        ("russian", "Корабли стоят в порту.", "корабль", 1),
        ("english", "The houses at the harbour.", "house", 1),
        ("standard", "The houses at the harbour.", "house", 0),
    ],
)
def test_words_are_compared_by_the_stems_of_the_language_of_the_corpus(
    hoprank: HopRank, corpus_name: str, analyzer: str, text: str, question: str, found: int
) -> None:
    hoprank.add([{"id": "a", "text": text}, *({"id": f"{n}", "text": f"Nummer {n}."} for n in range(5))], corpus_name)

    corpus = open_corpus(hoprank.client, corpus_name)

    bm25 = Bm25(CorpusHandle(corpus.client, replace(corpus.record, analyzer=analyzer)))

    assert len(bm25.rank(question, 10)[1].ids) == found


@pytest.mark.slow
def test_it_follows_the_corpus(hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path]) -> None:
    rest = [{"id": str(number), "text": f"Filler number {number}."} for number in range(5)]
    hoprank.ingest(jsonl([*rest, {"id": "a", "text": "An otter swims."}]), corpus=corpus_name)
    bm25 = Bm25(open_corpus(hoprank.client, corpus_name))
    assert bm25.rank("otter", 10)[0] == 1
    assert len(bm25.rank("otter", 10)[1].ids) == 1

    hoprank.ingest(jsonl([{"id": "a", "text": "A beaver swims."}]), corpus=corpus_name)

    assert bm25.rank("otter", 10) == (2, bm25.rank("zyzzyva", 10)[1])
    assert len(bm25.rank("beaver", 10)[1].ids) == 1


def test_a_corpus_without_words_finds_nothing(hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path]) -> None:
    hoprank.ingest(jsonl([{"id": "a", "text": "?!"}]), corpus=corpus_name)

    assert hoprank.search("who", corpus=corpus_name, leg="bm25").items == ()


@pytest.mark.slow
def test_a_corpus_that_was_dropped_meanwhile_is_unknown(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path]
) -> None:
    hoprank.ingest(jsonl([{"id": "a", "text": "An otter swims."}]), corpus=corpus_name)
    # One for each leg, as none is to learn from another's refusal.
    askers = {
        leg: HopRank(hoprank.client, hoprank.embedder, hoprank.settings)
        for leg in ("bm25", "vector", "fulltext", "hoprank")
    }
    for leg, asker in askers.items():
        asker.search("otter", corpus=corpus_name, leg=leg)
    drop(hoprank.client, corpus_name)

    for leg, asker in askers.items():
        with pytest.raises(CorpusError, match=corpus_name):
            asker.search("otter", corpus=corpus_name, leg=leg)
