"""Ingest: sources, changes, chunks, embeddings, names, links, and the new generation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from pipeline.db.catalogue import get_corpus
from pipeline.db.client import Client
from pipeline.db.lease import held
from pipeline.embedding.embedder import Embedder
from pipeline.errors import CorpusError
from pipeline.ingest.generation import Change, Outcome, update
from pipeline.ingest.session import Writing, make_chunker
from pipeline.ingest.sources import read
from pipeline.ingest.summary import IngestSummary, summarise
from pipeline.ingest.sync import Announce, Sync, SyncSummary
from pipeline.ingest.update.changes import Intake
from pipeline.ingest.update.documents import known_documents
from pipeline.progress import Progress
from pipeline.records import Document, Skipped
from pipeline.settings import Settings


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
