"""Show to people what was learned: a queryset a row group, hybrid beside the whole; and how sure names were."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.frame import frame
from pipeline.evaluate.measures import mean_measures
from pipeline.evaluate.tuning.tune import Tuned

_SHOWN = ("recall@2", "recall@5", "recall@10", "perfect@8", "ndcg@10")
_JUDGED_BY = "recall@5"


def tune_table(tuned: Tuned) -> Table:
    """Return every queryset's measures in percent; "left out" is by what the other sets teach, and is what counts."""
    table = frame("What is learned adds to hybrid", _caption(tuned))
    table.add_column("queryset", overflow="fold")
    table.add_column("learned from", no_wrap=True)
    for name in _SHOWN:
        table.add_column(name, justify="right", no_wrap=True)
    for judged in tuned.judged:
        ways = {
            "(hybrid)": judged.hybrid,
            "other kinds": judged.of_other_kinds,
            "other sets": judged.left_out,
            "all sets": judged.shipped,
        }
        for way, measures in ways.items():
            if measures:
                means = mean_measures(measures)
                cells = [f"{100 * means[name]:.1f}" for name in _SHOWN]
                table.add_row(Text(judged.dataset), way, *cells, end_section=way == "all sets")
    return table


def calibration_table(tuned: Tuned) -> Table:
    """Return how often names led to a relevant document, by their confidence, in sets left out."""
    table = frame("Names in questions of sets left out", "")
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
