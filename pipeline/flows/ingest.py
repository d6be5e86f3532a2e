"""Ingest: sources -> changes -> chunk -> embed -> load -> extract -> link -> publish.

:func:`ingest` and :func:`sync` detect the changes, an engine (:mod:`pipeline.ingest.engine`) reads, chunks and embeds
them, and :func:`write_generation` loads them, extracts names, links, and publishes the next generation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from pipeline.db.catalogue import (
    Corpus,
    check_declared,
    check_extractor,
    check_fingerprint,
    check_kind,
    create_corpus,
    drop_corpus,
    find_corpus,
)
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.db.lease import lease
from pipeline.embedding.embedder import Embedder
from pipeline.errors import FingerprintError, SourceError, UnknownCorpus, UnknownDocument
from pipeline.files.remote import shown
from pipeline.ids import document_id
from pipeline.ingest.chunking.chunk import Chunker
from pipeline.ingest.embed import PreparedChunk, PreparedDocument, vectors_of, with_declared
from pipeline.ingest.engine import Engine, LocalEngine, Source
from pipeline.ingest.entities.extract import extractor_fingerprint
from pipeline.ingest.links.entity_links import (
    EmbedTexts,
    TitleChanges,
    embed_contexts,
    link_entities,
    no_vectors,
)
from pipeline.ingest.links.similarity_links import link_similar
from pipeline.ingest.links.threshold import with_threshold
from pipeline.ingest.update.changes import (
    Changes,
    IngestSummary,
    Outcome,
    Plan,
    SyncSummary,
    detect_changes,
    make_plan,
    summarise,
)
from pipeline.ingest.update.stored import Spool, StoredChunk, StoredDocument, compare, keys_there, stored_documents
from pipeline.ingest.update.write_session import WriteSession, stage, writing
from pipeline.progress import Progress
from pipeline.records import Document, Skipped, Vector
from pipeline.retrieve.filters.parse import declared_fields
from pipeline.settings import LinkSettings, Settings
from pipeline.telemetry import span

Announce = Callable[[Plan], None]
"""A function that is called with the plan of a sync before anything is written."""

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Decision(Generic[_Result]):
    """The documents to write to a corpus, the keys of those to remove from it, and a result."""

    documents: Iterable[Document]
    result: _Result
    removed: Collection[str] = ()


Decide = Callable[[CorpusHandle], Decision[_Result]]
"""A function from the corpus, which nobody else writes to meanwhile, to what to write to it."""


def ingest(
    client: Client,
    embedder: Embedder,
    settings: Settings,
    paths: Sequence[str],
    corpus_name: str,
    *,
    strict: bool = False,
    filterable: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> IngestSummary:
    """Read ``paths`` and bring the corpus to hold what is in them; other documents of the corpus stay.

    A sync without removals. Documents that are unchanged cost no more than reading them; if all are, nothing is
    written. The corpus is made if it is missing. Readers see the old state until the new one is whole. A corpus keeps
    the link settings that it was made with, and the fields of the metadata that it declares to filter by, which are
    ``filterable`` if it is made now; :func:`pipeline.flows.maintain.relink` changes them. With the setting
    ``ingest.engine`` "ray", Ray reads, chunks and embeds.

    Raises SourceError, FingerprintError (also if the corpus declares others than ``filterable``), Busy, ServerLost;
    after wrong input the corpus is as it was before.
    """
    with _traced("ingest", corpus_name), _engine(client, embedder, settings, corpus_name) as engine:
        steps = _Steps.of(engine, settings, progress, filterable)
        return _ingest(steps, engine.read(paths, strict=strict), corpus_name)


def ingest_documents(
    client: Client,
    embedder: Embedder,
    settings: Settings,
    source: Iterable[Document | Skipped],
    corpus_name: str,
    *,
    filterable: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> IngestSummary:
    """Ingest documents that the caller reads; see :func:`ingest`."""
    with _traced("ingest", corpus_name):
        steps = _Steps.of(LocalEngine(client, embedder, settings), settings, progress, filterable)
        return _ingest(steps, source, corpus_name)


def _ingest(steps: _Steps, source: Source, corpus_name: str) -> IngestSummary:
    corpus = steps.find(corpus_name)
    with detect_changes(source, stored_documents(corpus), steps.progress) as changes:
        outcome = None
        if changes or (corpus and corpus.record.staging):
            with steps.writing(corpus_name, corpus) as session:
                outcome = steps.write(session, changes, corpus)
                corpus = session.corpus
        return steps.summary(corpus_name, corpus, changes, outcome)


def ingest_decided(
    client: Client,
    embedder: Embedder,
    settings: Settings,
    decide: Decide[_Result],
    corpus_name: str,
    *,
    wait: float,
    kind: str = "",
    progress: Progress | None = None,
) -> tuple[IngestSummary, _Result]:
    """Ingest and remove the documents that ``decide`` names while the corpus is leased; see :func:`ingest`.

    The corpus is one of the domain ``kind``. The decision's result is returned beside the summary. What ``decide``
    checks still holds when they are written, whatever other runs do; these are waited for up to ``wait`` seconds.
    Raises what ``decide`` raises, and then writes nothing.
    """
    with _traced("ingest", corpus_name):
        steps = _Steps.of(LocalEngine(client, embedder, settings), settings, progress, kind=kind)
        with steps.writing(corpus_name, steps.find(corpus_name, wait=wait), wait=wait) as session:
            decision = decide(session.corpus)
            with detect_changes(decision.documents, stored_documents(session.corpus), steps.progress) as changes:
                is_due = changes or decision.removed
                outcome = steps.write(session, changes, session.corpus, decision.removed) if is_due else None
                return steps.summary(corpus_name, session.corpus, changes, outcome), decision.result


def sync(
    client: Client,
    embedder: Embedder,
    settings: Settings,
    paths: Sequence[str],
    corpus_name: str,
    *,
    dry_run: bool = False,
    strict: bool = False,
    filterable: Sequence[str] | None = None,
    announce: Announce = lambda _: None,
    progress: Progress | None = None,
) -> SyncSummary:
    """Bring the corpus to hold exactly what is in ``paths``; documents that aren't there are removed.

    The plan is told to ``announce`` before anything is written; with ``dry_run`` nothing is. The corpus is made if it
    is missing. Readers see the old state until the new one is whole.

    Raises SourceError (also if ``paths`` hold no document at all, and the corpus some), FingerprintError, Busy,
    ServerLost; after wrong input the corpus is as it was before.
    """
    with _traced("sync", corpus_name), _engine(client, embedder, settings, corpus_name) as engine:
        source = ", ".join(map(shown, paths))
        request = _Sync(lambda: engine.read(paths, strict=strict), source, corpus_name, dry_run, announce)
        return _sync(_Steps.of(engine, settings, progress, filterable), request)


def sync_documents(
    client: Client,
    embedder: Embedder,
    settings: Settings,
    read_source: Callable[[], Iterable[Document | Skipped]],
    source: str,
    corpus_name: str,
    *,
    dry_run: bool = False,
    filterable: Sequence[str] | None = None,
    announce: Announce = lambda _: None,
    progress: Progress | None = None,
) -> SyncSummary:
    """Bring the corpus to hold exactly the documents that ``read_source`` returns, which ``source`` names in errors.

    See :func:`sync`. The documents are read again if another run writes to the corpus meanwhile.
    """
    request = _Sync(read_source, source, corpus_name, dry_run, announce)
    with _traced("sync", corpus_name):
        return _sync(_Steps.of(LocalEngine(client, embedder, settings), settings, progress, filterable), request)


@dataclass(frozen=True, slots=True)
class _Sync:
    """The request for a sync; see :func:`sync_documents`."""

    read_source: Callable[[], Source]
    source: str
    corpus_name: str
    dry_run: bool
    announce: Announce


def _sync(steps: _Steps, request: _Sync) -> SyncSummary:
    name = request.corpus_name
    while True:
        corpus = steps.find(name, dry_run=request.dry_run)
        with detect_changes(request.read_source(), stored_documents(corpus), steps.progress) as changes:
            if changes.stored and not changes.seen:
                raise SourceError(
                    f"{request.source} holds no document; all {len(changes.stored):,} of {name!r} would be removed.",
                    f"If that is wanted: hoprank corpus drop {name}.",
                )
            plan = steps.plan(name, corpus, changes)
            if request.dry_run:
                return SyncSummary(plan, None)
            outcome = None
            if plan or changes or (corpus and corpus.record.staging):
                with steps.writing(name, corpus) as session:
                    if session.corpus.generation != (corpus.generation if corpus else 0):
                        continue  # another run has written meanwhile: plan again
                    request.announce(plan)
                    outcome = steps.write(session, changes, corpus, plan.removed_keys)
                    corpus = session.corpus
            else:
                request.announce(plan)
            return SyncSummary(plan, steps.summary(name, corpus, changes, outcome))


def remove(
    client: Client, settings: Settings, corpus_name: str, keys: Sequence[str], *, progress: Progress | None = None
) -> Outcome:
    """Remove documents, by key, from a corpus; raises UnknownDocument naming those that it doesn't have."""
    corpus = open_corpus(client, corpus_name)
    if unknown := sorted(set(keys) - keys_there(corpus, keys)):
        raise UnknownDocument(
            f"The corpus {corpus_name!r} has no document {', '.join(map(repr, unknown[:5]))}.",
            "A document's key is its path relative to the folder that was ingested, or its .jsonl id.",
        )
    with _traced("remove", corpus_name), writing(corpus, settings.ingest.wait) as session:
        stored = stored_documents(session.corpus)
        links = settings.link.kept_by(session.corpus.record.links)
        return write_generation(session, (), stored, frozenset(keys), links, no_vectors, progress or Progress())


def write_generation(
    session: WriteSession,
    batches: Iterable[Sequence[PreparedDocument]],
    stored: Mapping[str, StoredDocument],
    removed: Collection[str],
    settings: LinkSettings,
    embed_texts: EmbedTexts,
    progress: Progress,
) -> Outcome:
    """Load, extract, link and publish the next generation of a corpus; it is visible when this returns.

    ``batches`` are new and changed documents, ``stored`` the visible ones before, ``removed`` the keys of those to
    remove. ``embed_texts`` embeds the sentences around links.
    """
    corpus = session.corpus
    session.begin()
    with Spool[PreparedChunk]() as chunks, Spool[StoredChunk]() as replaced_chunks:
        # Load: the chunks are staged while the next batch is embedded.
        staged = stage(session, batches, stored, chunks, progress)
        before = {key: document.title for key, document in stored.items()}
        remaining = {key: title for key, title in before.items() if key not in removed}
        replaced = (staged.titles.keys() & before.keys()) | set(removed)
        titles = TitleChanges(before, {**remaining, **staged.titles}, replaced)
        diff = compare(corpus, chunks, titles.replaced, staged.titles, replaced_chunks)
        with progress.stage("link") as done:
            # Extract: the decisions on names, before and after; the chunks that they affect are linked again.
            # Link: by names, titles and hyperlinks, then by cosine.
            names = link_entities(session, chunks, diff, titles, settings, done)
            link_similar(session, chunks, diff, settings, done)
            embed_contexts(session, embed_texts)
        total = diff.chunks_after(corpus.record.chunks, chunks.count)
    counts = {"documents": len(titles.after), "chunks": total, "entities": names.entities}
    with progress.stage("publish"):
        session.retire(diff.removed, [*(document_id(corpus.id, key) for key in removed), *diff.leftover_documents])
        generation = session.publish(staged.replacing, diff.changed, names.spellings, counts=counts)
        session.collect_garbage(generation)
    edges = {kind.value: count for kind, count in session.edge_counts().items()}
    return Outcome(generation, **counts, edges=edges)


def _traced(operation: str, corpus_name: str) -> AbstractContextManager[object]:
    return span(f"{operation} {corpus_name}", {"gen_ai.data_source.id": corpus_name})


def _engine(client: Client, embedder: Embedder, settings: Settings, corpus_name: str) -> Engine:
    """Return the engine that the settings name, not yet started."""
    if settings.ingest.engine == "ray":
        from pipeline.ingest.distributed.engine import RayEngine  # Ray takes seconds to import, and is an extra

        return RayEngine(client, embedder, settings, corpus_name)
    return LocalEngine(client, embedder, settings)


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps that ingest and sync share, with what they take: an engine, the settings.

    ``filterable`` are the fields that the corpus shall declare to filter by; None if nothing was said of them. ``kind``
    is the domain whose corpus it is, "" for documents.
    """

    engine: Engine
    chunker: Chunker
    settings: Settings
    progress: Progress
    filterable: tuple[str, ...] | None = None
    kind: str = ""

    @classmethod
    def of(
        cls,
        engine: Engine,
        settings: Settings,
        progress: Progress | None = None,
        filterable: Sequence[str] | None = None,
        kind: str = "",
    ) -> Self:
        """Return the steps; the model's tokenizer, and with it often the model, is loaded for the chunker."""
        fields = None if filterable is None else declared_fields(filterable)
        progress = progress or Progress()
        with progress.stage("load model"):
            return cls(engine, engine.chunker, settings, progress, fields, kind)

    @property
    def client(self) -> Client:
        """The server's."""
        return self.engine.client

    @property
    def embedder(self) -> Embedder:
        """The model."""
        return self.engine.embedder

    @property
    def links(self) -> LinkSettings:
        """The link settings for the model."""
        return with_threshold(self.settings, self.embedder)

    def find(self, name: str, *, wait: float | None = None, dry_run: bool = False) -> CorpusHandle | None:
        """Return the corpus if there is one.

        What an interrupted first ingest left is dropped if it was of another model or chunker. Raises FingerprintError
        if another one made a corpus that is complete.
        """
        found = find_corpus(self.client, name)
        if found and not found.generation and not dry_run and not self._fits(found):
            self._drop_unfinished(found, self.settings.ingest.wait if wait is None else wait)
            found = None
        return self._checked(found) if found else None

    @contextmanager
    def writing(self, name: str, corpus: CorpusHandle | None, *, wait: float | None = None) -> Iterator[WriteSession]:
        """Lease the corpus for writing, which is made if it is None; see :func:`writing`.

        One that was never published is made anew if another run, which was stopped, drops it meanwhile.
        """
        patience = self.settings.ingest.wait if wait is None else wait
        with ExitStack() as stack:
            session = None
            while session is None:
                try:
                    session = stack.enter_context(writing(corpus or self.create(name), patience))
                except UnknownCorpus:
                    if corpus and corpus.generation:
                        raise  # what it held is what the changes were told by
                    corpus = None
            yield session

    def _fits(self, corpus: Corpus) -> bool:
        try:
            self._checked(corpus)
        except FingerprintError:
            return False
        return True

    def _drop_unfinished(self, corpus: Corpus, wait: float) -> None:
        with suppress(UnknownCorpus), lease(CorpusHandle(self.client, corpus), wait) as (leased, _):
            if not leased.generation:
                drop_corpus(self.client, leased.record)

    def create(self, name: str) -> CorpusHandle:
        """Make the corpus; raises FingerprintError if another run has made it meanwhile, with another model."""
        corpus = create_corpus(
            self.client,
            name,
            fingerprint=self.embedder.fingerprint,
            dimension=self.embedder.dimension,
            chunker=self.chunker.fingerprint,
            extractor=extractor_fingerprint(self.settings.link),
            analyzer=self.settings.fulltext.analyzer,
            links=self.links.of_edges,
            filterable=self.filterable or (),
            kind=self.kind,
        )
        return self._checked(corpus)

    def plan(self, name: str, corpus: CorpusHandle | None, changes: Changes) -> Plan:
        """Return the plan of a sync."""
        fingerprint = corpus.record.fingerprint if corpus else self.embedder.fingerprint
        with self.progress.stage("plan"):
            hashes = self.engine.text_hashes(changes)
            return make_plan(self.client, name, corpus, fingerprint, changes, hashes)

    def write(
        self, session: WriteSession, changes: Changes, seen: CorpusHandle | None, removed: Collection[str] = ()
    ) -> Outcome | None:
        """Bring the corpus up to date; return what it holds then, or None if nothing but paths changed.

        ``seen`` is the corpus as it was when the changes were detected.
        """
        corpus = session.corpus
        outcome = None
        if changes.changed or removed or corpus.record.staging:
            unseen = corpus.generation != (seen.generation if seen else 0)
            stored = stored_documents(corpus) if unseen else changes.stored
            sentences: dict[str, Vector] = {}
            session.choose_analyzer(document.text for document in changes.documents)
            prepared = self.engine.prepare(corpus, changes, sentences, self.progress)
            batches = (with_declared(batch, corpus.record.filterable) for batch in prepared)
            links = self.settings.link.kept_by(corpus.record.links)
            fingerprint = corpus.record.fingerprint
            outcome = write_generation(
                session,
                batches,
                stored,
                removed,
                links,
                lambda texts: self._sentences(fingerprint, texts, sentences),
                self.progress,
            )
            self.engine.published(corpus)
        session.move_documents(changes.moved, outcome.generation if outcome else corpus.generation)
        return outcome

    def _sentences(
        self, fingerprint: str, texts: Mapping[str, str], known: Mapping[str, Vector]
    ) -> Mapping[str, Vector]:
        """Return the vectors of sentences around links, by hash: those of ``known``, and new ones for the others.

        Links of documents that are unchanged need new ones if they lead to a new document.
        """
        missing = {key: text for key, text in texts.items() if key not in known}
        new = vectors_of(self.client, self.embedder, fingerprint, missing, lambda _: None) if missing else {}
        return {**{key: known[key] for key in texts if key in known}, **new}

    def summary(
        self, name: str, corpus: CorpusHandle | None, changes: Changes, outcome: Outcome | None
    ) -> IngestSummary:
        """Return what a run did, and the link settings that differ from the corpus's."""
        differing = self.links.differences(corpus.record.links) if corpus else ()
        return summarise(name, corpus, changes, outcome, self.progress.seconds, differing)

    def _checked(self, corpus: Corpus) -> CorpusHandle:
        check_kind(corpus, self.kind)
        check_fingerprint(corpus, self.embedder.fingerprint_beside(corpus.fingerprint), self.chunker.fingerprint)
        check_extractor(corpus, extractor_fingerprint(self.settings.link))
        check_declared(corpus, self.filterable)
        return CorpusHandle(self.client, corpus)
