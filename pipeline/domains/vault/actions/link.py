"""Link two notes for an agent, in the source's text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pipeline.domains.vault.actions.action_models import LinkedNodes, LinkKnowledgeNodes, NewLink, checked
from pipeline.domains.vault.actions.created import PresentNotes, is_created, read_created, touched
from pipeline.domains.vault.actions.new_links import appended, has_link, link_line
from pipeline.domains.vault.actions.store import store_notes
from pipeline.domains.vault.actions.write_back import VaultFolder
from pipeline.domains.vault.build import stored_document
from pipeline.domains.vault.edits import edited
from pipeline.domains.vault.note import Note
from pipeline.domains.vault.sources import reread
from pipeline.domains.vault.stored import OpenVault, StoredNote
from pipeline.errors import CorpusError, SourceError
from pipeline.records import Document


def link_knowledge_nodes(
    vault: OpenVault, source: str, target: str, relation: str = "", context: str = "", *, folder: Path | None = None
) -> LinkedNodes:
    """Link a note of the vault's scope to another one; nothing changes if it has such a link.

    The link is a line in the last section of the source. A note of the folder gets it in its file, and needs
    ``folder``, the vault's folder; a created note becomes a file if ``folder`` is given. ``context`` is a sentence that
    says why the notes belong together; it may hold the link. Raises CorpusError if there is no such note or if both are
    the same, SourceError if the file can't be written.
    """
    request = checked(LinkKnowledgeNodes, source=source, target=target, relation=relation, context=context)
    start, end = vault.note(request.source), vault.note(request.target)
    if start.key == end.key:
        raise CorpusError(f"{source!r} and {target!r} are the same note, {start.key}.", "Name two notes.")
    if folder is None and not is_created(start):
        raise SourceError(
            f"{start.key!r} is a note of the vault's folder: its links are those of its file.",
            "Give the folder too: folder=Path(DIR), or --folder DIR.",
        )
    place = VaultFolder.read(vault, folder)

    def decide(stored: Mapping[str, StoredNote]) -> tuple[list[Document], LinkedNodes]:
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
        return [stored_document(after, present.with_note(after).resolver(place.attachments))], result

    return store_notes(vault, decide)


def _linked(before: Note, target: str, request: LinkKnowledgeNodes, present: PresentNotes, place: VaultFolder) -> Note:
    """Return the note with the link; the same note if it has the link. Raises SourceError if no link can be added."""
    resolver = present.resolver(place.attachments)
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
