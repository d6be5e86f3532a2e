"""Measures of rankings of documents against judgements.

The definitions are those of trec_eval and ir_measures, whose names are known beside HopRank's own: ``R@5`` is
``recall@5``. ``perfect@k`` is the share of queries with all relevant documents in the top k, for questions that take
several documents.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from pipeline.errors import ConfigurationError, QuerySetError
from pipeline.evaluate.datasets import Query

Measures: TypeAlias = Mapping[str, float]
"""A value from 0 to 1 for every name in ``MEASURES``, in that order, and for what else was asked for."""

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


def measure_query(query: Query, ranking: Iterable[str], measures: Iterable[str] = MEASURES) -> dict[str, float]:
    """Return each of ``measures``, see :func:`check_measures`, for a query; all are 0 for an empty ranking.

    ``ranking`` holds document keys, best first; repeats are ignored. ``mrr`` is the reciprocal rank in the whole
    ranking, so legs are comparable only if they return equally many documents. ``ndcg@10`` has linear gain:
    relevance / log2(rank + 1), divided by the same sum for the ideal order.
    """
    ranked = distinct(ranking)
    values = {}
    for name in measures:
        kind, cutoff = _parsed(name)
        values[name] = _FORMULAS[kind](query, ranked[:cutoff], cutoff or 0)
    return values


def check_measures(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of measures that aren't among ``MEASURES``, each once and in order.

    Known are HopRank's names and those of ir_measures, in any case: AP (MAP), AP@k, P@k, R@k (recall@k), RR (MRR),
    RR@k, nDCG, nDCG@k, Success@k, Rprec, Judged@k, perfect@k. Raises ConfigurationError for others.
    """
    for name in (known := tuple(dict.fromkeys(names))):
        _parsed(name)
    return tuple(name for name in known if name not in MEASURES)


_NAME = re.compile(r"([a-z]+)(?:@([1-9][0-9]{0,5}))?", re.ASCII | re.IGNORECASE)
_ALIASES = {"map": "ap", "mrr": "rr", "recall": "r", "precision": "p"}


@lru_cache(maxsize=1000)
def _parsed(name: str) -> tuple[str, int | None]:
    """Return the key of a measure's formula, and its cutoff."""
    if match := _NAME.fullmatch(name):
        kind = _ALIASES.get(match[1].lower(), match[1].lower())
        cutoff = int(match[2]) if match[2] else None
        if kind in (_WITH_CUTOFF if cutoff else _WITHOUT_CUTOFF):
            return kind, cutoff
    raise ConfigurationError(
        f"There is no measure {name!r}.", f"Use one of {', '.join(MEASURES)}, or AP, P@k, R@k, RR, nDCG@k, Judged@k."
    )


def measure_results(
    queries: Sequence[Query], results: Iterable[QueryResult], measures: Iterable[str] = MEASURES
) -> Iterator[QueryMeasures]:
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
            yield QueryMeasures(result, measure_query(query, result.ranking, measures))


def mean_measures(measured: Iterable[Measures]) -> dict[str, float]:
    """Return the mean of each measure over queries; raises QuerySetError if there are none."""
    rows = list(measured)
    if not rows:
        raise QuerySetError("There is no query to average over.", "Give judged queries.")
    return {name: math.fsum(row[name] for row in rows) / len(rows) for name in rows[0]}


def _found(query: Query, ranked: Sequence[str]) -> int:
    return len(query.relevant.keys() & set(ranked))


def _recall(query: Query, ranked: Sequence[str], _: int) -> float:
    return _found(query, ranked) / len(query.relevant)


def _precision(query: Query, ranked: Sequence[str], cutoff: int) -> float:
    return _found(query, ranked) / cutoff


def _average_precision(query: Query, ranked: Sequence[str], _: int) -> float:
    ranks = (rank for rank, key in enumerate(ranked, start=1) if key in query.relevant)
    return math.fsum(found / rank for found, rank in enumerate(ranks, start=1)) / len(query.relevant)


def _precision_at_relevant(query: Query, ranked: Sequence[str], _: int) -> float:
    return _found(query, ranked[: len(query.relevant)]) / len(query.relevant)


def _reciprocal_rank(query: Query, ranked: Sequence[str], _: int) -> float:
    return next((1 / rank for rank, key in enumerate(ranked, start=1) if key in query.relevant), 0.0)


def _normalised_gain(query: Query, ranked: Sequence[str], cutoff: int) -> float:
    ideal = sorted(query.relevant.values(), reverse=True)
    return _dcg([query.relevant.get(key, 0.0) for key in ranked]) / _dcg(ideal[:cutoff] if cutoff else ideal)


def _success(query: Query, ranked: Sequence[str], _: int) -> float:
    return float(not query.relevant.keys().isdisjoint(ranked))


def _perfect(query: Query, ranked: Sequence[str], _: int) -> float:
    return float(query.relevant.keys() <= set(ranked))


def _judged(query: Query, ranked: Sequence[str], _: int) -> float:
    return sum(key in query.relevant or key in query.irrelevant for key in ranked) / max(len(ranked), 1)


_FORMULAS: Mapping[str, Callable[[Query, Sequence[str], int], float]] = {
    "r": _recall,
    "p": _precision,
    "ap": _average_precision,
    "rr": _reciprocal_rank,
    "ndcg": _normalised_gain,
    "success": _success,
    "perfect": _perfect,
    "judged": _judged,
    "rprec": _precision_at_relevant,
}
"""Formulas of a query, its ranking up to the cutoff, and the cutoff, or 0 without one."""

_WITHOUT_CUTOFF = frozenset({"ap", "rr", "ndcg", "rprec"})
_WITH_CUTOFF = frozenset(_FORMULAS) - {"rprec"}


def _dcg(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
