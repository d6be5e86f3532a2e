"""The table of legs: every row names a function, and another row is all that another leg takes."""

from __future__ import annotations

import pkgutil
from typing import get_type_hints

import pytest

from pipeline import HopRank
from pipeline.errors import QuestionError
from pipeline.evaluate.datasets import Dataset, Query
from pipeline.flows.evaluate import run_legs
from pipeline.progress import Progress
from pipeline.retrieve.fusion import ranked
from pipeline.retrieve.legs import Leg, LegRow, Needs, leg_named
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.trace import RankingTrace

QUESTION = "Who met Charles Babbage?"


def rank_from_the_end(_reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Rank the candidates of hybrid from the last to the first."""
    return trace.ranked(ranked("backwards", {id_: -score for id_, score in trace.candidates.hybrid.scores.items()}))


class Another(LegRow):
    """A table of one more leg."""

    BACKWARDS = "backwards", Needs.CANDIDATES, f"{__name__}:rank_from_the_end"


def test_a_leg_is_added_by_a_function_and_a_row(hoprank: HopRank, library: str) -> None:
    hybrid = hoprank.search(QUESTION, corpus=library, leg=Leg.HYBRID, top_k=50)

    result = hoprank.search(QUESTION, corpus=library, leg=Another.BACKWARDS, top_k=50)

    assert {item.metadata["id"]: -item.metadata["score"] for item in result.items} == {
        item.metadata["id"]: item.metadata["score"] for item in hybrid.items
    }
    assert result.items[0].metadata["id"] == hybrid.items[-1].metadata["id"]
    assert result.metadata["leg"] == "backwards"
    assert result.items[0].metadata["legs"]["backwards"]["rank"] == 1


def test_an_added_leg_is_evaluated_like_the_others(hoprank: HopRank, library: str) -> None:
    dataset = Dataset("library", (Query("q1", QUESTION, {"ada": 1.0}),))

    results = run_legs(hoprank.retriever(library), dataset, [Another.BACKWARDS, Leg.HYBRID], Progress())

    assert [result.leg for result in results] == ["backwards", "hybrid"]
    assert results[0].ranking[-1] == results[1].ranking[0]


@pytest.mark.parametrize("leg", list(Leg))
def test_every_row_names_a_function_from_trace_to_trace(leg: Leg) -> None:
    hints = get_type_hints(pkgutil.resolve_name(leg.function))

    assert list(hints.values()) == [CorpusReader, RankingTrace, RankingTrace]


def test_a_leg_is_its_name() -> None:
    assert [leg_named(name) for name in ("vector", "hoprank", Leg.BM25)] == [Leg.VECTOR, Leg.WHOLE, Leg.BM25]
    assert str(Leg.WHOLE) == Leg.WHOLE.value == "hoprank"
    assert leg_named(Another.BACKWARDS) is Another.BACKWARDS


def test_a_name_that_is_no_leg_is_refused_with_those_that_are() -> None:
    with pytest.raises(QuestionError, match="'walk'") as caught:
        leg_named("walk")

    assert all(leg in caught.value.fix for leg in Leg)
