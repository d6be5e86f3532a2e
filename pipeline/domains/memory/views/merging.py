"""Views of entities that are the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pipeline.domains.memory.dedupe.candidates import Candidate
    from pipeline.domains.memory.dedupe.journal import Merge
    from pipeline.domains.memory.dedupe.plan import Plan


def plan_view(plan: Plan) -> list[RenderableType]:
    """Return the groups that a plan merges, and the pairs that a person has to judge."""
    parts: list[RenderableType] = []
    if plan.groups:
        table = plain_table("keep", "merge into it", "because")
        for group in plan.groups:
            reasons = dict.fromkeys(because(one) for one in group.evidence)
            table.add_row(Text(group.survivor), Text("\n".join(group.losers)), Text("; ".join(reasons)))
        parts.append(table)
    if plan.review:
        table = plain_table("for you to judge", "", "for", "against")
        for one in plan.review:
            table.add_row(Text(one.pair[0]), Text(one.pair[1]), Text(because(one)), Text("; ".join(one.against)))
        parts.append(table)
    return parts


def because(candidate: Candidate) -> str:
    """Return what speaks for two entities being the same thing."""
    cosine = f"cosine {candidate.cosine:.2f}" if candidate.cosine is not None else ""
    shared = f"{len(candidate.shared)} facts in common" if candidate.shared else ""
    return ", ".join(part for part in (candidate.reason, cosine, shared) if part)


def merges_view(merges: Sequence[Merge]) -> Table:
    """Return a row a merge."""
    table = plain_table("merge", "time", "entities", "into")
    for merge in merges:
        losers = [loser for group in merge.groups for loser in group.losers]
        table.add_row(merge.id, merge.time[:19], Text(", ".join(losers[:3])), Text(merge.groups[0].survivor))
    return table


def merge_line(merge: Merge) -> str:
    """Return a line on what was merged, and how to undo it."""
    losers = sum(len(group.losers) for group in merge.groups)
    return (
        f"Merged {losers} entities into {len(merge.groups)}, {merge.moved} facts and mentions moved. "
        f"hoprank memory dedupe undo {merge.id} restores them."
    )
