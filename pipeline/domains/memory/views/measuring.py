"""View of how well memories are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from pipeline.cli.views.tables import plain_table

if TYPE_CHECKING:
    from pipeline.domains.memory.evaluate import MemoryReport


def report_view(report: MemoryReport) -> Table:
    """Return a row a ranking, in percent."""
    table = plain_table("ranking", "turns@5", "turns@10", "sessions@5", "sessions@10")
    for leg, measures in report.metrics.items():
        table.add_row(
            leg,
            *(
                f"{100 * measures[name]:.1f}"
                for name in ("turn_recall@5", "turn_recall@10", "session_recall@5", "session_recall@10")
            ),
        )
    table.caption = f"In percent of {report.queries} questions over {report.turns:,} turns."
    return table
