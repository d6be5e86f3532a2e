"""Write new links into notes: a line each, in a last section of the note."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pipeline.domains.vault.actions.action_models import NewLink
from pipeline.domains.vault.edits import Edit
from pipeline.domains.vault.links import NoteResolver, folded, shortest_target
from pipeline.domains.vault.note import Note
from pipeline.errors import InputError
from pipeline.ingest.sources.link_targets import wikilink_target
from pipeline.records import BlockKind
from pipeline.text.outline import heading_text

SECTION = "Related"
"""The heading of the section that holds new links."""

_WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")


def link_line(link: NewLink, target: Note, source: str, resolver: NoteResolver) -> str:
    """Return the list item that links the note with the key ``source`` to ``target``.

    Raises InputError if the context holds a link to another note, or if no wikilink means the target alone.
    """
    relation = f"{link.relation}:: " if link.relation else ""
    names = [wikilink_target(match[1]) or "" for match in _WIKILINK.finditer(link.context)]
    if wrong := [name for name in names if resolver.resolve(name, source).key != target.key]:
        raise InputError(
            f"The context of the link to {target.title!r} has a link to {wrong[0]!r}.",
            "Link one note at a time: leave the brackets out, or make a second link.",
        )
    if names:
        return f"- {relation}{link.context}"
    name = shortest_target(target, source, resolver)
    if name is None:
        raise InputError(
            f"No wikilink means only {target.key!r}.", "Rename the note: hoprank vault rename DIR OLD NEW."
        )
    return f"- {relation}[[{name}]]" + (f": {link.context}" if link.context else "")


def section_of(lines: Iterable[str]) -> str:
    """Return the section that holds new links, empty without any."""
    joined = "\n".join(lines)
    return f"\n\n## {SECTION}\n\n{joined}" if joined else ""


def appended(note: Note, line: str) -> Edit:
    """Return the edit that adds a link's line to the note's last section, which is made unless it is there."""
    tail = note.text.rstrip()
    headings = [block for block in note.blocks if block.kind is BlockKind.HEADING]
    in_section = bool(headings) and folded(heading_text(note.text[headings[-1].start : headings[-1].end])) == folded(
        SECTION
    )
    if not in_section:
        before = section_of([line]).removeprefix("" if tail else "\n\n")
        return Edit(len(tail), len(note.text), f"{before}\n")
    follows_item = tail.rsplit("\n", 1)[-1].lstrip().startswith("- ")
    return Edit(len(tail), len(note.text), f"{'' if follows_item else chr(10)}\n{line}\n")


def has_link(note: Note, target: str, relation: str, resolver: NoteResolver) -> bool:
    """Return whether a note links to the key ``target``; with ``relation`` by a link of that type."""
    return any(
        resolver.resolve(link.target, note.key).key == target
        and (not relation or folded(link.relation) == folded(relation))
        for link in note.links
    )
