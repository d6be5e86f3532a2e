"""Results of the actions of agents, and maps of content, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import plain_table, property_grid

if TYPE_CHECKING:
    from pipeline.domains.vault.actions.action_models import CreatedNode, LinkedNodes, LinkStep, Traversal
    from pipeline.domains.vault.maps.index_node import IndexNode


def created_view(made: CreatedNode) -> Table:
    """Return the path of a created note, its links, and those that lead to no note."""
    rows = [
        ("created", f"{made.key}{' (a file)' if made.path else ''}"),
        ("links to", "\n".join(made.links) or "no note"),
    ]
    return property_grid([*rows, *([("unresolved", "\n".join(made.unresolved))] if made.unresolved else [])])


def linked_view(linked: LinkedNodes) -> Table:
    """Return a new link, or that it was there before."""
    arrow = f" -[{linked.relation}]-> " if linked.relation else " -> "
    return property_grid([("linked" if linked.created else "linked before", f"{linked.source}{arrow}{linked.target}")])


def traversal_view(page: Traversal) -> Table:
    """Return a row a note: how many links away it is, what it is about, and the way to it."""
    table = plain_table("note", "links", "about", "by")
    for node in page.nodes:
        by = "; ".join(_step(step) for step in node.path)
        table.add_row(Text(node.title, style="bold"), str(node.distance), Text(node.description), Text(by))
    return table


def index_view(index: IndexNode) -> Iterator[RenderableType]:
    """Yield a table a topic: its notes with their descriptions."""
    for topic in index.topics:
        yield Text(topic.name, style="bold")
        table = Table.grid(padding=(0, 2))
        for note in topic.notes:
            table.add_row(Text(f"  {note.title}"), Text(note.description))
        yield table


def _step(step: LinkStep) -> str:
    types = f"{', '.join(step.relations)}: " if step.relations else ""
    return types + (step.sentences[0] if step.sentences else f"{step.source} -> {step.target}")
