"""The measures: cases worked by hand, and properties against ir_measures."""

from __future__ import annotations

from collections.abc import Mapping

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ConfigurationError, QuerySetError
from pipeline.evaluate.datasets import Query
from pipeline.evaluate.measures import (
    MEASURES,
    QueryResult,
    check_measures,
    distinct,
    document_ranking,
    mean_measures,
    measure_query,
    measure_results,
)

HUNDREDTHS = 100
KINDS = ("AP", "P", "R", "RR", "nDCG", "Success", "Judged")


def query(relevant: Mapping[str, float], query_id: str = "q1") -> Query:
    return Query(query_id, "who?", relevant)


def measure(relevant: Mapping[str, float], ranking: list[str]) -> dict[str, float]:
    return measure_query(query(relevant), ranking)


def test_the_names_are_those_that_reports_promise() -> None:
    names = "recall@2 recall@5 recall@10 recall@20 mrr ndcg@10 perfect@5 perfect@8 perfect@10"

    assert names.split() == list(MEASURES) == list(measure({"r1": 1}, []))


def test_gain_is_linear_in_relevance_by_hand() -> None:
    measures = measure({"a": 3, "b": 2, "c": 1}, ["c", "x", "a", "b"])

    # DCG 1/1 + 3/2 + 2/log2(5) = 3.361353, ideal 3/1 + 2/log2(3) + 1/2 = 4.761860
    assert measures["ndcg@10"] == pytest.approx(0.705891, abs=1e-6)


def test_a_document_ranks_by_its_best_chunk_and_ties_stand() -> None:
    assert document_ranking([("b", 0.9), ("a", 0.9), ("b", 0.7), ("c", 0.7), ("a", 0.1)]) == ["b", "a", "c"]


def test_every_leg_is_measured_on_every_query() -> None:
    queries = [query({"a": 1}, "q1"), query({"b": 1}, "q2")]
    found = QueryResult("q2", "vector", ("b",), 3.0)
    late = QueryResult("q1", "graph", ("x", "a"), 4.0)

    rows = list(measure_results(queries, [found, late]))

    assert [row.result for row in rows] == [
        QueryResult("q1", "vector", (), None),
        found,
        late,
        QueryResult("q2", "graph", (), None),
    ]
    assert [row.measures["mrr"] for row in rows] == [0, 1, 0.5, 0]
    assert mean_measures(row.measures for row in rows[:2])["mrr"] == 0.5


def test_a_result_for_another_query_is_refused() -> None:
    with pytest.raises(QuerySetError, match="leg 'vector' answered the query 'q9', which the queryset doesn't have"):
        list(measure_results([query({"a": 1})], [QueryResult("q9", "vector", (), 1.0)]))


def test_a_second_result_for_a_query_is_refused() -> None:
    result = QueryResult("q1", "vector", (), 1.0)
    again = QueryResult("q1", "vector", (), 1.0)

    with pytest.raises(QuerySetError, match="leg 'vector' answered the query 'q1' twice"):
        list(measure_results([query({"a": 1})], [result, again]))


def test_the_mean_of_nothing_is_zero() -> None:
    with pytest.raises(QuerySetError, match="no query to average over"):
        mean_measures([])


REFERENCES = {
    **{f"recall@{k}": ir_measures.R @ k for k in (2, 5, 10, 20)},
    "mrr": ir_measures.RR,
    "ndcg@10": ir_measures.nDCG @ 10,
    **{name: ir_measures.parse_measure(name) for name in ("AP", "RR", "nDCG", "Rprec")},
    **{f"{kind}@{k}": ir_measures.parse_measure(f"{kind}@{k}") for kind in KINDS for k in (1, 3, 10, 100)},
}


def reference(cases: list[tuple[dict[str, float], list[str]]]) -> list[dict[str, float]]:
    """What ir_measures says of each query; it takes whole grades only, and a run as scores, here without ties."""
    qrels = [
        ir_measures.Qrel(str(number), key, round(grade * HUNDREDTHS))
        for number, (relevant, _) in enumerate(cases)
        for key, grade in {**dict.fromkeys(IRRELEVANT, 0.0), **relevant}.items()
    ]
    run = [
        ir_measures.ScoredDoc(str(number), key, -float(rank))
        for number, (_, ranking) in enumerate(cases)
        for rank, key in enumerate(distinct(ranking))
    ]
    values = {
        (metric.query_id, metric.measure): metric.value
        for metric in ir_measures.iter_calc(REFERENCES.values(), qrels, run)
    }
    # ir_measures leaves out how many of an empty ranking are judged
    return [
        {name: values.get((str(number), measure), 0.0) for name, measure in REFERENCES.items()}
        for number in range(len(cases))
    ]


IRRELEVANT = [str(number) for number in range(0, 30, 3)]
"""Keys that are judged not to be relevant, unless they are."""
keys = st.integers(0, 30).map(str)
grades = st.dictionaries(
    keys, st.integers(1, 100 * HUNDREDTHS).map(lambda grade: grade / HUNDREDTHS), min_size=1, max_size=25
)
rankings = st.lists(keys, max_size=60)


queries_answered = st.lists(st.tuples(grades, rankings), min_size=1, max_size=8)


@given(queries_answered)
def test_the_measures_are_those_of_ir_measures(cases: list[tuple[dict[str, float], list[str]]]) -> None:
    ours = [
        measure_query(
            Query("q", "who?", relevant, irrelevant=frozenset(IRRELEVANT) - relevant.keys()), ranking, REFERENCES
        )
        for relevant, ranking in cases
    ]

    for mine, theirs in zip(ours, reference(cases), strict=True):
        assert mine == pytest.approx(theirs, abs=1e-9)


def test_a_measure_is_known_by_its_names_in_any_case() -> None:
    assert check_measures(["map", "P@5", "recall@5", "P@5", "R@5"]) == ("map", "P@5", "R@5")
    found = measure_query(query({"a": 1, "b": 2}), ["x", "b", "a"], ["MAP", "ap", "R@2", "recall@2", "MRR", "rr"])
    assert list(found.values()) == pytest.approx([(1 / 2 + 2 / 3) / 2] * 2 + [1 / 2] * 4)


@pytest.mark.parametrize(
    "name", ["", "P", "recall", "Judged", "P@0", "P@-1", "P@5.5", "Rprec@5", "perfect", "hits@5", "R@٣"]
)
def test_what_is_no_measure_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="no measure"):
        check_measures([name])


@given(grades, rankings)
def test_perfect_is_every_relevant_document_in_the_top(relevant: dict[str, float], ranking: list[str]) -> None:
    """ir_measures has no counterpart."""
    measures = measure(relevant, ranking)

    for k in (5, 8, 10):
        assert measures[f"perfect@{k}"] == (relevant.keys() <= set(distinct(ranking)[:k]))


@given(grades, rankings)
def test_measures_are_fractions_that_fit_each_other(relevant: dict[str, float], ranking: list[str]) -> None:
    measures = measure(relevant, ranking)

    assert all(0 <= value <= 1 + 1e-12 for value in measures.values())
    assert measures["recall@2"] <= measures["recall@5"] <= measures["recall@10"] <= measures["recall@20"]
    assert measures["perfect@5"] <= measures["perfect@8"] <= measures["perfect@10"]
    assert all((measures[f"perfect@{k}"] == 1) == (measures[f"recall@{k}"] == 1) for k in (5, 10))


@given(rankings)
def test_distinct_keeps_every_first_occurrence_in_order(ranking: list[str]) -> None:
    kept = distinct(ranking)

    assert set(kept) == set(ranking)
    assert [ranking.index(key) for key in kept] == sorted(ranking.index(key) for key in kept)


@given(queries_answered)
def test_the_mean_weighs_queries_alike(cases: list[tuple[dict[str, float], list[str]]]) -> None:
    rows = [measure(relevant, ranking) for relevant, ranking in cases]

    means = mean_measures(rows)

    assert means == pytest.approx({name: sum(row[name] for row in rows) / len(rows) for name in MEASURES})
