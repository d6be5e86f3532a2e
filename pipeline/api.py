"""The Python interface: connect once, then ingest, search and evaluate."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar, cast

from pipeline.answer.chat import check_model
from pipeline.answer.records import Answer, AnswerEvent
from pipeline.db.catalogue import Corpus, NamedGraph, find_graph
from pipeline.db.client import Client
from pipeline.db.connect import connect
from pipeline.db.corpus import read_whole
from pipeline.db.embedded.options import Report as StartReport
from pipeline.db.embedded.options import silent
from pipeline.embedding.backends import make_embedder
from pipeline.embedding.embedder import Embedder
from pipeline.evaluate.calibration import Calibration
from pipeline.evaluate.compare import Trial
from pipeline.evaluate.report import Report
from pipeline.evaluate.tuning.tune import Tuned
from pipeline.flows import ask, documents, evaluate, experiments, ingest, maintain, questions
from pipeline.flows.documents import DocumentEntry, StoredText
from pipeline.flows.ingest import Announce
from pipeline.flows.questions import Judgement
from pipeline.flows.search import Retriever, Retrievers
from pipeline.ingest.sources.reader import document_of, documents_of, documents_of_files
from pipeline.ingest.update.changes import IngestSummary, Outcome, SyncSummary
from pipeline.knowledge import KnowledgeGraph
from pipeline.knowledge.catalogue import make_graph, of_kind
from pipeline.progress import Progress
from pipeline.retrieve.context import Context
from pipeline.retrieve.excerpt import with_excerpts
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.lru import SharedCache
from pipeline.retrieve.question import as_asked
from pipeline.retrieve.results import RetrieverResult
from pipeline.retrieve.window import Expand
from pipeline.settings import Settings, load_settings

_Name = TypeVar("_Name", str, str | None)
_Kept = TypeVar("_Kept")


class HopRank(AbstractContextManager["HopRank"]):
    """A connection to the graph with an embedder; thread-safe, and a context manager that closes it.

    Example::

        from hoprank import HopRank

        with HopRank.connect() as hoprank:
            hoprank.ingest("docs/", corpus="docs")
            for item in hoprank.search("Who founded the yard?", corpus="docs", top_k=5).items:
                print(item.metadata["document"], item.content)
    """

    def __init__(self, client: Client, embedder: Embedder, settings: Settings) -> None:
        self.client = client
        self.embedder = embedder
        self.settings = settings
        self._retrievers = Retrievers(client, embedder, settings)
        # each is small, and saves a write and a read when it is asked for
        self._graphs: SharedCache[str, KnowledgeGraph] = SharedCache(256)  # graphs; chosen by hand, as the next
        # agents use a handful of vaults, memories and routers at a time
        self._kept: SharedCache[tuple[object, str | None], Any] = SharedCache(32)

    @property
    def _parts(self) -> tuple[Client, Embedder, Settings]:
        return self.client, self.embedder, self.settings

    @classmethod
    def connect(
        cls,
        uri: str | None = None,
        username: str | None = None,
        password: str | None = None,
        database: str | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        report: StartReport = silent,
    ) -> HopRank:
        """Connect to ``uri``, else to NEO4J_URI, else to the embedded server, which is started if it isn't running.

        ``report`` is called with each step of that start.

        Raises ServerUnreachable, LoginRefused, ServerUnsupported, ServerStartFailed, DownloadFailed,
        ConfigurationError.
        """
        arguments = {"uri": uri, "username": username, "password": password, "database": database}
        overrides = {name: value for name, value in arguments.items() if value is not None}
        settings = settings or load_settings({"neo4j": overrides} if overrides else None)
        return cls(connect(settings, report), embedder or make_embedder(settings), settings)

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the embedded server keeps running until it is idle."""
        self.client.close()

    def ingest(
        self,
        *paths: str | Path,
        corpus: str = "default",
        strict: bool = False,
        filterable: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> IngestSummary:
        """Add and update the documents of files, folders, globs, .jsonl; see :func:`pipeline.flows.ingest.ingest`.

        ``filterable`` are the fields of the metadata that a new corpus declares, so that its indexes evaluate filters
        on them.
        """
        sources = list(map(str, paths))
        return ingest.ingest(*self._parts, sources, corpus, strict=strict, filterable=filterable, progress=progress)

    def add(
        self,
        objects: Iterable[Mapping[str, Any]],
        corpus: str = "default",
        *,
        filterable: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> IngestSummary:
        """Add and update documents ``{"id", "title", "text", "metadata"}``, which need only an id and a text.

        ``filterable`` is that of :meth:`ingest`.

        Raises SourceError for a malformed one, and the errors of :func:`pipeline.flows.ingest.ingest`; nothing is
        written then.
        """
        documents = documents_of(objects, self.settings.sources.limits)
        return ingest.ingest_documents(*self._parts, documents, corpus, filterable=filterable, progress=progress)

    def replace(
        self,
        objects: Iterable[Mapping[str, Any]],
        corpus: str = "default",
        *,
        dry_run: bool = False,
        filterable: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> SyncSummary:
        """Make a corpus equal to documents as :meth:`add` takes them; see :func:`pipeline.flows.ingest.sync`."""
        documents, name = documents_of(objects, self.settings.sources.limits), "The list of documents"
        return ingest.sync_documents(
            *self._parts,
            lambda: documents,
            name,
            corpus,
            dry_run=dry_run,
            filterable=filterable,
            progress=progress,
        )

    def add_file(
        self, key: str, content: bytes, corpus: str = "default", *, progress: Progress | None = None
    ) -> IngestSummary:
        """Add or update the document ``key``, whose suffix names the format of ``content``, the bytes of its file."""
        document = document_of(key, content, self.settings.sources.limits)
        return ingest.ingest_documents(*self._parts, [document], corpus, progress=progress)

    def add_files(
        self,
        files: Mapping[str, bytes],
        corpus: str = "default",
        *,
        filterable: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> IngestSummary:
        """Add or update a document for each of ``files``, as :meth:`add_file` does, in one generation.

        Those that can't be read are left out, and named in the summary.
        """
        documents = documents_of_files(files, self.settings.sources.limits)
        return ingest.ingest_documents(*self._parts, documents, corpus, filterable=filterable, progress=progress)

    def documents(
        self, corpus: str = "default", *, prefix: str = "", after: str = "", limit: int = 100
    ) -> list[DocumentEntry]:
        """List documents in the order of their keys; see :func:`pipeline.flows.documents.list_documents`."""
        return documents.list_documents(self.client, corpus, prefix=prefix, after=after, limit=limit)

    def document(self, key: str, corpus: str = "default") -> StoredText:
        """Return a document with its text; see :func:`pipeline.flows.documents.read_document`."""
        return documents.read_document(self.client, corpus, key)

    def sync(
        self,
        *paths: str | Path,
        corpus: str = "default",
        dry_run: bool = False,
        strict: bool = False,
        filterable: Sequence[str] | None = None,
        announce: Announce = lambda _: None,
        progress: Progress | None = None,
    ) -> SyncSummary:
        """Make a corpus equal to the documents of ``paths``; see :func:`pipeline.flows.ingest.sync`."""
        return ingest.sync(
            *self._parts,
            list(map(str, paths)),
            corpus,
            dry_run=dry_run,
            strict=strict,
            filterable=filterable,
            announce=announce,
            progress=progress,
        )

    def delete(self, keys: Iterable[str], corpus: str = "default", *, progress: Progress | None = None) -> Outcome:
        """Delete documents from a corpus, by key; see :func:`pipeline.flows.ingest.remove`."""
        return ingest.remove(self.client, self.settings, corpus, list(keys), progress=progress)

    def search(
        self,
        query_text: str | None = None,
        query_vector: Sequence[float] | None = None,
        top_k: int = 10,
        filters: Mapping[str, Any] | None = None,
        *,
        corpus: str = "default",
        leg: Leg | str = Leg.WHOLE,
        explain: bool = False,
        min_relevance: float | None = None,
        excerpts: bool = False,
    ) -> RetrieverResult:
        """Return the ``top_k`` passages that answer a question best.

        See :meth:`pipeline.flows.search.Retriever.search`. ``excerpts`` adds to each passage the sentences of it that
        answer best, for which it embeds all its sentences. The name is that of the corpus that has it now, and the
        passages are those of one generation; a question whose corpus is replaced meanwhile is asked again.
        """
        result = self._retrievers.call(
            corpus,
            lambda retriever: retriever.search(
                query_text,
                query_vector,
                top_k,
                filters=filters,
                leg=leg,
                explain=explain,
                min_relevance=min_relevance,
            ),
        )
        return with_excerpts(result, as_asked(query_text or ""), self.embedder) if excerpts else result

    def context(
        self,
        query_text: str,
        *,
        corpus: str = "default",
        tokens: int = 2000,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        expand: Expand | str = Expand.NONE,
        min_relevance: float | None = None,
    ) -> Context:
        """Return passages as a language model reads them best; see :meth:`pipeline.flows.search.Retriever.context`."""
        count_tokens = self.embedder.count_tokens
        return self._retrievers.call(
            corpus,
            lambda retriever: retriever.context(
                query_text,
                count_tokens,
                tokens=tokens,
                top_k=top_k,
                filters=filters,
                expand=expand,
                min_relevance=min_relevance,
            ),
        )

    def ask(
        self,
        query_text: str,
        *,
        corpus: str = "default",
        tokens: int | None = None,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        expand: Expand | str = Expand.NONE,
        min_relevance: float | None = None,
    ) -> Answer:
        """Return the answer that the language model of the settings writes from the context of a question.

        The context is that of :meth:`context`; ``tokens`` is ``ask.tokens`` by default. Without a hit of the relevance
        ``min_relevance``, by default ``retrieve.known_relevance``, no model is asked. Raises the errors of
        :func:`pipeline.flows.ask.answer`: ConfigurationError without a model, AnswerFailed if it doesn't answer.
        """
        *_, answer = self.ask_stream(
            query_text,
            corpus=corpus,
            tokens=tokens,
            top_k=top_k,
            filters=filters,
            expand=expand,
            min_relevance=min_relevance,
        )
        return cast(Answer, answer)

    def ask_stream(
        self,
        query_text: str,
        *,
        corpus: str = "default",
        tokens: int | None = None,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        expand: Expand | str = Expand.NONE,
        min_relevance: float | None = None,
    ) -> Generator[AnswerEvent, None, None]:
        """Yield the context of a question, the pieces of its answer as they are written, and the answer.

        The parameters and errors are those of :meth:`ask`. Closing the iterator ends the model's work.
        """
        check_model(self.settings.ask)
        budget = self.settings.ask.tokens if tokens is None else tokens
        found = self.context(
            query_text,
            corpus=corpus,
            tokens=budget,
            top_k=top_k,
            filters=filters,
            expand=expand,
            min_relevance=min_relevance,
        )
        yield from ask.waited(ask.answer(self.settings, found, min_relevance))

    def evaluate(
        self,
        folder: str | Path,
        *,
        split: str | None = None,
        corpus: str | None = None,
        legs: Sequence[Leg] = tuple(Leg),
        measures: Sequence[str] = (),
        contexts: Sequence[int] = (),
        progress: Progress | None = None,
    ) -> Report:
        """Measure every leg on the dataset in a folder; see :func:`pipeline.flows.evaluate.evaluate`."""
        return evaluate.evaluate(
            self,
            Path(folder),
            split=split,
            corpus_name=corpus,
            legs=legs,
            measures=measures,
            contexts=contexts,
            progress=progress,
        )

    def tune(
        self,
        *folders: str | Path,
        split: str | None = None,
        corpus: str | None = None,
        select: bool = False,
        anew: bool = False,
        progress: Progress | None = None,
    ) -> Tuned:
        """Fit the confidence of names and the scorer to datasets; see :func:`pipeline.flows.experiments.tune`."""
        paths = [Path(folder) for folder in folders]
        return experiments.tune(
            self, paths, split=split, corpus_name=corpus, select=select, anew=anew, progress=progress
        )

    def try_settings(
        self,
        *folders: str | Path,
        before: Settings,
        split: str | None = None,
        corpus: str | None = None,
        progress: Progress | None = None,
    ) -> list[Trial]:
        """Compare the search by these settings with ``before``; see :func:`pipeline.flows.experiments.try_settings`."""
        paths = [Path(folder) for folder in folders]
        return experiments.try_settings(self, paths, before, split=split, corpus_name=corpus, progress=progress)

    def calibrate(self, corpus: str = "default") -> Calibration:
        """Measure the graph at a range of cosine thresholds; see :func:`pipeline.flows.evaluate.calibrate`."""
        return evaluate.calibrate(self.client, self.settings, corpus)

    def relink(
        self, corpus: str = "default", *, filterable: Sequence[str] | None = None, progress: Progress | None = None
    ) -> Corpus:
        """Link a corpus anew by the settings of this object; see :func:`pipeline.flows.maintain.relink`.

        ``filterable`` are the fields of the metadata that it declares from now on, instead of its own.
        """
        return maintain.relink(
            self.client, self.embedder, self.settings, corpus, filterable=filterable, progress=progress or Progress()
        )

    def examples(self, corpus: str = "default") -> list[str]:
        """Return some questions to ask a corpus; see :func:`pipeline.flows.questions.examples`."""
        return questions.examples(self.client, corpus)

    def judge(self, question: str, document: str, relevance: float | None, corpus: str = "default") -> None:
        """Keep whether a document answers a question; see :func:`pipeline.flows.questions.judge`."""
        questions.judge(self.client, corpus, question, document, relevance)

    def judgements(self, corpus: str = "default", question: str | None = None) -> list[Judgement]:
        """Return what was said of hits; see :func:`pipeline.flows.questions.judgements`."""
        return questions.judgements(self.client, corpus, question)

    def graph(self, name: str, *, create: bool = True, kind: str = "") -> KnowledgeGraph:
        """Return the knowledge graph with this name on this connection.

        If it doesn't exist, it is created, or GraphError is raised with ``create=False``. A domain that is about to
        write names its ``kind``: GraphError is raised if the graph holds what another has made.
        """
        if (graph := find_graph(self.client, name)) is None:
            return self.graph_of(make_graph(self.client, name, kind)) if create else self._open_graph(name)
        return self.graph_of(of_kind(self.client, graph, kind))

    def graph_of(self, graph: NamedGraph) -> KnowledgeGraph:
        """Return a knowledge graph that was looked up already, in the same call: a name may soon be another's."""
        return self._graphs.get(graph.id, lambda: self._open_graph(graph))

    def read_graph(self, name: str, read: Callable[[KnowledgeGraph], _Kept], *, corpus: bool = False) -> _Kept:
        """Return what ``read`` returns of the graph, or with ``corpus`` of the corpus, that has this name now.

        It is called again if another takes the name meanwhile, or if the corpus changes: what it read is being deleted.
        """

        def once() -> _Kept:
            graph = self.open_graph(name) if corpus else self.graph(name, create=False)
            try:
                return read(graph)
            finally:
                graph.check_current()

        return read_whole(once)

    def _open_graph(self, name: str | NamedGraph) -> KnowledgeGraph:
        return KnowledgeGraph(name, client=self.client, embedder=self.embedder, settings=self.settings, create=False)

    def open_graph(self, corpus: str = "default") -> KnowledgeGraph:
        """Return a corpus as a read-only knowledge graph; see :meth:`pipeline.KnowledgeGraph.open`."""
        return KnowledgeGraph.open(corpus, client=self.client, embedder=self.embedder, settings=self.settings)

    def kept(self, make: Callable[[HopRank, _Name], _Kept], name: _Name) -> _Kept:
        """Return what ``make`` returns for this connection and a name: made once, and gone with the connection.

        Domains keep what they have read of a graph in it: ``hoprank.kept(Vault, "notes")``.
        """
        kept: _Kept = self._kept.get((make, name), lambda: make(self, name))
        return kept

    def retriever(self, corpus: str = "default") -> Retriever:
        """Return the retriever of a corpus; raises CorpusError, or FingerprintError if another model made it."""
        return self._retrievers.current(corpus)
