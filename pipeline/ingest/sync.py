"""Bringing a corpus to what is in a place: the plan first, then only that work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.db.catalogue import Corpus
from pipeline.db.indexes import embedding_name
from pipeline.db.lease import held
from pipeline.errors import SourceError
from pipeline.ingest.plan import Plan, Planner
from pipeline.ingest.session import Writing
from pipeline.ingest.sources import read
from pipeline.ingest.summary import IngestSummary, summarise
from pipeline.ingest.update.changes import Intake, batched
from pipeline.ingest.update.documents import Known, known_documents
from pipeline.ingest.update.spool import Spool
from pipeline.records import Document

Announce = Callable[[Plan], None]


@dataclass(frozen=True, slots=True)
class SyncSummary:
    """What a sync planned, and what it did; ``done`` is None if it was only asked for its plan."""

    plan: Plan
    done: IngestSummary | None

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain JSON values."""
        return {"plan": self.plan.to_json(), "done": self.done.to_json() if self.done else None}


class Sync:
    """Syncs a corpus with ``paths``: it will hold exactly the documents that are there."""

    def __init__(self, writing: Writing, paths: Sequence[str], corpus_name: str, *, strict: bool) -> None:
        self._writing = writing
        self._paths = paths
        self._name = corpus_name
        self._strict = strict

    def plan(self) -> Plan:
        """Return what :meth:`run` would do now; nothing is written."""
        with Spool[Document]() as spool:
            return self._plan(self._writing.find(self._name), spool)[0]

    def run(self, announce: Announce) -> SyncSummary:
        """Tell the plan to ``announce``, then carry it out."""
        while True:
            corpus = self._writing.find(self._name)
            with Spool[Document]() as spool:
                plan, intake, known = self._plan(corpus, spool)
                summary = self._carry_out(corpus, plan, intake, known, spool, announce)
            if summary:
                return summary

    def _plan(self, corpus: Corpus | None, spool: Spool[Document]) -> tuple[Plan, Intake, dict[str, Known]]:
        known = known_documents(self._writing.client, corpus)
        intake = Intake(known)
        embedding = embedding_name(self._writing.embedder.fingerprint)
        planner = Planner(self._writing.client, corpus, self._writing.chunker, embedding)
        with self._writing.progress.stage("read"):
            max_bytes = self._writing.settings.sources.max_bytes
            source = read(self._paths, strict=self._strict, max_bytes=max_bytes)
            for batch in batched(intake.changed(source)):
                planner.take(batch)
                spool.append(batch)
        if known and not intake.seen:
            raise SourceError(
                f"{', '.join(self._paths)} holds no document; all {len(known):,} of {self._name!r} would be removed.",
                f"If that is wanted: hoprank corpus drop {self._name}.",
            )
        return planner.plan(self._name, intake, known), intake, known

    def _carry_out(
        self,
        corpus: Corpus | None,
        plan: Plan,
        intake: Intake,
        known: dict[str, Known],
        spool: Spool[Document],
        announce: Announce,
    ) -> SyncSummary | None:
        """Do what was planned; None if somebody else has written to the corpus since it was."""
        if not plan and not intake.moved and not (corpus and corpus.staging):
            announce(plan)
            return SyncSummary(plan, summarise(self._name, corpus, intake, None, self._writing.progress))
        seen = corpus.generation if corpus else 0
        there, wait = corpus or self._writing.create(self._name), self._writing.settings.ingest.wait
        with held(self._writing.client, there, wait) as (corpus, writer):
            if corpus.generation != seen:
                return None
            announce(plan)
            documents = spool if plan else None
            corpus, outcome = self._writing.write(corpus, writer, documents, known, intake.moved, plan.gone)
        done = summarise(self._name, corpus, intake, outcome, self._writing.progress)
        return SyncSummary(plan, done)
