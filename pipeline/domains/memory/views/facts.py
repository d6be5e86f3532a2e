"""Views of facts in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import plain_table
from pipeline.domains.memory.views.relating import fact_text, name_of

if TYPE_CHECKING:
    from pipeline.domains.memory.facts.history import Conflict
    from pipeline.domains.memory.facts.versions import Revision
    from pipeline.domains.memory.records import Fact


def history_view(versions: Sequence[Fact]) -> Table:
    """Return a row a version: the fact, when it held, when it was known, and why it ended or was withdrawn."""
    table = plain_table("fact", "held", "known", "because")
    for fact in versions:
        why = fact.retracted or fact.ended or (fact.evidence[0] if fact.evidence else "")
        triple = f"{name_of(fact.source)} {fact.type} {name_of(fact.target)}"
        held, known = _period(fact.valid_at, fact.invalid_at), _period(fact.created_at, fact.expired_at)
        table.add_row(Text(triple), held, known, Text(" ".join(why.split())[:80]))
    return table


def conflicts_view(conflicts: Sequence[Conflict]) -> Table:
    """Return a row a conflict."""
    table = plain_table("fact", "against", "because")
    for conflict in conflicts:
        table.add_row(Text(fact_text(conflict.one)), Text(fact_text(conflict.other)), conflict.reason)
    return table


def revision_line(revision: Revision) -> str:
    """Return lines on what is believed after a change; that nothing changed if nothing did."""
    if not revision:
        return "That is known already."
    added = [fact_text(fact) for fact in revision.added]
    return "\n".join(added or [f"{fact_text(fact)}: no longer believed" for fact in revision.expired])


def _period(start: str | None, end: str | None) -> str:
    return f"{(start or 'ever')[:10]} to {(end or 'now')[:10]}"
