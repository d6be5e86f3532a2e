"""``hoprank compare``: two evaluations of one queryset, query by query."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.cli.options import Json
from pipeline.cli.views.frame import frame
from pipeline.cli.views.output import print_json, show
from pipeline.errors import ConfigurationError
from pipeline.retrieve.legs import Leg

if TYPE_CHECKING:
    from pipeline.evaluate.compare import Comparison

_FILE = "A report that `hoprank evaluate --json` wrote"


def compare(
    before: Annotated[Path, typer.Argument(metavar="A.json", help=f"{_FILE}: the one to compare with.")],
    after: Annotated[Path, typer.Argument(metavar="B.json", help=f"{_FILE}, of the same queryset.")],
    leg: Annotated[Leg, typer.Option("--leg", help="The leg of B, and of A if no other is given.")] = Leg.WHOLE,
    before_leg: Annotated[
        Leg | None, typer.Option("--before-leg", help="Another leg of A.", show_default=False)
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", metavar="NAME", help="The measure whose wins and losses are listed.")
    ] = "recall@5",
    most: Annotated[int, typer.Option("--show", min=0, help="How many wins and losses to list.")] = 10,
    as_json: Json = False,
) -> None:
    """Compare two evaluations: B less A with 95% confidence intervals, and the queries that gained and lost.

    The intervals are those of a paired bootstrap over queries; one that holds 0 may be chance.
    """
    from pipeline.evaluate.compare import compare, read_evaluated
    from pipeline.evaluate.measures import MEASURES

    if measure not in MEASURES:
        raise ConfigurationError(f"There is no measure {measure!r}.", f"Use one of {', '.join(MEASURES)}.")
    comparison = compare(read_evaluated(before), read_evaluated(after), leg, before_leg)
    if as_json:
        print_json(comparison.to_json())
    else:
        show(_table(comparison), *_listed(comparison, measure, most))


def _table(comparison: Comparison) -> Table:
    table = frame(comparison.queryset, _caption(comparison))
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


def _listed(comparison: Comparison, measure: str, most: int) -> list[RenderableType]:
    changes = comparison.changes[measure]
    losses = [(query, change) for query, change in changes.items() if change < 0]
    wins = [(query, change) for query, change in reversed(list(changes.items())) if change > 0]
    return [*_side("Losses", losses, measure, most), *_side("Wins", wins, measure, most)]


def _side(name: str, changes: list[tuple[str, float]], measure: str, most: int) -> Iterable[RenderableType]:
    if not (changes and most):
        return
    yield Text(f"\n{name} in {measure}: {len(changes):,}", style="bold")
    for query, change in islice(changes, most):
        yield Text(f"  {100 * change:+6.1f}  {query}")
    if len(changes) > most:
        yield Text(f"  ... and {len(changes) - most:,} more")
