"""What an ingestion did, for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.db.catalogue import Corpus
from pipeline.ingest.generation import Outcome
from pipeline.ingest.update.changes import Intake
from pipeline.progress import Progress
from pipeline.records import Skipped


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


def summarise(
    name: str, corpus: Corpus | None, intake: Intake, outcome: Outcome | None, progress: Progress
) -> IngestSummary:
    """Put a summary together; without an ``outcome`` nothing changed and the corpus is as it was."""
    holds = outcome or corpus
    return IngestSummary(
        corpus=name,
        changed=len(intake.changed_keys),
        unchanged=intake.unchanged,
        skipped=tuple(intake.skipped),
        empty=tuple(intake.empty),
        documents=holds.documents if holds else 0,
        chunks=holds.chunks if holds else 0,
        entities=holds.entities if holds else 0,
        edges=outcome.edges if outcome else {},
        seconds=dict(progress.seconds),
    )
