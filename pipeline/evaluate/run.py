"""A run: each query of a dataset searched by each leg, timed one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from pipeline.db.corpus import CorpusHandle
from pipeline.evaluate.datasets import Dataset
from pipeline.evaluate.measures import QueryResult, document_ranking
from pipeline.progress import Progress
from pipeline.retrieve.legs import Leg, LegRow
from pipeline.retrieve.trace import RankingTrace

Search: TypeAlias = Callable[[str, LegRow], RankingTrace]
"""One whole search by one leg: embedding the question, ranking, and reading the hits that a search by hand shows."""


def run(
    search: Search, documents: Mapping[str, str], dataset: Dataset, legs: Sequence[LegRow], progress: Progress
) -> list[QueryResult]:
    """Return a ranking of documents and its latency for each query and leg, in the order of ``legs``.

    ``documents`` holds the document of each chunk, by id. The first query of each leg is searched once beforehand, so
    that the latencies don't include what is made at first use.
    """
    results: list[QueryResult] = []
    for leg in legs:
        with progress.stage(f"search: {leg}", len(dataset.queries)) as done:
            for result in _run_leg(search, documents, dataset, leg):
                results.append(result)
                done(1)
    return results


def chunk_documents(corpus: CorpusHandle) -> dict[str, str]:
    """Return the document of each chunk of a corpus, by id."""
    return {row["id"]: row["document"] for row in corpus.stream("chunk_documents")}


def _run_leg(search: Search, documents: Mapping[str, str], dataset: Dataset, leg: LegRow) -> Iterator[QueryResult]:
    search(dataset.queries[0].text, leg)
    for query in dataset.queries:
        start = time.perf_counter()
        trace = search(query.text, leg)
        milliseconds = (time.perf_counter() - start) * 1000
        hits = [(documents[id_], score) for id_, score in trace.ranking.scores.items() if id_ in documents]
        confidence = trace.confidence if leg is Leg.WHOLE else None
        yield QueryResult(query.id, leg.value, tuple(document_ranking(hits)), milliseconds, confidence, trace.engine)
