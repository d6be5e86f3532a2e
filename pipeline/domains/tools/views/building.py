"""Views of what a build made, and of what an evaluation measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import plain_table, property_grid

if TYPE_CHECKING:
    from pipeline.domains.tools.evaluate import ToolReport
    from pipeline.domains.tools.records import Built

_MOST_LISTED = 20


def built_view(built: Built, graph: str) -> Table:
    """Return how many nodes and edges a build made, and what it left out."""
    rows = [
        ("graph", graph),
        ("nodes", ", ".join(f"{kind} {count:,}" for kind, count in built.nodes.items())),
        ("edges", ", ".join(f"{kind} {count:,}" for kind, count in built.edges.items())),
        ("changed", f"{built.written:,} nodes and edges, {built.embedded:,} texts embedded"),
    ]
    for name, texts in (
        ("skipped", [f"{one.source} {one.reason}" for one in built.skipped]),
        ("schemas left out", list(built.faults)),
    ):
        if texts:
            more = [f"and {len(texts) - _MOST_LISTED:,} more"] if len(texts) > _MOST_LISTED else []
            rows.append((name, "\n".join([*texts[:_MOST_LISTED], *more])))
    return property_grid(rows)


def report_view(report: ToolReport) -> Table:
    """Return the measures of each ranking in percent."""
    measures = list(next(iter(report.metrics.values())))
    table = plain_table("ranking", *measures)
    for name, values in report.metrics.items():
        table.add_row(Text(name, style="bold"), *(f"{100 * values[measure]:.1f}" for measure in measures))
    table.caption = Text(f"{report.queries:,} tasks, {report.tools:,} tools, p50 {report.latency_ms['p50']:.0f} ms")
    table.caption_justify = "left"
    return table
