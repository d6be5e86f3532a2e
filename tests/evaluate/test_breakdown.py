"""An evaluation by kind of question: bands of confidence, the queryset's types, hybrid beside the whole."""

from __future__ import annotations

import pytest

from pipeline.evaluate.datasets import Query
from pipeline.evaluate.measures import QueryMeasures, QueryResult, measure_query
from pipeline.evaluate.report import band, break_down

QUERIES = (
    Query("q1", "who?", {"good": 1.0}, "bridge"),
    Query("q2", "when?", {"good": 1.0}, "bridge"),
    Query("q3", "why?", {"good": 1.0}),
)
BAD, GOOD = ("bad",) * 1, ("good",)


def rows(leg: str, *answers: tuple[tuple[str, ...], float | None]) -> list[QueryMeasures]:
    return [
        QueryMeasures(QueryResult(query.id, leg, ranking, 1.0, confidence), measure_query(query, ranking))
        for query, (ranking, confidence) in zip(QUERIES, answers, strict=True)
    ]


HYBRID = rows("hybrid", (BAD, None), (GOOD, None), (GOOD, None))
WHOLE = rows("hoprank", (GOOD, 0.9), (GOOD, 0.1), (BAD, 0.1))


@pytest.mark.parametrize(
    ("confidence", "name"),
    [(0.0, "weak"), (0.25, "weak"), (0.26, "some"), (0.75, "some"), (0.76, "strong"), (1, "strong")],
)
def test_confidences_fall_into_bands(confidence: float, name: str) -> None:
    assert band(confidence) == name


def test_questions_are_grouped_by_confidence_and_then_by_type() -> None:
    groups = break_down(QUERIES, {"hybrid": HYBRID, "hoprank": WHOLE})

    assert [(one.by, one.label, one.queries) for one in groups] == [
        ("confidence", "weak", 2),
        ("confidence", "strong", 1),
        ("type", "bridge", 2),
    ]
    weak, strong, bridge = groups
    assert (weak.metrics["hybrid"]["recall@5"], weak.metrics["hoprank"]["recall@5"]) == (1.0, 0.5)
    assert (strong.metrics["hybrid"]["recall@5"], strong.metrics["hoprank"]["recall@5"]) == (0.0, 1.0)
    assert bridge.metrics["hoprank"]["recall@5"] == 1.0


@pytest.mark.parametrize("legs", [{"hoprank": WHOLE}, {"hybrid": HYBRID}])
def test_without_both_there_is_nothing_to_compare(legs: dict[str, list[QueryMeasures]]) -> None:
    assert break_down(QUERIES, legs) == ()
