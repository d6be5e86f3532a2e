"""Relevance in a search: of each leg that can tell it, in the same order, and the minimum that drops hits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import neo4j
import pytest

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.db.corpus import CorpusHandle
from pipeline.db.indexes import cosine_of
from pipeline.embedding.everyday import Everyday
from pipeline.evaluate.datasets import read_dataset
from pipeline.examples import example_corpus, example_queryset
from pipeline.retrieve.chance import ChanceReader, chance_of
from pipeline.retrieve.legs import Leg

Cypher = Callable[..., list[neo4j.Record]]

KNOWN, UNKNOWN = "Who taught the woman that met Charles Babbage?", "Recommend a good moisturiser for dry skin"

EVERYDAY = (
    "Will it rain in Manchester tomorrow afternoon?",
    "How do I make pancakes without eggs?",
    "Hi, how are you doing today?",
    "Who won the football match last night?",
    "How do I get rid of hiccups?",
    "What is the price of gold today?",
    "How do I unblock a kitchen sink?",
    "Why does my cat scratch the sofa?",
    "What should I pack for two weeks in Thailand?",
    "What is 17 times 23?",
    "How do I tune a ukulele?",
    "What is a good laptop for a student?",
    "How do I ask my boss for a pay rise?",
    "My phone battery drains too quickly",
    "How do I centre a div with flexbox?",
    "Wie wird das Wetter morgen in Hamburg?",
    "明天会下雨吗",
    "waht is teh best dog fod",
    "pizza near me",
    "asdf qwerty lorem",
)


def test_every_leg_but_bm25_tells_how_relevant_its_hits_are(hoprank: HopRank, library: str) -> None:
    told = {leg: hoprank.search(KNOWN, corpus=library, leg=leg).metadata["relevance"] for leg in Leg}

    assert [leg for leg, best in told.items() if best is None] == [Leg.BM25]
    assert all(0 < best <= 1 for best in told.values() if best is not None)


def test_a_vector_alone_is_judged_by_meaning(hoprank: HopRank, library: str) -> None:
    near, far = (
        hoprank.search(query_vector=hoprank.embedder.embed_query(text), corpus=library).metadata["relevance"]
        for text in (KNOWN, UNKNOWN)
    )

    assert near > 0.5 > 0.1 > far


def test_a_minimum_drops_hits_without_a_change_of_their_order(hoprank: HopRank, library: str) -> None:
    whole = hoprank.search(KNOWN, corpus=library)
    ordered = sorted(hit.relevance for hit in whole.hits if hit.relevance is not None)
    least = ordered[len(ordered) // 2]
    kept = hoprank.search(KNOWN, corpus=library, min_relevance=least)

    assert kept.hits == tuple(hit for hit in whole.hits if hit.relevance is not None and hit.relevance >= least)
    assert 0 < len(kept.hits) < len(whole.hits)
    assert kept.metadata["relevance"] == ordered[-1]
    assert len(hoprank.context(KNOWN, corpus=library, min_relevance=1.0).passages) == 0


def test_a_question_that_the_corpus_knows_nothing_about_is_told_so(hoprank: HopRank, library: str) -> None:
    assert "warnings" not in hoprank.search(KNOWN, corpus=library).metadata
    (warning,) = hoprank.search(UNKNOWN, corpus=library).metadata["warnings"]

    assert f"The corpus {library} seems to know nothing about this: the best passage has a relevance of 0.0" in warning


def test_a_corpus_keeps_its_chance_for_whoever_opens_it_next(
    hoprank: HopRank, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hoprank.search("Who met Charles Babbage?", corpus=library)
    hoprank.client.finish_background()
    corpus = get_corpus(hoprank.client, library)
    mean, deviation, chunks = corpus.chance

    def unread(*_: object, **__: object) -> None:
        raise AssertionError("it is measured again")

    monkeypatch.setattr(CorpusHandle, "read", unread)
    chance = ChanceReader(CorpusHandle(hoprank.client, corpus), Everyday(hoprank.embedder, tmp_path)).read(int(chunks))

    assert chance is not None
    assert (chance.mean, chance.deviation) == (mean, deviation)


@pytest.mark.slow
def test_the_example_knows_nearly_all_of_its_questions_and_no_everyday_ones(
    hoprank: HopRank, corpus_name: str, cypher: Cypher, tmp_path: Path
) -> None:
    hoprank.ingest(example_corpus(), corpus=corpus_name)
    known = hoprank.settings.retrieve.known_relevance

    # An index that is asked for a single neighbour misses the nearest of most messages.
    everyday = Everyday(hoprank.embedder, tmp_path)
    corpus = get_corpus(hoprank.client, corpus_name)
    nearest = cypher(
        "MATCH (c:HopRankChunk {corpus: $id}) UNWIND $probes AS probe"
        " WITH probe, max(vector.similarity.cosine(c.embedding, probe)) AS score RETURN score",
        id=corpus.id,
        probes=everyday.questions.tolist(),
    )
    exact = chance_of(cosine_of(row["score"]) for row in nearest)
    assert exact is not None
    measured = ChanceReader(CorpusHandle(hoprank.client, corpus), everyday).read(0)
    assert measured is not None
    assert (measured.mean, measured.deviation) == pytest.approx((exact.mean, exact.deviation), abs=0.003)

    def best(question: str) -> float:
        relevance: float = hoprank.search(question, corpus=corpus_name).metadata["relevance"]
        return relevance

    own = [query.text for query in read_dataset(example_queryset()).queries]
    # Of 43 questions one, of four hops, is as far from what it asks for as from anything.
    assert len([question for question in own if best(question) < known]) <= 1
    assert [question for question in EVERYDAY if best(question) >= known] == []
