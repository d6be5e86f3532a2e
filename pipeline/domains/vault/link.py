"""Link two notes for an agent, in the source's text."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from pipeline.domains.vault.create import (
    SECTION,
    PresentNotes,
    create_in,
    extend_in,
    link_line,
    note_in,
    open_folder,
    section_of,
    store_notes,
    touched,
)
from pipeline.domains.vault.edits import Edit, edited
from pipeline.domains.vault.links import NoteResolver, document_of, folded
from pipeline.domains.vault.note import Note
from pipeline.domains.vault.requests import LinkedNodes, LinkKnowledgeNodes, NewLink
from pipeline.domains.vault.sources import read_note, reread
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
    files = open_folder(vault, folder)

    def decide(stored: Mapping[str, Note]) -> tuple[list[Document], LinkedNodes]:
        if lost := {start.key, end.key} - stored.keys():
            raise CorpusError(f"The note {min(lost)!r} was removed meanwhile.", "Name another note.")
        present = PresentNotes.of(stored.values())
        created = {note.key: note for note in present.created}
        before = created.get(start.key) or note_in(files, stored[start.key])
        present = present.with_note(before)
        after = _linked(before, end.key, request, present, files.attachments)
        if after is not before and folder:
            after = create_in(files, after) if before.key in created else extend_in(files, before, after)
        linked = {"source": start.key, "target": end.key, "relation": request.relation, "path": after.path}
        resolver = present.with_note(after).resolver(files.attachments)
        documents = [] if after is before else [document_of(after, resolver)]
        return documents, LinkedNodes(**linked, created=after is not before)

    return store_notes(vault, decide)


def _linked(
    before: Note, target: str, request: LinkKnowledgeNodes, present: PresentNotes, attachments: Iterable[str]
) -> Note:
    """Return the note with the link, or the same note if it has it. Raises SourceError if no link can be added."""
    resolver = present.resolver(attachments)
    if _has_link(before, target, request.relation, resolver):
        return before
    notes = {note.key: note for note in (*present.folder, *present.created)}
    new = NewLink(target=target, relation=request.relation, context=request.context)
    edit = _appended(before, link_line(new, notes[target], before.key, resolver))
    text = edited(before.text, [edit])
    after = reread(before, text) if before.path else read_note(before.key, touched(text, before.body_start))
    if not _has_link(after, target, request.relation, resolver):
        raise SourceError(f"A link at the end of {before.key!r} would be none.", "Close the code or comment there.")
    return after


def _appended(note: Note, line: str) -> Edit:
    """Return the edit that adds a link's line to the last section of a note, which is made if it is missing."""
    tail = note.text.rstrip()
    headings = [note.text[block.start : block.end] for block in note.blocks if block.kind is BlockKind.HEADING]
    if not headings or folded(heading_text(headings[-1])) != folded(SECTION):
        before = section_of([line]).removeprefix("" if tail else "\n\n")
        return Edit(len(tail), len(note.text), f"{before}\n")
    follows_item = tail.rsplit("\n", 1)[-1].lstrip().startswith("- ")
    return Edit(len(tail), len(note.text), f"{'' if follows_item else chr(10)}\n{line}\n")


def _has_link(note: Note, target: str, relation: str, resolver: NoteResolver) -> bool:
    return any(
        resolver.resolve(link.target, note.key).key == target
        and (not relation or folded(link.relation) == folded(relation))
        for link in note.links
    )
