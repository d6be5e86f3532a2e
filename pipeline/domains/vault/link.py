"""Link two notes for an agent, in the source's text."""

from collections.abc import Mapping
from pathlib import Path

from pipeline.domains.vault.create import (
    SECTION,
    PresentNotes,
    VaultFolder,
    link_line,
    read_created,
    section_of,
    store_notes,
    touched,
)
from pipeline.domains.vault.edits import Edit, edited
from pipeline.domains.vault.links import NoteResolver, document_of, folded
from pipeline.domains.vault.note import Note
from pipeline.domains.vault.requests import LinkedNodes, LinkKnowledgeNodes, NewLink
from pipeline.domains.vault.sources import reread
from pipeline.domains.vault.stored import OpenVault
from pipeline.errors import CorpusError, SourceError
from pipeline.records import BlockKind, Document
from pipeline.text.outline import heading_text


def link_notes(vault: OpenVault, request: LinkKnowledgeNodes, folder: Path | None) -> LinkedNodes:
    """Link a note to another one; see :meth:`pipeline.domains.vault.api.Vault.link`."""
    start, end = vault.note(request.source), vault.note(request.target)
    if start.key == end.key:
        raise CorpusError(
            f"{request.source!r} and {request.target!r} are the same note, {start.key}.", "Name two notes."
        )
    if folder is None and not start.original:
        raise SourceError(
            f"{start.key!r} is a note of the vault's folder: its links are those of its file.",
            "Give the folder too: folder=Path(DIR), or --folder DIR.",
        )
    place = VaultFolder.read(vault, folder)

    def decide(stored: Mapping[str, Note]) -> tuple[list[Document], LinkedNodes]:
        if lost := {start.key, end.key} - stored.keys():
            raise CorpusError(f"The note {min(lost)!r} was removed meanwhile.", "Name another note.")
        present = PresentNotes.of(stored.values())
        created = {note.key: note for note in present.created}
        before = created.get(start.key) or place.note(stored[start.key])
        present = present.with_note(before)
        after = _linked(before, end.key, request, present, place)
        if after is not before and folder:
            after = place.create(after) if before.key in created else place.extend(before, after)
        linked = {"source": start.key, "target": end.key, "relation": request.relation, "path": after.path}
        result = LinkedNodes(**linked, created=after is not before)
        if after is before:
            return [], result
        return [document_of(after, present.with_note(after).resolver(place.folder.attachments))], result

    return store_notes(vault, decide)


def _linked(before: Note, target: str, request: LinkKnowledgeNodes, present: PresentNotes, place: VaultFolder) -> Note:
    """Return the note with the link, or the same note if it has it. Raises SourceError if no link can be added."""
    resolver = present.resolver(place.folder.attachments)
    if has_link(before, target, request.relation, resolver):
        return before
    notes = {note.key: note for note in (*present.folder, *present.created)}
    new = NewLink(target=target, relation=request.relation, context=request.context)
    edit = appended(before, link_line(new, notes[target], before.key, resolver))
    text = edited(before.text, [edit])
    after = reread(before, text) if before.path else read_created(before.key, touched(text, before.body_start))
    if not has_link(after, target, request.relation, resolver):
        raise SourceError(f"A link at the end of {before.key!r} would be none.", "Close the code or comment there.")
    return after


def appended(note: Note, line: str) -> Edit:
    """Return the edit that adds a link's line to the last section of a note, which is made if it is missing."""
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
