"""The map of the program: ingest, search, evaluate, each a plain function from its input to its result."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from pipeline.embedder import Embedder
from pipeline.errors import CorpusError, QuerySetError, QuestionError
from pipeline.evaluate.answer import answer
from pipeline.evaluate.calibrate import Calibration
from pipeline.evaluate.calibrate import calibrate as calibrate_links
from pipeline.evaluate.querysets import QuerySet, check_documents, read_document_ids, read_queryset
from pipeline.evaluate.report import Report, Run, build_report
from pipeline.graph.client import Client
from pipeline.graph.corpora import drop_corpus, find_corpus, get_corpus
from pipeline.graph.hold import held
from pipeline.ingest.intake import Intake
from pipeline.ingest.known import known_documents
from pipeline.ingest.sources import read
from pipeline.ingest.summary import IngestSummary, summarise
from pipeline.ingest.sync import Announce, Sync, SyncSummary
from pipeline.ingest.update import Change, Outcome, update
from pipeline.ingest.writing import Writing, make_chunker
from pipeline.progress import Progress
from pipeline.records import Document, Skipped
from pipeline.retrieve.context import Context, build_context
from pipeline.retrieve.explain import present
from pipeline.retrieve.filters import parse_filter
from pipeline.retrieve.legs import Leg, leg_named
from pipeline.retrieve.projection import drop_projections
from pipeline.retrieve.question import check_question, check_vector
from pipeline.retrieve.results import RetrieverResult
from pipeline.retrieve.retriever import Retriever
from pipeline.retrieve.ties import read_ties
from pipeline.settings import Settings


class Ready(Protocol):
    """What an evaluation needs at hand; :class:`pipeline.api.HopRank` has it."""

    client: Client
    embedder: Embedder
    settings: Settings

    def retriever(self, corpus: str) -> Retriever:
        """Return the retriever of a corpus."""


def ingest(
    client: Client,
    embedder: Embedder,
    settings: Settings,
    paths: Sequence[str],
    corpus_name: str,
    *,
    strict: bool = False,
    progress: Progress | None = None,
) -> IngestSummary:
    """Read ``paths`` and bring the corpus to hold what is in them; other documents of the corpus stay.

    Documents that are unchanged cost no more than reading them; if all are, nothing is written. The corpus is made
    if it is missing. Readers see the old state until the new one is whole.

    Raises SourceError, FingerprintError, Busy, ServerLost; after wrong input the corpus is as it was before.
    """
    source = read(paths, strict=strict, max_bytes=settings.sources.max_bytes)
    return ingest_documents(client, embedder, settings, source, corpus_name, progress=progress)


def ingest_documents(
    client: Client,
    embedder: Embedder,
    settings: Settings,
    source: Iterable[Document | Skipped],
    corpus_name: str,
    *,
    progress: Progress | None = None,
) -> IngestSummary:
    """As :func:`ingest`, of documents that somebody else reads."""
    writing = Writing(client, embedder, make_chunker(embedder, settings), settings, progress or Progress())
    corpus = writing.find(corpus_name)
    known = known_documents(client, corpus)
    intake = Intake(known)
    changed = intake.changed(source)
    first = next(changed, None)
    if first is None and not intake.moved and not (corpus and corpus.staging):
        return summarise(corpus_name, corpus, intake, None, writing.progress)
    corpus = corpus or writing.create(corpus_name)
    seen = corpus.generation
    with held(client, corpus, settings.ingest.wait) as (corpus, writer):
        known = known if corpus.generation == seen else known_documents(client, corpus)
        documents = chain([first], changed) if first else None
        corpus, outcome = writing.write(corpus, writer, documents, known, intake.moved)
    return summarise(corpus_name, corpus, intake, outcome, writing.progress)


def sync(
    client: Client,
    embedder: Embedder,
    settings: Settings,
    paths: Sequence[str],
    corpus_name: str,
    *,
    dry_run: bool = False,
    strict: bool = False,
    announce: Announce = lambda _: None,
    progress: Progress | None = None,
) -> SyncSummary:
    """Bring the corpus to hold exactly what is in ``paths``; documents that aren't there are removed.

    The plan is told to ``announce`` before anything is written; with ``dry_run`` nothing is. The corpus is made if it
    is missing. Readers see the old state until the new one is whole.

    Raises SourceError (also if ``paths`` hold no document at all, and the corpus some), FingerprintError, Busy,
    ServerLost; after wrong input the corpus is as it was before.
    """
    writing = Writing(client, embedder, make_chunker(embedder, settings), settings, progress or Progress())
    job = Sync(writing, paths, corpus_name, strict=strict)
    return SyncSummary(job.plan(), None) if dry_run else job.run(announce)


def remove(
    client: Client, settings: Settings, corpus_name: str, keys: Sequence[str], *, progress: Progress | None = None
) -> Outcome:
    """Remove documents, by key, from a corpus; raises CorpusError naming those that it doesn't have."""
    corpus = get_corpus(client, corpus_name)
    known = known_documents(client, corpus)
    if unknown := sorted(set(keys) - known.keys()):
        raise CorpusError(
            f"The corpus {corpus_name!r} has no document {', '.join(map(repr, unknown[:5]))}.",
            "A document's key is its path relative to the folder that was ingested, or its .jsonl id.",
        )
    seen = corpus.generation
    with held(client, corpus, settings.ingest.wait) as (corpus, writer):
        known = known if corpus.generation == seen else known_documents(client, corpus)
        change = Change([], {key: one.title for key, one in known.items()}, frozenset(keys))
        return update(client, corpus, writer, change, settings.link, progress or Progress())


def drop(client: Client, corpus_name: str) -> None:
    """Delete a corpus with all that it holds; raises CorpusError if there is none, Busy if somebody writes to it."""
    corpus = get_corpus(client, corpus_name)
    with held(client, corpus):
        drop_corpus(client, corpus)
        # Last, for until then a reader could have made one.
        drop_projections(client, corpus)


def search(
    client: Client,
    retriever: Retriever,
    query_text: str | None,
    query_vector: Sequence[float] | None = None,
    top_k: int = 10,
    *,
    filters: Mapping[str, Any] | None = None,
    leg: Leg | str = Leg.WHOLE,
    explain: bool = False,
) -> RetrieverResult:
    """Return the ``top_k`` passages that answer a question best; none, if every leg is empty.

    ``query_vector`` replaces the embedding of the text; with it alone only the vector leg and the walk from it speak.
    ``filters`` says which chunks may answer (:mod:`pipeline.retrieve.filters`). ``leg`` asks for one leg instead of the
    fused whole. ``explain`` adds to each hit the path that led to it.

    Raises QuestionError on an empty or overlong question, a vector that can't be one, an unknown leg, or a ``top_k``
    under 1; FilterError on filters that are malformed.
    """
    if top_k < 1:
        raise QuestionError(f"top_k is {top_k}.", "Ask for 1 passage or more.")
    if query_vector is not None:
        check_vector(query_vector, retriever.corpus.dimension)
    question = check_question(query_text or "") if query_vector is None or query_text else ""
    wanted = leg_named(leg)
    admitted = None if filters is None else retriever.admit(parse_filter(filters))
    found = retriever.find(question, wanted, query_vector, admitted)
    return present(client, retriever.corpus, found, top_k, explain=explain, admitted=admitted)


def context(
    hoprank: Ready,
    corpus_name: str,
    question: str,
    *,
    tokens: int = 2000,
    top_k: int = 20,
    filters: Mapping[str, Any] | None = None,
) -> Context:
    """Return the best ``top_k`` passages for a question, as far as ``tokens`` of the embedder go, in reading order.

    Raises what :func:`search` does, and QuestionError if ``tokens`` is under 1.
    """
    if tokens < 1:
        raise QuestionError(f"The budget is {tokens} tokens.", "Allow 1 token or more.")
    retriever = hoprank.retriever(corpus_name)
    result = search(hoprank.client, retriever, question, top_k=top_k, filters=filters)
    corpus = get_corpus(hoprank.client, corpus_name)
    chunks = [item.metadata["id"] for item in result.items]
    ties = read_ties(hoprank.client, chunks, corpus.generation, corpus.chunks)
    return build_context(question, result, ties, tokens, hoprank.embedder.count_tokens)


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

    ``folder`` and ``split`` are those of :func:`pipeline.evaluate.querysets.read_queryset`. Without ``corpus_name``
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
    check_documents(queryset, known_documents(hoprank.client, get_corpus(hoprank.client, corpus_name)))
    results = answer(hoprank.client, retriever, queryset, legs, progress or Progress())
    run = Run(
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
    return build_report(queryset, results, run)


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
