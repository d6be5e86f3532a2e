"""Measures of routing: how well the documents are ranked, and how well the projects are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from pipeline.domains.routing.evaluate.records import Answer, RoutingQuery
from pipeline.evaluate.datasets import Query
from pipeline.evaluate.measures import measure_query

MEASURES = ("mrr", "recall@10", "source_recall", "waste", "searched")
"""The measures of a mode, in the order in which they are reported."""


def measure_answer(query: RoutingQuery, answer: Answer) -> dict[str, float]:
    """Return each of ``MEASURES`` for the answer to a query."""
    names = {pair: f"{at}" for at, pair in enumerate(sorted(query.documents))}
    ranking = [names.get(query.judged(*pair), f"{pair[0]}:{pair[1]}") for pair in answer.ranking]
    of_documents = measure_query(Query(query.id, query.text, dict.fromkeys(names.values(), 1.0)), ranking)
    right = len(set(query.projects) & set(answer.searched))
    return {
        "mrr": of_documents["mrr"],
        "recall@10": of_documents["recall@10"],
        "source_recall": right / len(query.projects),
        "waste": 1 - right / len(answer.searched) if answer.searched else 0.0,
        "searched": float(len(answer.searched)),
    }


def mean_of(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over queries; 0 if there are none."""
    return {name: fsum(row[name] for row in rows) / max(len(rows), 1) for name in MEASURES}
