"""The comparison of two evaluations for people: a row a measure, then the queries that lost and won."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import ruled_table

if TYPE_CHECKING:
    from pipeline.evaluate.compare import Comparison


def comparison_views(comparison: Comparison, measure: str, most: int) -> list[RenderableType]:
    """Return the measures of A and B, then at most ``most`` losses and as many wins in ``measure``."""
    changes = comparison.changes[measure]
    losses = [(query, change) for query, change in changes.items() if change < 0]
    wins = [(query, change) for query, change in reversed(list(changes.items())) if change > 0]
    return [
        _measures_table(comparison),
        *_queries("Losses", losses, measure, most),
        *_queries("Wins", wins, measure, most),
    ]


def _measures_table(comparison: Comparison) -> Table:
    table = ruled_table(comparison.queryset, _caption(comparison))
    table.add_column("measure", no_wrap=True)
    for heading in ("A", "B", "B - A", "95% interval", "wins", "losses", "ties"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in comparison.rows:
        difference = row.difference
        table.add_row(
            row.measure,
            f"{100 * row.before:.1f}",
            f"{100 * row.after:.1f}",
            f"{100 * difference.mean:+.1f}",
            f"{100 * difference.low:+.1f} to {100 * difference.high:+.1f}",
            *(f"{count:,}" for count in (row.wins, row.losses, row.ties)),
            style="" if difference.is_noise else "bold",
        )
    return table


def _caption(comparison: Comparison) -> str:
    left_out = f" ({comparison.left_out:,} that only one of them has are left out)" if comparison.left_out else ""
    chance = [row.measure for row in comparison.rows if row.difference.is_noise]
    return f"A: {comparison.before}\nB: {comparison.after}\nIn percent of {comparison.queries:,} queries{left_out}." + (
        f"\nMay be chance: {', '.join(chance)}." if chance else ""
    )


def _queries(heading: str, changes: list[tuple[str, float]], measure: str, most: int) -> Iterable[RenderableType]:
    if not (changes and most):
        return
    yield Text(f"\n{heading} in {measure}: {len(changes):,}", style="bold")
    for query, change in islice(changes, most):
        yield Text(f"  {100 * change:+6.1f}  {query}")
    if len(changes) > most:
        yield Text(f"  ... and {len(changes) - most:,} more")
