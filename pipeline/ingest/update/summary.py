"""Summaries of an ingestion and of a sync."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pipeline.db.corpus import CorpusHandle
from pipeline.ingest.update.changes import Changes
from pipeline.ingest.update.plan import Plan
from pipeline.records import Skipped


@dataclass(frozen=True, slots=True)
class Outcome:
    """Numbers of nodes in a corpus after an update, and of edges by type."""

    generation: int
    documents: int
    chunks: int
    entities: int
    edges: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """The documents that were read, and the numbers of nodes and edges in the corpus now.

    ``changed`` counts new and changed documents. ``empty`` names documents without text, which are stored but never
    found. ``edges`` counts by type; it is empty if nothing changed. ``linked_otherwise`` describes the link settings
    that differ from those of the corpus: the corpus keeps its own until :func:`pipeline.flows.maintain.relink`.
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
    linked_otherwise: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SyncSummary:
    """The plan of a sync, and the summary of its writes; ``done`` is None after a dry run."""

    plan: Plan
    done: IngestSummary | None

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain JSON values."""
        return {"plan": self.plan.to_json(), "done": self.done.to_json() if self.done else None}


def summarise(
    name: str,
    corpus: CorpusHandle | None,
    changes: Changes,
    outcome: Outcome | None,
    seconds: Mapping[str, float],
    linked_otherwise: tuple[str, ...],
) -> IngestSummary:
    """Make the summary; without an ``outcome`` nothing has changed."""
    now = outcome or (corpus.record if corpus else None)
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
        linked_otherwise=linked_otherwise,
    )
