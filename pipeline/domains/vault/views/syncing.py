"""Syncs and measurements of a vault, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from pipeline.cli.views.tables import plain_table, property_grid

if TYPE_CHECKING:
    from pipeline.domains.vault.evaluate import VaultReport
    from pipeline.domains.vault.sync import LinkCounts

_NAMES = {"vector": "meaning alone", "links": "links alone", "hoprank": "both together"}


def links_view(links: LinkCounts) -> Table:
    """Return how many links lead to notes, and what the others are."""
    others = (
        (links.unresolved, "lead to no note (hoprank vault check lists them)"),
        (links.attachments, "lead to other files"),
        (links.ambiguous, "have a name that several notes have"),
        (links.in_code, "are shown as code, and link nothing"),
    )
    lines = [f"{links.resolved:,} of {links.written:,} name a note", *(f"{n:,} {what}" for n, what in others if n)]
    return property_grid([("links", "\n".join(lines))])


def report_view(report: VaultReport) -> Table:
    """Return a row a ranking with its measures, in percent."""
    names = next(iter(report.metrics.values()))
    table = plain_table("ranking", *names)
    for ranking, measures in report.metrics.items():
        table.add_row(_NAMES[ranking], *(f"{100 * measures[name]:.1f}" for name in names))
    table.caption = (
        f"{report.notes:,} notes, {report.hidden_pairs:,} of {report.linked_pairs:,} linked pairs hidden (seed"
        f" {report.seed}), {report.queries:,} notes asked for"
    )
    return table
