"""An evaluation for people: legs as rows, in tables that fit 100 columns, and mostly 80."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.cli.deferred import breakdown, measures
from pipeline.cli.views.tables import ruled_table
from pipeline.retrieve.legs import Leg

if TYPE_CHECKING:
    from pipeline.evaluate.report import LegReport, Report

_COMPARED = ("recall@5", "recall@10", "ndcg@10")
_HEADINGS = {"recall": "R", "mrr": "MRR", "ndcg": "nDCG\n", "perfect": "perfect\n"}


def report_views(report: Report, *, per_query: bool = False) -> list[RenderableType]:
    """Return all tables of a report, one below the other; ``per_query`` adds every query."""
    views: list[RenderableType] = [report_table(report)]
    if report.groups:
        views += ["", breakdown_table(report)]
    if per_query:
        views += ["", _per_query_table(report)]
    return views


def report_table(report: Report) -> Table:
    """Return the legs: measures in percent, latencies in milliseconds, the fused whole last.

    The whole is bold, and below a rule, which a pipe keeps.
    """
    table = ruled_table(report.queryset, _caption(report), padding=0)
    table.add_column("leg", no_wrap=True)
    for name in measures.MEASURES:
        table.add_column(_heading(name), justify="right", vertical="bottom", no_wrap=True, min_width=5)
    for percentile in ("p50", "p95"):
        table.add_column(f"{percentile}\nms", justify="right", no_wrap=True, min_width=5)
    for leg in report.legs:
        if leg.leg == Leg.WHOLE:
            table.add_section()
        table.add_row(*_cells(leg), style="bold" if leg.leg == Leg.WHOLE else "")
    return table


def breakdown_table(report: Report) -> Table:
    """Return the whole beside hybrid, in percent, by the type of question and the confidence in its names."""
    table = ruled_table(
        "Where the graph leads", "Strong, some, weak: the confidence in the surest name of the question."
    )
    table.add_column("questions", no_wrap=True)
    table.add_column("number", justify="right")
    for name in _COMPARED:
        for leg in breakdown.COMPARED:
            table.add_column(f"{leg}\n{_heading(name)}".replace("\n@", "@"), justify="right", no_wrap=True)
    previous = ""
    for group in report.groups:
        if previous and group.by != previous:
            table.add_section()
        previous = group.by
        cells = [f"{100 * group.metrics[leg][name]:.1f}" for name in _COMPARED for leg in breakdown.COMPARED]
        table.add_row(Text(f"{group.by}: {group.label}"), f"{group.queries:,}", *cells)
    return table


def _per_query_table(report: Report) -> Table:
    """Return each leg's nDCG@10 in percent, a row a query, in the order of the queryset."""
    table = ruled_table("nDCG@10 by query")
    table.add_column("query", overflow="fold")
    for leg in report.legs:
        table.add_column(leg.leg, justify="right")
    for rows in zip(*(leg.detail for leg in report.legs), strict=True):
        table.add_row(Text(rows[0].result.query_id), *(f"{100 * row.measures['ndcg@10']:.0f}" for row in rows))
    return table


def _heading(measure: str) -> str:
    name, at, cutoff = measure.partition("@")
    return _HEADINGS[name] + at + cutoff


def _cells(leg: LegReport) -> list[Text]:
    percents = [f"{100 * leg.measures[name]:.1f}" for name in measures.MEASURES]
    return [Text(cell) for cell in (leg.leg, *percents, _milliseconds(leg.p50_ms), _milliseconds(leg.p95_ms))]


def _milliseconds(latency: float | None) -> str:
    if latency is None:
        return "-"
    return f"{latency:.1f}" if latency < 99.95 else f"{latency:.0f}"


def _caption(report: Report) -> str:
    left_out = report.queries_left_out
    without = f" ({left_out:,} more have no relevant document)" if left_out else ""
    seconds = report.run.ingest_seconds
    return (
        f"In percent of {report.queries:,} queries{without}.\n"
        "R: recall; perfect: every relevant document is in the top k.\n"
        f"{report.run.documents:,} documents in corpus {report.run.corpus}"
        f"{f', ingested in {seconds:.1f} s' if seconds else ''}.{_engines(report)}"
    )


def _engines(report: Report) -> str:
    """Return a line on the engines that walked, by leg; "" without a walk."""
    legs = [f"{leg.leg} by {' and '.join(sorted(leg.engines))}" for leg in report.legs if leg.engines]
    return f"\nWalked: {', '.join(legs)}." if legs else ""
