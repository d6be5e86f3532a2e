"""An ablation for people: a row a part of the retrieval, and what it adds to each measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import ruled_table

if TYPE_CHECKING:
    from pipeline.evaluate.ablation import Ablation, Worth
    from pipeline.evaluate.significance import Interval

_SHOWN = ("recall@5", "ndcg@10", "perfect@8")


def ablation_table(ablation: Ablation) -> Table:
    """Return what each part adds, in percentage points with 95% intervals; bold if the interval excludes 0."""
    table = ruled_table(", ".join(ablation.querysets), _caption(ablation))
    table.add_column("part", overflow="fold")
    table.add_column("kind", no_wrap=True)
    for name in _SHOWN:
        table.add_column(name, justify="right", no_wrap=True)
    for heading in ("gain", "lose"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_row("all parts", "", *(f"{100 * ablation.whole[name]:.1f}" for name in _SHOWN), "", "", end_section=True)
    for worth in ablation.parts:
        table.add_row(*_cells(worth))
    return table


def _cells(worth: Worth) -> list[Text]:
    counts = [Text(f"{count:,}") for count in (worth.gains, worth.losses)]
    return [Text(worth.part), Text(worth.kind), *(_points(worth.adds[name]) for name in _SHOWN), *counts]


def _points(interval: Interval) -> Text:
    points = f"{100 * interval.mean:+.1f} ({100 * interval.low:+.1f} to {100 * interval.high:+.1f})"
    return Text(points, style="" if interval.is_noise else "bold")


def _caption(ablation: Ablation) -> str:
    pooled = ", each set weighing the same" if len(ablation.querysets) > 1 else ""
    noise = [worth.part for worth in ablation.parts if all(worth.adds[name].is_noise for name in _SHOWN)]
    harm = [worth.part for worth in ablation.parts if any(worth.adds[name].high < 0 for name in _SHOWN)]
    lines = [
        f"What each part adds, in points of percent with its 95% interval; {ablation.queries:,} queries{pooled}.",
        "Gain, lose: queries that some measure is better or worse for by the part.",
    ]
    if noise:
        lines.append(f"May add nothing: {', '.join(noise)}.")
    if harm:
        lines.append(f"Does harm: {', '.join(harm)}.")
    return "\n".join(lines)
