"""The calibration of link.similar_threshold for people: a row a threshold, and a plot by matplotlib."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from pipeline.cli.deferred import figure, report
from pipeline.cli.views.tables import ruled_table
from pipeline.errors import ConfigurationError, ExtraMissing
from pipeline.text.prose import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pipeline.evaluate.calibration import Calibration


_EVERY = 5  # hundredths of a cosine between two rows of the table; chosen by hand, to fit a screen

_COLUMNS = {
    "threshold": ("threshold", ".2f"),
    "links": ("links", ","),
    "links\na chunk": ("degree", ".1f"),
    "linked\nchunks": ("linked", ".1%"),
    "groups": ("components", ","),
    "largest\ngroup": ("largest", ".1%"),
    "hub\nshare": ("hub_share", ".1%"),
}
"""The field of a level and its format, by heading."""


def threshold_table(calibration: Calibration) -> Table:
    """Return what each threshold does to links, components and hubs; the suggested row is bold."""
    caption = (
        f"{calibration.reason}\nHub share: of all link ends, those of the 1% of chunks with the most links."
        f"\nTo use it: hoprank relink {calibration.corpus} --set link.similar_threshold={calibration.suggested:g}"
    )
    table = ruled_table(f"{calibration.corpus}: {counted(calibration.chunks, 'chunk')}", caption)
    for heading in _COLUMNS:
        table.add_column(heading, justify="right", vertical="bottom", no_wrap=True)
    table.add_column("")
    present = calibration.at(calibration.present).threshold
    for level in calibration.levels:
        notes = {"suggested": calibration.suggested, "present": present}
        note = ", ".join(name for name, threshold in notes.items() if threshold == level.threshold)
        if note or round(100 * level.threshold) % _EVERY == 0:
            cells = (format(getattr(level, field), form) for field, form in _COLUMNS.values())
            table.add_row(*cells, note, style="bold" if level.threshold == calibration.suggested else "")
    return table


_GREY, _RED = "0.55", "#b03030"


def check_plot(path: Path) -> None:
    """Raise ConfigurationError unless a plot can be drawn and written to ``path``; call it before the work."""
    if path.suffix.lower() not in (".png", ".svg"):
        raise ConfigurationError(f"{path} can't be drawn: it ends with neither .png nor .svg.", "Name it so.")
    report.check_json_path(path)
    if find_spec("matplotlib") is None:
        raise ExtraMissing.of("plot", "No module named 'matplotlib'")


def plot_calibration(calibration: Calibration, path: Path) -> None:
    """Draw what each threshold does to links, components and hubs, as .png or .svg; an existing file is replaced.

    Raises ConfigurationError if it can't be written.
    """
    thresholds = [level.threshold for level in calibration.levels]
    plot = figure.Figure(figsize=(7.5, 6.0), layout="constrained")
    shares, degrees = plot.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    for values, label, style in (
        ([level.linked for level in calibration.levels], "chunks with a link", "-"),
        ([level.largest for level in calibration.levels], "chunks in the largest component", "--"),
        ([level.hub_share for level in calibration.levels], "links of the 1% with the most", ":"),
    ):
        shares.plot(thresholds, [100 * value for value in values], style, color="black", label=label)
    shares.set(ylim=(0, 100), ylabel="percent", title=f"{calibration.corpus}: {calibration.chunks:,} chunks")
    degrees.plot(thresholds, [level.degree for level in calibration.levels], color="black")
    degrees.set(xlabel="cosine threshold", ylabel="links a chunk", ylim=(0, None))
    for axes in (shares, degrees):
        _mark(axes, calibration)
    shares.legend(framealpha=1.0, edgecolor="none", fontsize="small")
    try:
        plot.savefig(path, dpi=150)
    except OSError as error:
        raise ConfigurationError(f"{path} can't be written: {error.strerror}.", "Name another file.") from error


def _mark(axes: Axes, calibration: Calibration) -> None:
    for at, label, color in (
        (calibration.chance, f"chance {calibration.chance:.2f}", _GREY),
        (calibration.present, f"present {calibration.present:.2f}", "black"),
        (calibration.suggested, f"suggested {calibration.suggested:.2f}", _RED),
    ):
        axes.axvline(at, color=color, linewidth=1, label=label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0)
