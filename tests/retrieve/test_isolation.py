"""Corpora beside each other: none sees, and none changes, what another one finds."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.flows.maintain import drop
from pipeline.records import Fingerprint
from pipeline.retrieve.legs import Leg

Jsonl = Callable[..., Path]

SHARED = [
    {"id": "ada", "title": "Ada Lovelace", "text": "Ada Lovelace met Charles Babbage, who kept a rare otter."},
    {"id": "babbage", "title": "Charles Babbage", "text": "Charles Babbage designed an engine of brass."},
    {"id": "otter", "title": "Otters", "text": "Otters swim in brass-coloured rivers with Charles Babbage."},
]
QUESTIONS = ("What did Charles Babbage keep?", "brass otter", "Who was Ada Lovelace?")

Scores = dict[tuple[str, str], dict[str, float]]


@pytest.fixture
def other_name(new_corpus: Callable[[], Any]) -> Iterator[str]:
    with new_corpus() as name:
        yield name


def answers(hoprank: HopRank, corpus: str) -> Scores:
    """Every leg's score of each document, for each question."""
    hoprank.retriever(corpus).prepare()
    found: Scores = {}
    for question in QUESTIONS:
        for leg in Leg:
            items = hoprank.search(question, corpus=corpus, leg=leg, top_k=50).items
            found[question, leg] = {item.metadata["document"]: item.metadata["score"] for item in items}
    return found


def unmarked(scores: dict[str, float]) -> dict[str, float]:
    return {key.split("-", 1)[1]: score for key, score in scores.items()}


def marked(documents: list[dict[str, str]], prefix: str) -> list[Mapping[str, str]]:
    return [{**one, "id": f"{prefix}{one['id']}"} for one in documents]


def test_the_same_documents_in_two_corpora_do_not_see_each_other(
    hoprank: HopRank, corpus_name: str, other_name: str, jsonl: Jsonl
) -> None:
    hoprank.ingest(jsonl(marked(SHARED, "here-")), corpus=corpus_name)
    alone = answers(hoprank, corpus_name)

    hoprank.ingest(jsonl(marked(SHARED, "there-")), corpus=other_name)

    here, there = answers(hoprank, corpus_name), answers(hoprank, other_name)
    assert all(key.startswith("here-") for scores in here.values() for key in scores)
    assert all(key.startswith("there-") for scores in there.values() for key in scores)
    for asked, scores in here.items():
        assert scores == pytest.approx(alone[asked])
        if asked[1] in (Leg.VECTOR, Leg.FULLTEXT, Leg.BM25):  # the others start from ranks, where ties go by id
            assert unmarked(scores) == pytest.approx(unmarked(there[asked]))


def test_another_corpus_that_grows_changes_no_score_and_no_rank(
    hoprank: HopRank, corpus_name: str, other_name: str, jsonl: Jsonl
) -> None:
    hoprank.ingest(jsonl(SHARED), corpus=corpus_name)
    before = answers(hoprank, corpus_name)
    flood = [{"id": str(number), "title": "Otters", "text": f"Otter {number} of Ada. " * 5} for number in range(60)]

    hoprank.ingest(jsonl(flood), corpus=other_name)

    after = answers(hoprank, corpus_name)
    assert after == before
    assert all(list(after[asked]) == list(scores) for asked, scores in before.items())


class Unshared(SentenceTransformerEmbedder):
    """The bundled model, as one that no other corpus was embedded by."""

    identity = Fingerprint(f"unshared@{uuid.uuid4().hex}/384", "mean")


def test_a_corpus_that_is_alone_in_its_index_finds_what_it_does_beside_another(
    hoprank: HopRank, corpus_name: str, other_name: str, jsonl: Jsonl, cypher: Callable[..., Any]
) -> None:
    """Alone it isn't filtered by; if another comes in the meantime, nothing of that is found all the same."""
    few = hoprank.settings.retrieve.model_copy(update={"candidates": 2})
    own = HopRank(hoprank.client, Unshared(), hoprank.settings.model_copy(update={"retrieve": few}))
    own.ingest(jsonl(marked(SHARED, "here-")), corpus=corpus_name)
    alone = answers(own, corpus_name)

    own.ingest(jsonl(marked(SHARED, "there-")), corpus=other_name)

    beside = answers(own, corpus_name)
    assert beside == alone
    assert all(len(beside[question, Leg.VECTOR]) == 2 for question in QUESTIONS)
    # As it looks to a search that begins before the other corpus is made.
    cypher("MATCH (other:HopRankCorpus {name: $name}) SET other.filterable = ['year']", name=other_name)
    mixed = answers(own, corpus_name)
    cypher("MATCH (other:HopRankCorpus {name: $name}) REMOVE other.filterable", name=other_name)
    assert all(key.startswith("here-") for scores in mixed.values() for key in scores)
    drop(hoprank.client, other_name)
    assert answers(own, corpus_name) == alone


@pytest.mark.slow
def test_what_is_removed_from_one_and_the_end_of_it_leave_the_other_as_it_was(
    hoprank: HopRank, corpus_name: str, other_name: str, jsonl: Jsonl, graph_of: Callable[[str], Any]
) -> None:
    hoprank.ingest(jsonl(SHARED), corpus=corpus_name)
    hoprank.ingest(jsonl(SHARED), corpus=other_name)
    before, graph = answers(hoprank, corpus_name), graph_of(corpus_name)

    hoprank.delete(["ada"], corpus=other_name)
    assert graph_of(corpus_name) == graph
    drop(hoprank.client, other_name)

    assert answers(hoprank, corpus_name) == before
    assert graph_of(corpus_name) == graph


@pytest.mark.slow
def test_a_corpus_made_anew_under_an_old_name_is_another(hoprank: HopRank, corpus_name: str, jsonl: Jsonl) -> None:
    hoprank.ingest(jsonl(marked(SHARED, "old-")), corpus=corpus_name)
    assert answers(hoprank, corpus_name)
    drop(hoprank.client, corpus_name)

    hoprank.ingest(jsonl(marked(SHARED, "new-")), corpus=corpus_name)

    assert {key for scores in answers(hoprank, corpus_name).values() for key in scores} == {
        "new-ada",
        "new-babbage",
        "new-otter",
    }
