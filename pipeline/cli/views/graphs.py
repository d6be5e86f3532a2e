"""Knowledge graphs for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import ruled_table

if TYPE_CHECKING:
    from pipeline.knowledge.catalogue import NamedGraph


def graphs_table(graphs: Sequence[tuple[NamedGraph, int]]) -> Table:
    """Return a row a graph: how many nodes it has, and the day it was made."""
    table = ruled_table()
    table.add_column("graph", overflow="fold")
    table.add_column("nodes", justify="right")
    table.add_column("made")
    for graph, nodes in graphs:
        table.add_row(Text(graph.name), f"{nodes:,}", graph.created_at[:10])
    return table
