"""The Python interface: connect once, then ingest, search and evaluate."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from neo4j.exceptions import ClientError

from pipeline.db.catalogue import check_fingerprint, find_corpus, get_corpus
from pipeline.db.client import Client
from pipeline.db.connect import connect
from pipeline.db.embedded.progress import Report as StartReport
from pipeline.db.embedded.progress import silent
from pipeline.embedding.embedder import Embedder, make_embedder
from pipeline.evaluate.ablation import Ablation, Variant
from pipeline.evaluate.calibration import Calibration
from pipeline.evaluate.report import Report
from pipeline.evaluate.tuning.tune import Tuned
from pipeline.flows import evaluate, experiments, ingest, search
from pipeline.flows.ingest import Announce
from pipeline.ingest.update.summary import IngestSummary, Outcome, SyncSummary
from pipeline.knowledge import KnowledgeGraph
from pipeline.progress import Progress
from pipeline.retrieve.context import Context
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.results import RetrieverResult
from pipeline.retrieve.retriever import Retriever
from pipeline.settings import Settings, load_settings


class HopRank(AbstractContextManager["HopRank"]):
    """A connection to the graph with an embedder; thread-safe, and a context manager that closes it.

    Example::

        from pipeline import HopRank

        with HopRank.connect() as hoprank:
            hoprank.ingest("docs/", corpus="docs")
            for item in hoprank.search("Who founded the yard?", corpus="docs", top_k=5).items:
                print(item.metadata["document"], item.content)
    """

    def __init__(self, client: Client, embedder: Embedder, settings: Settings) -> None:
        self.client = client
        self.embedder = embedder
        self.settings = settings
        self._retrievers: dict[str, Retriever] = {}
        self._lock = threading.Lock()

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
        progress: Progress | None = None,
    ) -> IngestSummary:
        """Add and update the documents of files, folders, globs, .jsonl; see :func:`pipeline.flows.ingest.ingest`."""
        return ingest.ingest(
            self.client,
            self.embedder,
            self.settings,
            [str(path) for path in paths],
            corpus,
            strict=strict,
            progress=progress,
        )

    def sync(
        self,
        *paths: str | Path,
        corpus: str = "default",
        dry_run: bool = False,
        strict: bool = False,
        announce: Announce = lambda _: None,
        progress: Progress | None = None,
    ) -> SyncSummary:
        """Make a corpus equal to the documents of ``paths``; see :func:`pipeline.flows.ingest.sync`."""
        return ingest.sync(
            self.client,
            self.embedder,
            self.settings,
            [str(path) for path in paths],
            corpus,
            dry_run=dry_run,
            strict=strict,
            announce=announce,
            progress=progress,
        )

    def delete(self, keys: Iterable[str], corpus: str = "default", *, progress: Progress | None = None) -> Outcome:
        """Delete documents from a corpus, by key; see :func:`pipeline.flows.ingest.remove`."""
        return ingest.remove(self.client, self.settings, corpus, list(keys), progress=progress)

    def remove(self, *keys: str, corpus: str = "default", progress: Progress | None = None) -> Outcome:
        """Remove documents from a corpus, by key; see :func:`pipeline.flows.ingest.remove`."""
        return ingest.remove(self.client, self.settings, corpus, keys, progress=progress)

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
    ) -> RetrieverResult:
        """Return the ``top_k`` passages that answer a question best; see :func:`pipeline.flows.search.search`."""

        def found_by(retriever: Retriever) -> RetrieverResult:
            return search.search(
                self.client, retriever, query_text, query_vector, top_k, filters=filters, leg=leg, explain=explain
            )

        remembered = self._remembered(corpus)
        try:
            result = found_by(remembered)
        except ClientError:
            if not self._outdated(remembered, corpus):
                raise
            return found_by(self._remembered(corpus))
        if result.items or not self._outdated(remembered, corpus):
            return result
        return found_by(self._remembered(corpus))

    def context(
        self,
        query_text: str,
        *,
        corpus: str = "default",
        tokens: int = 2000,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
    ) -> Context:
        """Return passages as a language model reads them best; see :func:`pipeline.flows.search.context`."""
        retriever = self.retriever(corpus)
        return search.context(
            self.client,
            retriever,
            self.embedder.count_tokens,
            query_text,
            tokens=tokens,
            top_k=top_k,
            filters=filters,
        )

    def evaluate(
        self,
        folder: str | Path,
        *,
        split: str | None = None,
        corpus: str | None = None,
        legs: Sequence[Leg] = tuple(Leg),
        progress: Progress | None = None,
    ) -> Report:
        """Measure every leg on the queryset in a folder; see :func:`pipeline.flows.evaluate.evaluate`."""
        return evaluate.evaluate(self, Path(folder), split=split, corpus_name=corpus, legs=legs, progress=progress)

    def tune(
        self,
        *folders: str | Path,
        split: str | None = None,
        corpus: str | None = None,
        select: bool = False,
        progress: Progress | None = None,
    ) -> Tuned:
        """Fit the confidence of names and the scorer to querysets; see :func:`pipeline.flows.experiments.tune`."""
        paths = [Path(folder) for folder in folders]
        return experiments.tune(self, paths, split=split, corpus_name=corpus, select=select, progress=progress)

    def ablate(
        self,
        *folders: str | Path,
        split: str | None = None,
        corpus: str | None = None,
        variants: Sequence[Variant] | None = None,
        progress: Progress | None = None,
    ) -> Ablation:
        """Measure the contribution of each part of the retrieval; see :func:`pipeline.flows.experiments.ablate`."""
        paths = [Path(folder) for folder in folders]
        return experiments.ablate(self, paths, split=split, corpus_name=corpus, variants=variants, progress=progress)

    def calibrate(self, corpus: str = "default") -> Calibration:
        """Measure the graph at a range of cosine thresholds; see :func:`pipeline.flows.evaluate.calibrate`."""
        return evaluate.calibrate(self.client, self.settings, corpus)

    def graph(self, name: str) -> KnowledgeGraph:
        """Return the knowledge graph with this name on this connection; create it if it doesn't exist."""
        return KnowledgeGraph(name, client=self.client, embedder=self.embedder, settings=self.settings)

    def open_graph(self, corpus: str = "default") -> KnowledgeGraph:
        """Return a corpus as a read-only knowledge graph; see :meth:`pipeline.KnowledgeGraph.open`."""
        return KnowledgeGraph.open(corpus, client=self.client, embedder=self.embedder, settings=self.settings)

    def retriever(self, corpus: str = "default") -> Retriever:
        """Return the retriever of a corpus; raises CorpusError, or FingerprintError if another model made it."""
        remembered = self._remembered(corpus)
        return self._remembered(corpus) if self._outdated(remembered, corpus) else remembered

    def _remembered(self, name: str) -> Retriever:
        """Return the retriever of a corpus as it was when last looked up, which spares a round trip."""
        with self._lock:
            if name not in self._retrievers:
                found = get_corpus(self.client, name)
                check_fingerprint(found, self.embedder.fingerprint)
                self._retrievers[name] = Retriever(self.client, found, self.embedder.embed_query, self.settings)
            return self._retrievers[name]

    def _outdated(self, retriever: Retriever, name: str) -> bool:
        """Say whether the corpus of that name is another than the retriever's, by now, and then forget the retriever.

        It may have been dropped, renamed or made anew.
        """
        found = find_corpus(self.client, name)
        if found is not None and found.id == retriever.corpus.id:
            return False
        with self._lock:
            if self._retrievers.get(name) is retriever:
                del self._retrievers[name]
        return True
