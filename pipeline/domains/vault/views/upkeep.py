"""The upkeep of a vault, for people: findings, unlinked mentions and renames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import plain_table, property_grid

if TYPE_CHECKING:
    from pipeline.domains.vault.upkeep.check import BrokenLink, Findings, MissingPlace
    from pipeline.domains.vault.upkeep.files import Conflict, Written
    from pipeline.domains.vault.upkeep.mentions import Mention
    from pipeline.domains.vault.upkeep.rename import Rename, Renamed


def findings_view(findings: Findings) -> Table:
    """Return the findings of a check, a row a kind; places are given as ``note:line``."""
    ambiguous = [
        f"{link.note}:{link.line}: {link.target} -> {link.chosen}, or {', '.join(link.others)}"
        for link in findings.ambiguous
    ]
    duplicates = [f"{same.title}: {', '.join(same.notes)}" for same in findings.duplicate_titles]
    return property_grid(
        [
            ("notes", f"{findings.notes:,} checked"),
            ("broken links", _counted(_broken(findings.broken))),
            ("ambiguous links", _counted(ambiguous)),
            ("missing headings", _counted(_places(findings.missing_headings))),
            ("missing blocks", _counted(_places(findings.missing_blocks))),
            ("duplicate titles", _counted(duplicates)),
            ("orphans", _counted(findings.orphans)),
            ("broken, but in code", _counted(_broken(findings.broken_in_code))),
            ("skipped", _counted([f"{skipped.source} {skipped.reason}" for skipped in findings.skipped])),
        ]
    )


def mentions_view(mentions: Sequence[Mention]) -> Table:
    """Return a row a mention: its place, the note that it names, and the line around it."""
    table = plain_table("place", "names", "line")
    for mention in mentions:
        table.add_row(Text(f"{mention.note}:{mention.line}"), Text(mention.target), Text(mention.context))
    return table


def written_view(written: Written) -> Table:
    """Return how many links were written, into which notes, and what was left out."""
    notes = "\n".join(written.changed) or "none"
    return property_grid([("links", f"{written.edits:,} written"), ("changed", notes), *_conflicts(written.conflicts)])


def plan_view(rename: Rename) -> Table:
    """Return the move of a rename and the links that it rewrites."""
    rewrites = [f"{link.note}:{link.line}: {link.before} -> {link.after}" for link in rename.rewrites]
    return property_grid([("note", f"{rename.old} -> {rename.new}"), ("links", _counted(rewrites)), *_by_hand(rename)])


def renamed_view(rename: Rename, renamed: Renamed) -> Table:
    """Return what a rename did: the move, the changed notes, and what was left out."""
    moved = f"{rename.old} -> {rename.new}" if renamed.moved else f"{rename.old} stays: nothing was changed"
    rows = [("note", moved), ("changed", _counted(renamed.changed))]
    return property_grid([*rows, *_conflicts(renamed.conflicts), *_by_hand(rename)])


def _by_hand(rename: Rename) -> Iterable[tuple[str, str]]:
    """Yield the links that a rename can't rewrite."""
    if rename.left:
        yield "by hand", _counted([f"{link.note}:{link.line}: {link.target}" for link in rename.left])
    if rename.skipped:
        yield "not read", _counted([f"{skipped.source} {skipped.reason}" for skipped in rename.skipped])


def _conflicts(conflicts: Sequence[Conflict]) -> Iterable[tuple[str, str]]:
    if conflicts:
        yield "left out", _counted([f"{conflict.note} {conflict.reason}" for conflict in conflicts])


def _broken(links: Iterable[BrokenLink]) -> list[str]:
    return [
        f"{link.note}:{link.line}: {link.target}" + (f" (did it mean {link.nearest}?)" if link.nearest else "")
        for link in links
    ]


def _places(places: Iterable[MissingPlace]) -> list[str]:
    return [f"{place.note}:{place.line}: {place.target}#{place.fragment}" for place in places]


def _counted(lines: Sequence[str]) -> str:
    return "\n".join([f"{len(lines):,}", *lines]) if lines else "none"
