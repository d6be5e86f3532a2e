"""``hoprank calibrate``: which cosine should make a link."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from pipeline.cli.connection import client_of
from pipeline.cli.options import Corpus, Json, Set, flags
from pipeline.cli.views.frame import frame
from pipeline.cli.views.output import print_json, show, waiting
from pipeline.settings import load_settings

if TYPE_CHECKING:
    from pipeline.evaluate.calibration import Calibration, Level

_EVERY = 5
"""Hundredths of a cosine between two rows of the table."""


def calibrate(
    corpus: Corpus = "default",
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw it as FILE, .png or .svg (needs matplotlib: hoprank[plot])."),
    ] = None,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Show what each cosine threshold would do to a corpus's links, components and hubs, and suggest one.

    Nothing is changed: to use another threshold, set link.similar_threshold and ingest again.
    """
    from pipeline.cli.views.plot import check_plot, plot_calibration
    from pipeline.flows.evaluate import calibrate

    if plot:
        check_plot(plot)
    given = load_settings(flags(assignments=settings))
    with client_of(given) as client, waiting("Comparing chunks"):
        found = calibrate(client, given, corpus)
    if plot:
        plot_calibration(found, plot)
    if as_json:
        print_json(found.to_json())
    else:
        show(_table(found))


def _table(found: Calibration) -> Table:
    table = frame(f"{found.corpus}: {found.chunks:,} chunks", _caption(found))
    for heading in ("threshold", "links", "links\na chunk", "linked\nchunks", "groups", "largest\ngroup", "hub\nshare"):
        table.add_column(heading, justify="right", vertical="bottom", no_wrap=True)
    table.add_column("")
    for level in _shown(found):
        note = "suggested" if level.threshold == found.suggested else ""
        present = "present" if level is found.at(found.present) else ""
        table.add_row(*_cells(level), ", ".join(filter(None, (note, present))), style="bold" if note else "")
    return table


def _shown(found: Calibration) -> list[Level]:
    wanted = (found.suggested, found.at(found.present).threshold)
    return [level for level in found.levels if round(100 * level.threshold) % _EVERY == 0 or level.threshold in wanted]


def _cells(level: Level) -> list[str]:
    return [
        f"{level.threshold:.2f}",
        f"{level.links:,}",
        f"{level.degree:.1f}",
        f"{level.linked:.1%}",
        f"{level.components:,}",
        f"{level.largest:.1%}",
        f"{level.hub_share:.1%}",
    ]


def _caption(found: Calibration) -> str:
    return (
        f"{found.reason}\nHub share: of all link ends, those of the 1% of chunks with the most links."
        f"\nTo use it: hoprank ingest ... --set link.similar_threshold={found.suggested:g}"
    )
