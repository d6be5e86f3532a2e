"""Answering a queryset's queries by each leg, timed one at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from pipeline.db.client import Client
from pipeline.evaluate.datasets import QuerySet
from pipeline.evaluate.measures import QueryResult, document_ranking
from pipeline.progress import Progress
from pipeline.retrieve.explain import present
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import check_question
from pipeline.retrieve.retriever import Retriever

_SHOWN = 10
"""Hits that a timed search shows, as a search by hand does."""


def answer(
    client: Client, retriever: Retriever, queryset: QuerySet, legs: Sequence[Leg], progress: Progress
) -> list[QueryResult]:
    """Return a ranking of documents for each query and leg, legs in their order, with its milliseconds.

    A latency is that of one whole search: encoding the question, ranking, and fetching the ten best passages. The
    first question of each leg is asked once before, so that what is made at first use is not in the figures.
    """
    documents = chunk_documents(client, retriever)
    retriever.prepare()
    results: list[QueryResult] = []
    for leg in legs:
        with progress.stage(f"search: {leg}", len(queryset.queries)) as done:
            for result in _answers(client, retriever, queryset, leg, documents):
                results.append(result)
                done(1)
    return results


def _answers(
    client: Client, retriever: Retriever, queryset: QuerySet, leg: Leg, documents: Mapping[str, str]
) -> Iterator[QueryResult]:
    retriever.find(check_question(queryset.queries[0].text), leg)
    for query in queryset.queries:
        start = time.perf_counter()
        found = retriever.find(check_question(query.text), leg)
        present(client, retriever.corpus, found, _SHOWN, explain=False)
        milliseconds = (time.perf_counter() - start) * 1000
        hits = [(documents[id_], score) for id_, score in found.ranking.scores.items() if id_ in documents]
        confidence = found.confidence if leg is Leg.WHOLE else None
        yield QueryResult(query.id, leg.value, tuple(document_ranking(hits)), milliseconds, confidence)


def chunk_documents(client: Client, retriever: Retriever) -> dict[str, str]:
    """Return the document of each chunk."""
    return {row["id"]: row["document"] for row in client.stream("chunk_documents", label=retriever.corpus.label)}
