"""Measures of rankings of documents against judgements.

The definitions are those of trec_eval and ir_measures. ``perfect@k`` is the share of queries with all relevant
documents in the top k, for questions that take several documents.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets import Query

Measures: TypeAlias = Mapping[str, float]
"""A value from 0 to 1 for every name in ``MEASURES``, in that order."""

_RECALL_CUTOFFS = (2, 5, 10, 20)  # 2 and 5 are what HippoRAG's papers report, 10 and 20 what a context takes
_NDCG_CUTOFF = 10  # as BEIR reports it
_PERFECT_CUTOFFS = (5, 8, 10)  # chosen by hand: the passages that a prompt usually has room for

MEASURES: tuple[str, ...] = (
    *(f"recall@{k}" for k in _RECALL_CUTOFFS),
    "mrr",
    f"ndcg@{_NDCG_CUTOFF}",
    *(f"perfect@{k}" for k in _PERFECT_CUTOFFS),
)
"""The names of the measures, in the order in which they are reported."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The answer of a leg to a query: document keys, best first, and its latency in milliseconds.

    A ranking shorter than 20 documents caps recall@20. ``latency_ms`` is None if the leg gave no answer. ``confidence``
    is the highest in a name of the question, None for legs that don't use names. ``engine`` is the engine of the walk,
    "" without a walk.
    """

    query_id: str
    leg: str
    ranking: tuple[str, ...]
    latency_ms: float | None
    confidence: float | None = None
    engine: str = ""


@dataclass(frozen=True, slots=True)
class QueryMeasures:
    """The answer of a leg to a query, and its measures."""

    result: QueryResult
    measures: Measures


def document_ranking(hits: Iterable[tuple[str, float]]) -> list[str]:
    """Rank documents by their best chunk; ``hits`` are chunks, best first, as ``(document key, score)``.

    The order of the hits is kept, also where scores tie.
    """
    return distinct(key for key, _ in hits)


def distinct(ranking: Iterable[str]) -> list[str]:
    """Return ``ranking`` without repeats."""
    return list(dict.fromkeys(ranking))


def measure_query(query: Query, ranking: Iterable[str]) -> dict[str, float]:
    """Return each of ``MEASURES`` for a query; all are 0 for an empty ranking.

    ``ranking`` holds document keys, best first; repeats are ignored. ``mrr`` is the reciprocal rank in the whole
    ranking, so legs are comparable only if they return equally many documents. ``ndcg@10`` has linear gain:
    relevance / log2(rank + 1), divided by the same sum for the ideal order.
    """
    ranked, relevant = distinct(ranking), query.relevant
    gains = [relevant.get(key, 0.0) for key in ranked[:_NDCG_CUTOFF]]
    ideal = sorted(relevant.values(), reverse=True)[:_NDCG_CUTOFF]
    return {
        **{f"recall@{k}": len(relevant.keys() & set(ranked[:k])) / len(relevant) for k in _RECALL_CUTOFFS},
        "mrr": next((1 / rank for rank, key in enumerate(ranked, start=1) if key in relevant), 0.0),
        f"ndcg@{_NDCG_CUTOFF}": _dcg(gains) / _dcg(ideal),
        **{f"perfect@{k}": float(relevant.keys() <= set(ranked[:k])) for k in _PERFECT_CUTOFFS},
    }


def measure_results(queries: Sequence[Query], results: Iterable[QueryResult]) -> Iterator[QueryMeasures]:
    """Yield a record for each leg and query: legs in the order of ``results``, queries in the order of ``queries``.

    A query without a result of a leg counts as an empty ranking without latency.
    Raises ``QuerySetError`` if a result is for an unknown query, or a leg has two results for a query.
    """
    known = {query.id for query in queries}
    legs: dict[str, dict[str, QueryResult]] = {}
    for result in results:
        if result.query_id not in known:
            raise QuerySetError(
                f"leg {result.leg!r} answered the query {result.query_id!r}, which the queryset doesn't have",
                "Measure results with the queryset that they were made with.",
            )
        if legs.setdefault(result.leg, {}).setdefault(result.query_id, result) is not result:
            raise QuerySetError(
                f"leg {result.leg!r} answered the query {result.query_id!r} twice", "Give one result a leg and query."
            )
    for leg, answers in legs.items():
        for query in queries:
            result = answers.get(query.id) or QueryResult(query.id, leg, (), None)
            yield QueryMeasures(result, measure_query(query, result.ranking))


def mean_measures(measured: Iterable[Measures]) -> dict[str, float]:
    """Return the mean of each measure over queries, of ``MEASURES`` or others; 0 of ``MEASURES`` if there are none."""
    rows = list(measured)
    names = rows[0] if rows else MEASURES
    return {name: math.fsum(row[name] for row in rows) / max(len(rows), 1) for name in names}


def _dcg(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
