"""The outcome of tuning for people: each queryset by hybrid and by the whole, and how often names were right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pipeline.cli.deferred import measures
from pipeline.cli.views.tables import ruled_table

if TYPE_CHECKING:
    from pipeline.evaluate.tuning.tune import Tuned

_SHOWN = ("recall@2", "recall@5", "recall@10", "perfect@8", "ndcg@10")
_JUDGED_BY = "recall@5"


def tune_table(tuned: Tuned) -> Table:
    """Return each queryset's measures in percent; the rows to judge by are those that learned from other sets."""
    table = ruled_table("What is learned adds to hybrid", _caption(tuned))
    table.add_column("queryset", overflow="fold")
    table.add_column("learned from", no_wrap=True)
    for name in _SHOWN:
        table.add_column(name, justify="right", no_wrap=True)
    for judged in tuned.judged:
        results = {
            "(hybrid)": judged.hybrid,
            "other kinds": judged.of_other_kinds,
            "other sets": judged.left_out,
            "all sets": judged.shipped,
        }
        for learned_from, by_query in results.items():
            if by_query:
                means = measures.mean_measures(by_query)
                cells = [f"{100 * means[name]:.1f}" for name in _SHOWN]
                table.add_row(Text(judged.dataset), learned_from, *cells, end_section=learned_from == "all sets")
    return table


def calibration_table(tuned: Tuned) -> Table:
    """Return, by confidence, how often names led to a relevant document in sets left out of the learning."""
    table = ruled_table("Names in questions of sets left out")
    table.add_column("confidence", no_wrap=True)
    table.add_column("names", justify="right")
    table.add_column("lead to a relevant document", justify="right")
    for row in tuned.calibration:
        share = f"{100 * row.leads:.0f}%" if row.count else "-"
        table.add_row(f"{row.low:.2f} to {row.high:.2f}", f"{row.count:,}", share)
    return table


def _caption(tuned: Tuned) -> str:
    gain = tuned.gain(_JUDGED_BY)
    verdict = "may be noise" if gain.is_noise else "is no noise"
    return (
        f"{_JUDGED_BY} on sets left out, against hybrid: {100 * gain.mean:+.1f} points"
        f" (95% interval {100 * gain.low:+.1f} to {100 * gain.high:+.1f}), which {verdict}."
    )
