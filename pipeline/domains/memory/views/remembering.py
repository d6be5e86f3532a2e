"""Views of what was remembered, scanned and forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import plain_table

if TYPE_CHECKING:
    from pipeline.domains.memory.forget import Forgotten
    from pipeline.domains.memory.repositories.scan import Scanned
    from pipeline.domains.memory.texts.remember import Remembered

_SHOWN = 20


def remembered_line(done: Remembered) -> str:
    """Return a line on what texts brought to a memory."""
    parts = [
        f"{done.mentioned.memories:,} new {_plural('memory', done.mentioned.memories)}",
        f"{done.mentioned.mentions:,} {_plural('mention', done.mentioned.mentions)}",
        f"{done.mentioned.entities:,} new {_plural('entity', done.mentioned.entities)}",
        f"{done.facts:,} {_plural('fact', done.facts)}",
    ]
    return f"{', '.join(parts)}."


def scanned_line(done: Scanned) -> str:
    """Return a line on what a scan found and changed."""
    commit = f" at {done.commit[:10]}" if done.commit else ""
    return (
        f"{done.repository}{commit}, {done.time}: {done.facts:,} facts; {done.entities:,} entities are new, "
        f"{done.added:,} facts were added, {done.ended:,} ended."
    )


def forgotten_view(done: Forgotten, *, dry_run: bool) -> Table:
    """Return a row for each memory, entity and fact that is forgotten, at most 20 of each."""
    table = plain_table("would be forgotten" if dry_run else "to forget", "")
    for kind, names in (
        ("memory", done.memories),
        ("entity", done.entities),
        ("fact", [f"{fact.source} {fact.type} {fact.target}" for fact in done.facts]),
        ("less evidence", [f"{fact.source} {fact.type} {fact.target}" for fact in done.weakened]),
    ):
        for name in list(names)[:_SHOWN]:
            table.add_row(kind, Text(name))
        if len(names) > _SHOWN:
            table.add_row(kind, f"and {len(names) - _SHOWN:,} more")
    if not table.row_count:
        table.add_row("nothing", "")
    return table


def _plural(word: str, count: int) -> str:
    if count == 1:
        return word
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
