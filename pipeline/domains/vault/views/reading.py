"""Context and related notes, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import plain_table

if TYPE_CHECKING:
    from pipeline.domains.vault.context.router import Knowledge
    from pipeline.domains.vault.related import RelatedNote


def related_view(notes: Sequence[RelatedNote]) -> Table:
    """Return related notes, best first, each with its cosine, its share of the walk, and whether it is linked."""
    table = plain_table("note", "cosine", "visits", "linked")
    for note in notes:
        table.add_row(
            Text(note.title, style="bold"), f"{note.cosine:.2f}", f"{note.visits:.4f}", "yes" if note.linked else ""
        )
    return table


def why_view(knowledge: Knowledge) -> Table:
    """Return why each note was chosen."""
    table = plain_table("note", "score", "why")
    for note in knowledge.notes:
        table.add_row(Text(note.title, style="bold"), f"{note.score:.2f}", Text("; ".join(note.why)))
    return table
