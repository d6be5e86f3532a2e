"""Evaluate: a dataset, its answers leg by leg, measures, and the report."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from pipeline.db.catalogue import find_corpus, get_corpus
from pipeline.db.client import Client
from pipeline.embedding.embedder import Embedder
from pipeline.errors import QuerySetError
from pipeline.evaluate.calibration import Calibration
from pipeline.evaluate.calibration import calibrate as calibrate_links
from pipeline.evaluate.datasets import QuerySet, check_documents, read_document_ids, read_queryset
from pipeline.evaluate.measures import QueryResult
from pipeline.evaluate.report import Report, Run, build_report
from pipeline.evaluate.run import chunk_documents, run
from pipeline.flows.ingest import ingest_documents
from pipeline.flows.maintain import drop
from pipeline.flows.search import Retriever
from pipeline.ingest.sources import read
from pipeline.ingest.update.stored import stored_documents
from pipeline.progress import Progress
from pipeline.records import Document, Skipped
from pipeline.retrieve.legs import Leg, LegRow
from pipeline.retrieve.question import check_question
from pipeline.retrieve.trace import RankingTrace
from pipeline.settings import Settings

_SHOWN = 10
"""Hits that a timed search shows, as a search by hand does."""


class Ready(Protocol):
    """What an evaluation needs at hand; :class:`pipeline.api.HopRank` has it."""

    client: Client
    embedder: Embedder
    settings: Settings

    def retriever(self, corpus: str) -> Retriever:
        """Return the retriever of a corpus."""


def evaluate(
    hoprank: Ready,
    folder: Path,
    *,
    split: str | None = None,
    corpus_name: str | None = None,
    legs: Sequence[Leg] = tuple(Leg),
    progress: Progress | None = None,
) -> Report:
    """Ingest a queryset's corpus, answer its queries by every leg, one at a time, and measure.

    ``folder`` and ``split`` are those of :func:`pipeline.evaluate.datasets.read_queryset`. Without ``corpus_name``
    the corpus is a temporary one, which is dropped whatever happens; with it, it is kept and used again. A folder
    without documents of its own is asked of the corpus of that name.
    Raises QuerySetError if the folder's files don't agree, CorpusError if its questions are about no corpus.
    """
    progress = progress or Progress()
    queryset = read_queryset(folder, split)
    with ingested(hoprank, queryset, folder, corpus_name, progress) as (name, documents, seconds):
        return measure(hoprank, queryset, name, documents, seconds, legs=legs, progress=progress)


def measure(
    hoprank: Ready,
    queryset: QuerySet,
    corpus_name: str,
    documents: int,
    ingest_seconds: float,
    *,
    legs: Sequence[Leg] = tuple(Leg),
    progress: Progress | None = None,
) -> Report:
    """Answer a queryset's queries on a corpus that is there already, by each leg, and measure.

    Raises QuerySetError naming relevant documents that the corpus doesn't have.
    """
    retriever = hoprank.retriever(corpus_name)
    check_documents(queryset, stored_documents(hoprank.client, get_corpus(hoprank.client, corpus_name)))
    results = answer(hoprank.client, retriever, queryset, legs, progress or Progress())
    made_by = Run(
        corpus=corpus_name,
        documents=documents,
        ingest_seconds=ingest_seconds,
        version=version("hoprank"),
        settings={
            "model": hoprank.embedder.fingerprint,
            **hoprank.settings.retrieve.model_dump(),
            **hoprank.settings.names.model_dump(),
            **hoprank.settings.walk.model_dump(),
        },
    )
    return build_report(queryset, results, made_by)


def answer(
    client: Client, retriever: Retriever, queryset: QuerySet, legs: Sequence[LegRow], progress: Progress
) -> list[QueryResult]:
    """Search for each query by each leg, and fetch the ten best passages; see :func:`pipeline.evaluate.run.run`."""

    def search(question: str, leg: LegRow) -> RankingTrace:
        trace = retriever.rank(check_question(question), leg)
        retriever.hydrate(trace, _SHOWN)
        return trace

    documents = chunk_documents(client, retriever.corpus)
    retriever.prepare()
    return run(search, documents, queryset, legs, progress)


@contextmanager
def ingested(
    hoprank: Ready, queryset: QuerySet, folder: Path, corpus_name: str | None, progress: Progress
) -> Iterator[tuple[str, int, float]]:
    """Ingest a queryset's corpus, and yield its name, how many documents it has and the seconds that it took.

    Without ``corpus_name`` it is dropped afterwards. A folder of questions alone is asked of the corpus of that name.
    """
    if corpus_name and queryset.documents is None and queryset.corpus_path is None:
        yield corpus_name, get_corpus(hoprank.client, corpus_name).documents, 0.0
        return
    source = _documents(queryset, folder, hoprank.settings)
    name = corpus_name or f"evaluate-{uuid.uuid4().hex[:12]}"
    try:
        start = time.perf_counter()
        summary = ingest_documents(hoprank.client, hoprank.embedder, hoprank.settings, source, name, progress=progress)
        yield name, summary.documents, time.perf_counter() - start
    finally:
        if corpus_name is None and find_corpus(hoprank.client, name):
            drop(hoprank.client, name)


def calibrate(client: Client, settings: Settings, corpus_name: str) -> Calibration:
    """Say what each cosine threshold would do to a corpus's graph; raises CorpusError if it has under two chunks."""
    return calibrate_links(client, get_corpus(client, corpus_name), settings.link)


def _documents(queryset: QuerySet, folder: Path, settings: Settings) -> Iterable[Document | Skipped]:
    if queryset.documents is not None:
        return queryset.documents
    if queryset.corpus_path is None:
        raise QuerySetError(
            f"{folder} has no corpus.jsonl.",
            "A queryset holds corpus.jsonl, queries.jsonl, qrels.tsv; or name the corpus that its questions are about.",
        )
    check_documents(queryset, read_document_ids(queryset.corpus_path))
    return read([str(queryset.corpus_path)], max_bytes=settings.sources.max_bytes)
