"""Create a note for an agent, and store it so that syncs keep it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.domains.vault.agent_notes import PresentNotes, VaultFolder, compose, new_key, read_created, store_notes
from pipeline.domains.vault.build import created_document, stored_document
from pipeline.domains.vault.link import link_line, section_of
from pipeline.domains.vault.links import NoteResolver, folded, names_of
from pipeline.domains.vault.note import Note, Scope
from pipeline.domains.vault.requests import CreatedNode, CreateKnowledgeNode
from pipeline.domains.vault.stored import OpenVault, StoredNote
from pipeline.errors import CorpusError, InputError
from pipeline.records import Document


def create_note(vault: OpenVault, request: CreateKnowledgeNode, folder: Path | None) -> CreatedNode:
    """Create a note; see :meth:`pipeline.domains.vault.api.Vault.create`."""
    scope = _scope(vault.scope, request)
    place = VaultFolder.read(vault, folder)

    def decide(stored: Mapping[str, StoredNote]) -> tuple[list[Document], CreatedNode]:
        present = PresentNotes.of(stored.values())
        _refuse_known(request.title, [*present.within(vault.scope), *place.within(vault.scope)])
        note = _composed(request, scope, present, vault.scope, {*stored, *place.keys})
        note = place.create(note) if folder else note
        present = present.with_note(note)
        resolver = present.resolver(place.attachments)
        documents = [stored_document(note, resolver), *_newly_resolved(stored, present, note)]
        return documents, _created(note, documents[0], present.within(vault.scope))

    return store_notes(vault, decide)


def _scope(scope: Scope, request: CreateKnowledgeNode) -> Scope:
    """Return whose note a new note is; raises InputError if it were to leave the scope."""
    for name in ("skill", "agent"):
        has, wanted = getattr(scope, name), getattr(request, name)
        if has and wanted not in ("", has):
            raise InputError(f"The {name} is {wanted!r}, but this vault is that of {has!r}.", f"Leave {name} out.")
    return Scope(scope.user, request.skill or scope.skill, request.agent or scope.agent)


def _refuse_known(title: str, notes: Sequence[Note]) -> None:
    for note in notes:
        if folded(title) in names_of(note):
            raise CorpusError(
                f"The note {note.key} is already called {title!r}.",
                "Give another title, or link it: link_knowledge_nodes, hoprank vault link.",
            )


def _composed(request: CreateKnowledgeNode, scope: Scope, present: PresentNotes, seen: Scope, taken: set[str]) -> Note:
    """Return the new note as it is kept in the corpus."""
    fields: dict[str, object] = {
        "title": request.title,
        "description": request.description,
        "type": request.type.value,
        "tags": list(request.tags),
        **scope._asdict(),
    }
    note = read_created(new_key(request.title, scope, taken), compose(fields, request.content))
    if not request.links:
        return note
    within = present.within(seen)
    names, resolver = NoteResolver(within), present.with_note(note).resolver()
    lines = [link_line(link, _target(link.target, within, names), note.key, resolver) for link in request.links]
    return read_created(note.key, compose(fields, request.content + section_of(lines)))


def _target(name: str, notes: Sequence[Note], names: NoteResolver) -> Note:
    """Return the note with a name; raises CorpusError if none or several have it."""
    found = names.resolve(name, "")
    for note in notes:
        if note.key == found.key and not found.others:
            return note
    known = f"{1 + len(found.others)} notes are" if found.others else "No note is"
    raise CorpusError(f"{known} called {name!r}.", "Give the path of one note as the link's target.")


def _newly_resolved(stored: Mapping[str, StoredNote], present: PresentNotes, new: Note) -> list[Document]:
    """Return the created notes with links that lead to nothing yet, and now to the new note."""
    resolver = present.resolver()
    return [
        created_document(note, resolver)
        for note in present.created
        if note.key in stored
        and any(resolver.resolve(target, note.key).key == new.key for target in stored[note.key].unresolved)
    ]


def _created(note: Note, document: Document, within: Sequence[Note]) -> CreatedNode:
    seen = {one.key for one in within}
    targets = dict.fromkeys(link.target.removeprefix("/") for link in document.links)
    unresolved = document.metadata.get("unresolved", ())
    return CreatedNode(
        key=note.key,
        title=note.title,
        description=note.description,
        type=note.type,
        links=tuple(key for key in targets if key in seen),
        unresolved=tuple(map(str, unresolved)) if isinstance(unresolved, list) else (),
        path=note.path,
    )
