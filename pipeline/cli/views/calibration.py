"""The calibration of link.similar_threshold for people: a row a threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from pipeline.cli.views.tables import ruled_table

if TYPE_CHECKING:
    from pipeline.evaluate.calibration import Calibration, Level

_EVERY = 5
"""Hundredths of a cosine between two rows of the table."""

_HEADINGS = ("threshold", "links", "links\na chunk", "linked\nchunks", "groups", "largest\ngroup", "hub\nshare")


def threshold_table(calibration: Calibration) -> Table:
    """Return what each threshold does to links, components and hubs; the suggested row is bold."""
    table = ruled_table(f"{calibration.corpus}: {calibration.chunks:,} chunks", _caption(calibration))
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", vertical="bottom", no_wrap=True)
    table.add_column("")
    for level in _shown(calibration):
        suggested = "suggested" if level.threshold == calibration.suggested else ""
        present = "present" if level is calibration.at(calibration.present) else ""
        notes = ", ".join(filter(None, (suggested, present)))
        table.add_row(*_cells(level), notes, style="bold" if suggested else "")
    return table


def _shown(calibration: Calibration) -> list[Level]:
    always = (calibration.suggested, calibration.at(calibration.present).threshold)
    return [
        level for level in calibration.levels if round(100 * level.threshold) % _EVERY == 0 or level.threshold in always
    ]


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


def _caption(calibration: Calibration) -> str:
    return (
        f"{calibration.reason}\nHub share: of all link ends, those of the 1% of chunks with the most links."
        f"\nTo use it: hoprank relink {calibration.corpus} --set link.similar_threshold={calibration.suggested:g}"
    )
