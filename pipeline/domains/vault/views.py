"""The upkeep of a vault, for people: findings, unlinked mentions and renames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.cli.views.summary import plan_table, summary_table
from pipeline.cli.views.tables import captioned, measures_table, plain_table, property_grid
from pipeline.text.prose import counted

_FIELD = re.compile(r"(?<=\w)::(?=\s)")  # of Dataview, ``extends:: Alpha``

if TYPE_CHECKING:
    from pipeline.domains.vault.api import VaultSync
    from pipeline.domains.vault.check import BrokenLink, Findings, MissingPlace
    from pipeline.domains.vault.context import Knowledge
    from pipeline.domains.vault.edits import Conflict, Written
    from pipeline.domains.vault.evaluate import VaultReport
    from pipeline.domains.vault.maps import IndexNode
    from pipeline.domains.vault.mentions import Mention
    from pipeline.domains.vault.related import RelatedNote
    from pipeline.domains.vault.rename import Rename, Renamed
    from pipeline.domains.vault.requests import CreatedNode, DeletedNode, LinkedNodes


NAMES = {"corpus": "vault", "documents": "notes"}
"""Words of a vault for those of its corpus."""


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
            ("warnings", _counted([f"{warned.source} {warned.warning}" for warned in findings.warnings])),
        ]
    )


def mentions_view(mentions: Sequence[Mention]) -> Table:
    """Return a row a mention: its place, the note that it names, and the line around it."""
    rows = ((f"{mention.note}:{mention.line}", mention.target, mention.context) for mention in mentions)
    return plain_table("place", "names", "line", rows=rows)


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


def sync_view(done: VaultSync) -> list[RenderableType]:
    """Return what a sync did or would do, and the links of the vault."""
    links = done.links
    others = (
        (links.unresolved, "to no note (hoprank vault check lists them)"),
        (links.attachments, "to other files"),
        (links.ambiguous, "by a name of several notes"),
        (links.in_code, "shown as code, which link nothing"),
    )
    lines = [f"{links.resolved:,} of {links.written:,} name a note", *(f"{n:,} {what}" for n, what in others if n)]
    counts = property_grid([("links", "\n".join(lines))])
    if done.synced.done is None:
        return [plan_table(done.synced.plan, NAMES), counts]
    return ["", summary_table(done.synced.done, NAMES, done.synced.plan), counts] if done.synced.plan else [counts]


def report_view(report: VaultReport) -> RenderableType:
    """Return a row a ranking with its measures, in percent."""
    names = {"vector": "meaning alone", "links": "links alone", "hoprank": "both together"}
    caption = (
        f"In percent; {counted(report.notes, 'note')}, {report.hidden_pairs:,} of {report.linked_pairs:,} linked pairs"
        f" hidden (seed {report.seed}), {counted(report.queries, 'note')} asked for."
    )
    return captioned(measures_table(report.metrics, names=names), caption)


def related_view(notes: Sequence[RelatedNote]) -> Table:
    """Return related notes, best first, each with its path, its cosine, its share of the walk, and if it is linked."""
    rows = (
        (one.title, one.key, f"{one.cosine:.2f}", f"{one.visits:.4f}", "yes" if one.linked else "") for one in notes
    )
    return plain_table("note", "path", "cosine", "visits", "linked", rows=rows, named=True)


def why_view(knowledge: Knowledge) -> Table:
    """Return why each note was chosen, with inline fields as text."""
    rows = ((note.title, f"{note.score:.2f}", _FIELD.sub(":", "; ".join(note.why))) for note in knowledge.notes)
    return plain_table("note", "score", "why", rows=rows, named=True)


def written_note_view(note: CreatedNode, done: str = "created", *, version: bool = False) -> Table:
    """Return the path of a note that was written, its links, those that lead to no note, and its ``version``."""
    rows = [(done, f"{note.key}{' (a file)' if note.path else ''}"), ("links to", "\n".join(note.links) or "no note")]
    rows += [("unresolved", "\n".join(note.unresolved))] if note.unresolved else []
    return property_grid([*rows, *([("version", note.version)] if version else [])])


def deleted_view(note: DeletedNode) -> Table:
    """Return the path of a deleted note, and the notes that link to it."""
    done, sources = "deleted" if note.deleted else "to delete", _counted(note.linked_from)
    return property_grid([(done, f"{note.key}{' (a file)' if note.path else ''}"), ("linked from", sources)])


def linked_view(linked: LinkedNodes) -> Table:
    """Return a new link, or that it was there before."""
    arrow = f" -[{linked.relation}]-> " if linked.relation else " -> "
    return property_grid([("linked" if linked.created else "linked before", f"{linked.source}{arrow}{linked.target}")])


def index_view(index: IndexNode) -> list[RenderableType]:
    """Return a table a topic: its notes with their descriptions."""
    parts: list[RenderableType] = []
    for topic in index.topics:
        parts.append(Text(topic.name, style="bold"))
        table = Table.grid(padding=(0, 2))
        for note in topic.notes:
            table.add_row(Text(f"  {note.title}"), Text(note.description))
        parts.append(table)
    return parts
