"""A run: every query of a dataset asked of every leg, timed one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.evaluate.datasets import QuerySet
from pipeline.evaluate.measures import QueryResult, document_ranking
from pipeline.progress import Progress
from pipeline.retrieve.legs import Leg, LegRow
from pipeline.retrieve.trace import RankingTrace

Search: TypeAlias = Callable[[str, LegRow], RankingTrace]
"""One whole search by one leg: embedding the question, ranking, and reading the hits that a search by hand shows."""


def run(
    search: Search, documents: Mapping[str, str], queryset: QuerySet, legs: Sequence[LegRow], progress: Progress
) -> list[QueryResult]:
    """Return a ranking of documents for each query and leg, legs in their order, with its milliseconds.

    ``documents`` holds the document of each chunk, by id. The first question of each leg is asked once before, so that
    what is made at first use is not in the figures.
    """
    results: list[QueryResult] = []
    for leg in legs:
        with progress.stage(f"search: {leg}", len(queryset.queries)) as done:
            for result in _run_leg(search, documents, queryset, leg):
                results.append(result)
                done(1)
    return results


def chunk_documents(client: Client, corpus: Corpus) -> dict[str, str]:
    """Return the document of each chunk of a corpus, by id."""
    return {row["id"]: row["document"] for row in client.stream("chunk_documents", label=corpus.label)}


def _run_leg(search: Search, documents: Mapping[str, str], queryset: QuerySet, leg: LegRow) -> Iterator[QueryResult]:
    search(queryset.queries[0].text, leg)
    for query in queryset.queries:
        start = time.perf_counter()
        trace = search(query.text, leg)
        milliseconds = (time.perf_counter() - start) * 1000
        hits = [(documents[id_], score) for id_, score in trace.ranking.scores.items() if id_ in documents]
        confidence = trace.confidence if leg is Leg.WHOLE else None
        yield QueryResult(query.id, leg.value, tuple(document_ranking(hits)), milliseconds, confidence)
