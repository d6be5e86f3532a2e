"""Summaries of an ingestion and of a sync, for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pipeline.db.catalogue import Corpus
from pipeline.ingest.update.changes import Changes
from pipeline.ingest.update.plan import Plan
from pipeline.records import Skipped


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a corpus holds after an update; ``edges`` counts by type."""

    generation: int
    documents: int
    chunks: int
    entities: int
    edges: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """What was read, and what the corpus holds now.

    ``changed`` counts the documents that were new or different, ``empty`` names those without text (kept, but found
    by nothing). ``edges`` counts by type, and is empty when nothing changed.
    """

    corpus: str
    changed: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    empty: tuple[str, ...]
    documents: int
    chunks: int
    entities: int
    edges: Mapping[str, int]
    seconds: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SyncSummary:
    """What a sync planned, and what it did; ``done`` is None if it was only asked for its plan."""

    plan: Plan
    done: IngestSummary | None

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain JSON values."""
        return {"plan": self.plan.to_json(), "done": self.done.to_json() if self.done else None}


def summarise(
    name: str, corpus: Corpus | None, changes: Changes, outcome: Outcome | None, seconds: Mapping[str, float]
) -> IngestSummary:
    """Put a summary together; without an ``outcome`` nothing changed and the corpus is as it was."""
    now = outcome or corpus
    return IngestSummary(
        corpus=name,
        changed=len(changes.changed),
        unchanged=changes.unchanged,
        skipped=changes.skipped,
        empty=changes.empty,
        documents=now.documents if now else 0,
        chunks=now.chunks if now else 0,
        entities=now.entities if now else 0,
        edges=outcome.edges if outcome else {},
        seconds=dict(seconds),
    )
