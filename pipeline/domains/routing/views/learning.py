"""Views of proposed relations, and of weights that follow from use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import plain_table, property_grid

if TYPE_CHECKING:
    from pipeline.domains.routing.learn.records import EdgeUsage, LearnedWeight, Proposal

_PLACES = 3
_MOST_EVENTS = 20


def proposals_view(proposals: Sequence[Proposal]) -> Table:
    """Return the proposals, each with its id, its confidence and its first pieces of evidence."""
    table = plain_table("id", "sure", "relation", "evidence")
    for one in proposals:
        relation = f"{one.relation.source} {one.relation.type.upper()} {one.relation.target}"
        more = len(one.evidence) - _PLACES
        places = [*one.evidence[:_PLACES], *([f"and {more} more"] if more > 0 else [])]
        table.add_row(one.id, f"{100 * one.confidence:.0f}%", Text(relation, style="bold"), Text("\n".join(places)))
    return table


def weights_view(learned: Sequence[LearnedWeight]) -> Table:
    """Return the weights of edges, and the judgements that they follow from."""
    table = plain_table("relation", "weight", "base", "useful", "useless")
    for one in learned:
        counts = (sum(event.useful is wanted for event in one.events) for wanted in (True, False))
        table.add_row(Text(str(one.edge), style="bold"), f"{one.weight:.3f}", f"{one.base:.3f}", *map(str, counts))
    return table


def explanation_view(learned: LearnedWeight) -> RenderableType:
    """Return how the weight of an edge comes about, and its newest judgements."""
    useful, useless = (sum(event.useful is wanted for event in learned.events) for wanted in (True, False))
    grid = property_grid(
        [
            ("relation", str(learned.edge)),
            ("base weight", f"{learned.base:.3f}"),
            ("useful answers", f"{useful:,}, which count {learned.useful:.2f} by their age and rank"),
            ("useless answers", f"{useless:,}, which count {learned.useless:.2f}"),
            ("share of useful", f"{learned.share:.3f}, estimated; 0.5 without judgements"),
            ("factor", f"{learned.factor:.3f}"),
            ("weight", f"{learned.weight:.3f}"),
        ]
    )
    return Group(grid, _events(learned.events)) if learned.events else grid


def _events(events: Sequence[EdgeUsage]) -> Table:
    table = plain_table("time", "rank", "judgement", "question")
    for event in events[:_MOST_EVENTS]:
        said = "useful" if event.useful else "useless"
        table.add_row(f"{event.time:%Y-%m-%d %H:%M}", str(event.rank), said, Text(event.query))
    if len(events) > _MOST_EVENTS:
        table.caption = Text(f"and {len(events) - _MOST_EVENTS:,} older ones")
        table.caption_justify = "left"
    return table
