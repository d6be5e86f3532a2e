"""Answering a queryset on the real graph, leg by leg."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import HopRank
from pipeline.errors import QuestionError
from pipeline.evaluate.datasets import Dataset, Query
from pipeline.flows.evaluate import run_legs
from pipeline.progress import Progress
from pipeline.retrieve.legs import Leg

LONG = "".join(f"# Part {part}\n\n{'The otter swims in the river all day. ' * 40}\n\n" for part in "ABC")
DOCUMENTS = [
    {"id": "otter", "title": "Otter", "text": LONG},
    {"id": "beaver", "title": "Beaver", "text": "The beaver builds dams."},
    {"id": "blank", "title": "Blank", "text": ""},
]
QUERYSET = Dataset(
    "animals", (Query("q1", "Which animal swims?", {"otter": 1.0}), Query("q2", "dams", {"beaver": 1.0}))
)


class Noting:
    """Notes the stages that it hears of."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, object]] = []

    def begin(self, stage: str, total: int | None) -> None:
        self.heard.append((stage, total))

    def advance(self, stage: str, steps: int) -> None:
        self.heard.append((stage, f"+{steps}"))

    def end(self, stage: str) -> None:
        self.heard.append((stage, "end"))


@pytest.fixture
def corpus(hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path]) -> str:
    hoprank.ingest(jsonl(DOCUMENTS), corpus=corpus_name)
    return corpus_name


def test_each_leg_ranks_documents_by_their_best_chunk(hoprank: HopRank, corpus: str) -> None:
    results = run_legs(hoprank.retriever(corpus), QUERYSET, list(Leg), Progress())

    assert [(result.leg, result.query_id) for result in results] == [(leg, id_) for leg in Leg for id_ in ("q1", "q2")]
    for result in results:
        assert len(set(result.ranking)) == len(result.ranking)
        assert set(result.ranking) <= {"otter", "beaver"}
        assert result.latency_ms is not None
        assert result.latency_ms > 0
    best = {(result.leg, result.query_id): result.ranking[:1] for result in results}
    assert best["vector", "q1"] == best["hoprank", "q1"] == ("otter",)
    assert best["fulltext", "q2"] == ("beaver",)


def test_a_query_that_a_leg_has_no_answer_to_has_an_empty_ranking(hoprank: HopRank, corpus: str) -> None:
    queryset = Dataset("words", (Query("q1", "zyzzyva", {"otter": 1.0}),))

    (result,) = run_legs(hoprank.retriever(corpus), queryset, [Leg.FULLTEXT], Progress())

    assert result.ranking == ()


def test_progress_is_told_by_leg_and_query(hoprank: HopRank, corpus: str) -> None:
    listener = Noting()

    run_legs(hoprank.retriever(corpus), QUERYSET, [Leg.VECTOR, Leg.BM25], Progress(listener))

    assert listener.heard == [(f"search: {leg}", what) for leg in ("vector", "bm25") for what in (2, "+1", "+1", "end")]


def test_a_query_that_is_a_document_is_refused(hoprank: HopRank, corpus: str) -> None:
    queryset = Dataset("long", (Query("q1", "x" * 100_000, {"otter": 1.0}),))

    with pytest.raises(QuestionError, match="100,000"):
        run_legs(hoprank.retriever(corpus), queryset, [Leg.FULLTEXT], Progress())
