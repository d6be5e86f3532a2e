"""Show to people what was learned: a queryset a row group, without the scorer, left out and shipped."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from pipeline.evaluate.frame import frame
from pipeline.evaluate.measures import mean_measures
from pipeline.evaluate.tune import Tuned

_SHOWN = ("recall@2", "recall@5", "recall@10", "perfect@8", "ndcg@10")
_JUDGED_BY = "recall@5"


def tune_table(tuned: Tuned) -> Table:
    """Return every queryset's measures in percent; "left out" is by what the other sets teach, and is what counts."""
    table = frame("What the scorer adds", _caption(tuned))
    table.add_column("queryset", overflow="fold")
    table.add_column("scorer", no_wrap=True)
    for name in _SHOWN:
        table.add_column(name, justify="right", no_wrap=True)
    for judged in tuned.judged:
        ways = {"none": judged.without, "left out": judged.left_out, "shipped": judged.shipped}
        for way, measures in ways.items():
            means = mean_measures(measures)
            cells = [f"{100 * means[name]:.1f}" for name in _SHOWN]
            table.add_row(Text(judged.queryset), way, *cells, end_section=way == "shipped")
    return table


def _caption(tuned: Tuned) -> str:
    gain = tuned.gain(_JUDGED_BY)
    verdict = "may be noise" if gain.is_noise else "is no noise"
    return (
        f"{_JUDGED_BY} on sets left out: {100 * gain.mean:+.1f} points"
        f" (95% interval {100 * gain.low:+.1f} to {100 * gain.high:+.1f}), which {verdict}."
        f" Its ranking weighs {tuned.learned.factor:g} times the walk's."
    )
