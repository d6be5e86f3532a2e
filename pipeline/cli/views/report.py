"""Show an evaluation to people: one table, legs as rows, that fits 100 columns, and mostly 80."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.frame import frame
from pipeline.evaluate.breakdown import COMPARED
from pipeline.evaluate.measures import MEASURES
from pipeline.evaluate.report import WHOLE, LegReport, Report

_COMPARED = ("recall@5", "recall@10", "ndcg@10")
_HEADINGS = {"recall": "R", "mrr": "MRR", "ndcg": "nDCG\n", "perfect": "perfect\n"}


def report_table(report: Report) -> Table:
    """Return ``report`` as a table: measures in percent, latencies in milliseconds, the fused whole below a rule.

    The rule and the row's place, unlike its bold type, also survive a pipe.
    """
    table = frame(report.queryset, _caption(report), padding=0)
    table.add_column("leg", no_wrap=True)
    for name in MEASURES:
        table.add_column(_heading(name), justify="right", vertical="bottom", no_wrap=True, min_width=5)
    for percentile in ("p50", "p95"):
        table.add_column(f"{percentile}\nms", justify="right", no_wrap=True, min_width=5)
    for leg in report.legs:
        if leg.leg == WHOLE:
            table.add_section()
        table.add_row(*_cells(leg), style="bold" if leg.leg == WHOLE else "")
    return table


def breakdown_table(report: Report) -> Table:
    """Return the whole beside hybrid by confidence in the question's names and by type, in percent."""
    table = frame("Where the graph leads", "Strong, some, weak: the confidence in the surest name of the question.")
    table.add_column("questions", no_wrap=True)
    table.add_column("number", justify="right")
    for name in _COMPARED:
        for leg in COMPARED:
            table.add_column(f"{leg}\n{_heading(name)}".replace("\n@", "@"), justify="right", no_wrap=True)
    previous = ""
    for group in report.groups:
        if previous and group.by != previous:
            table.add_section()
        previous = group.by
        cells = [f"{100 * group.metrics[leg][name]:.1f}" for name in _COMPARED for leg in COMPARED]
        table.add_row(Text(f"{group.by}: {group.label}"), f"{group.queries:,}", *cells)
    return table


def _heading(measure: str) -> str:
    name, at, cutoff = measure.partition("@")
    return _HEADINGS[name] + at + cutoff


def _cells(leg: LegReport) -> list[Text]:
    percents = [f"{100 * leg.measures[name]:.1f}" for name in MEASURES]
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
        f"{f', ingested in {seconds:.1f} s' if seconds else ''}."
    )
