"""Knowledge graphs for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from pipeline.cli.deferred import explore
from pipeline.cli.views.tables import plain_table, ruled_table
from pipeline.text.prose import one_line

if TYPE_CHECKING:
    from pipeline.db.catalogue import NamedGraph
    from pipeline.knowledge import KnowledgeEdge, KnowledgeNode, Reached
    from pipeline.knowledge.explore import Path

_LONGEST = 80  # characters of an edge's properties; chosen by hand, --json has all


def graphs_table(graphs: Sequence[tuple[NamedGraph, int]]) -> Table:
    """Return a row a graph: how many nodes it has, and the day it was made."""
    table = ruled_table()
    table.add_column("graph", overflow="fold")
    table.add_column("nodes", justify="right")
    table.add_column("made")
    for graph, nodes in graphs:
        table.add_row(Text(graph.name), f"{nodes:,}", graph.created_at[:10])
    return table


def nodes_table(nodes: Sequence[KnowledgeNode]) -> Table:
    """Return a row a node: its name, type and id."""
    return plain_table("node", "type", "id", rows=map(_cells, nodes), named=True)


def near_table(reached: Sequence[Reached]) -> Table:
    """Return a row a node that was reached: how many edges away, and the score of the strongest path to it."""
    rows = ((*_cells(one.node), str(one.hops), f"{one.score:.3f}") for one in reached)
    return plain_table("node", "type", "id", "hops", "score", rows=rows, named=True)


def edges_table(edges: Sequence[KnowledgeEdge], names: Mapping[str, str]) -> Table:
    """Return a row an edge: its ends by name, its type and weight, since and until when it holds, its properties."""
    rows = (
        (
            names.get(edge.source, edge.source),
            edge.type,
            names.get(edge.target, edge.target),
            f"{edge.weight:.2f}",
            (edge.valid_at or "")[:10],
            (edge.invalid_at or "")[:10],
            one_line("; ".join(f"{name}: {_said(value)}" for name, value in edge.properties.items()), _LONGEST),
        )
        for edge in edges
    )
    return plain_table("from", "type", "to", "weight", "since", "until", "says", rows=rows, named=True)


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def path_view(path: Path) -> Table:
    """Return a row a node of a path, with the types of the edges that lead to it."""
    steps = zip(path.nodes, ((), *path.steps), strict=True)
    rows = ((*_cells(node), ", ".join(dict.fromkeys(edge.type for edge in edges))) for node, edges in steps)
    return plain_table("node", "type", "id", "by", rows=rows, named=True)


def _cells(node: KnowledgeNode) -> tuple[str, str, str]:
    return explore.name_of(node), node.type, node.id
