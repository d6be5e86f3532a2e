"""The comparison of routings, and what went wrong, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import plain_table

if TYPE_CHECKING:
    from pipeline.domains.routing.evaluate.records import RoutingReport

_LABELS = {"all": "all projects", "oracle": "the ceiling", "graph": "graph"}
_COLUMNS = ("MRR", "R@10", "source recall", "waste", "searched", "p50 ms", "p95 ms")
_SHOWN = 10


def modes_view(report: RoutingReport) -> Table:
    """Return the measures of the three modes, and whether the graph reaches its targets."""
    table = plain_table("routing", *_COLUMNS)
    for mode, values in report.modes.items():
        shares = (f"{100 * values[name]:.1f}" for name in ("mrr", "recall@10", "source_recall", "waste"))
        latency = (f"{report.latency_ms[mode][name]:.0f}" for name in ("p50", "p95"))
        label = Text(_LABELS[mode], style="bold" if mode == "graph" else "")
        table.add_row(label, *shares, f"{values['searched']:.2f}", *latency)
    lines = [f"{report.queries:,} queries, {report.projects:,} projects; in percent, but for searched projects and ms."]
    lines += [f"Target {target}: {'reached' if met else 'missed'}, {seen}." for target, met, seen in report.targets()]
    if report.shortened:
        lines.append(f"Cut to the longest question that a search takes: {len(report.shortened):,}.")
    table.caption = Text("\n".join(lines))
    table.caption_justify = "left"
    return table


def failures_view(report: RoutingReport) -> Iterator[RenderableType]:
    """Yield the failures of routing by category, and those of the graph one by one, each with its evidence."""
    if not report.failures:
        return
    counts = Counter((one.category, one.mode) for one in report.failures)
    table = plain_table("failure", "all projects", "graph")
    for category in sorted({one.category for one in report.failures}):
        table.add_row(category, *(str(counts[category, mode]) for mode in ("all", "graph")))
    yield Text()
    yield table
    graph = [one for one in report.failures if one.mode == "graph"]
    for one in graph[:_SHOWN]:
        yield Text(f"\n{one.query}: {one.category}: {one.evidence}" + (f"\n  mended by {one.mend}" if one.mend else ""))
    if len(graph) > _SHOWN:
        yield Text(f"\nand {len(graph) - _SHOWN} more; --json has all.", style="dim")
