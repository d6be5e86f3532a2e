"""Update and delete notes that agents made, unless somebody else has changed them since they were read."""

from collections.abc import Mapping
from pathlib import Path

from pipeline.domains.vault.edits import create_in, delete_in, is_same, replace_in
from pipeline.domains.vault.fields import with_fields
from pipeline.domains.vault.links import VaultResolver, document_of
from pipeline.domains.vault.note import Note
from pipeline.domains.vault.requests import DeletedNode, UpdatedNode, UpdateKnowledgeNode
from pipeline.domains.vault.sources import reread
from pipeline.domains.vault.stored import NoteGraph, OpenVault
from pipeline.domains.vault.write import created_in, dated, note_of, open_folder, related_section, store, written
from pipeline.errors import CorpusError, InputError, SourceError
from pipeline.flows.ingest import Decision
from pipeline.ids import digest
from pipeline.ingest.sources.front_matter import split_front_matter
from pipeline.ingest.sources.parsers.markdown import blanked

_READ_AGAIN = "Read the note again, and decide anew."


def update_note(vault: OpenVault, request: UpdateKnowledgeNode, folder: Path | None) -> UpdatedNode:
    """Update a note that an agent made; see :meth:`pipeline.domains.vault.api.Vault.update`."""
    if all(value is None for value in (request.content, request.description, request.type, request.tags)):
        raise InputError("Nothing is given to update.", "Give content, description, type or tags.")
    key, files = vault.note(request.note).key, open_folder(vault, folder)

    def decide(graph: NoteGraph) -> Decision[UpdatedNode]:
        stored = _made_by_agent(vault, graph, key, folder)
        before = note_of(graph, key, files)
        after = _updated(before, request)
        # A note that is as it is wanted may be a file that a run wrote which was killed before it stored the note.
        if after is not before:
            _check_unchanged(stored, before, request.version)
            after = dated(after)
            if folder:
                after = create_in(files, after) if stored.is_created else replace_in(files, before, after)
        notes = {**graph.notes, key: after}
        document = document_of(after, VaultResolver(notes.values(), files.attachments))
        changed = digest(document.text) != stored.version or after.path != stored.path
        result = UpdatedNode(**written(after, document, notes, vault.scope), changed=changed)
        return Decision([document] if changed else [], result)

    return store(vault, decide)


def delete_note(vault: OpenVault, note: str, version: str, folder: Path | None, *, dry_run: bool) -> DeletedNode:
    """Delete a note that an agent made; see :meth:`pipeline.domains.vault.api.Vault.delete`."""
    key, files = vault.note(note).key, open_folder(vault, folder)

    def decide(graph: NoteGraph) -> Decision[DeletedNode]:
        stored, notes = _made_by_agent(vault, graph, key, folder), dict(graph.notes)
        # A file that is gone was deleted by hand, or by a run that was killed before it removed the note.
        file = next((note for note in files.notes if note.key == key and stored.path), None)
        _check_unchanged(stored, file, version)
        sources = [link.source for link in graph.incoming.get(key, ())]
        result = DeletedNode(
            key=key,
            title=stored.title,
            linked_from=tuple(sorted(source for source in sources if vault.scope.holds(notes[source].scope))),
            deleted=not dry_run,
            path=stored.path,
        )
        if dry_run:
            return Decision([], result)
        if file:
            delete_in(files, file)
        del notes[key]
        resolver = VaultResolver(notes.values())
        # The links of created notes lead to nothing now, or to another note of that name.
        documents = [document_of(source, resolver) for source in created_in(graph.corpus, sources)]
        return Decision(documents, result, {key})

    return store(vault, decide)


def _made_by_agent(vault: OpenVault, graph: NoteGraph, key: str, folder: Path | None) -> Note:
    """Return a note as the corpus has it; raises CorpusError or SourceError unless agents may change it."""
    stored = graph.notes.get(key)
    if stored is None or not vault.scope.holds(stored.scope):
        raise CorpusError(f"The note {key!r} has been deleted meanwhile.", "Nothing is left to do.")
    if not stored.is_made_by_agent:
        raise CorpusError(
            f"{key!r} wasn't made by an agent: it is changed by hand alone.",
            "Create a note that links to it, or add `made_by: agent` to its front matter, and sync.",
        )
    if folder is None and not stored.is_created:
        raise SourceError(
            f"{key!r} is a file of the vault's folder.", "Give the folder too: folder=Path(DIR), or --folder DIR."
        )
    return stored


def _check_unchanged(stored: Note, file: Note | None, version: str) -> None:
    """Raise an error if the note isn't the version that was read, or if its file isn't what the corpus holds."""
    if version and version != stored.version:
        raise CorpusError(
            f"{stored.key!r} has changed since it was read: its version is {stored.version} now.", _READ_AGAIN
        )
    if file and digest(blanked(file.text, file.comments)) != stored.version:
        raise SourceError(f"The file of {stored.key!r} has changed since the last sync.", f"Sync. {_READ_AGAIN}")


def _updated(note: Note, request: UpdateKnowledgeNode) -> Note:
    """Return the note with what the request gives in place of what it has, and itself if that is the same."""
    front, body = note.text[: note.body_start], note.text[note.body_start :]
    fields = {str(name): value for name, value in split_front_matter(note.text).mapping.items()}
    given = _given(request).items()
    if changed := {name: value for name, value in given if fields.get(name) != value and (name in fields or value)}:
        front = with_fields(note.text, changed).removesuffix(body)
    if request.content is not None:
        section = related_section(note)
        links = f"\n\n{section}" if section and not related_section(reread(note, request.content)) else "\n"
        body = f"\n{request.content.rstrip()}{links}"
    text = f"{front}{body}"
    return note if is_same(text, note.text) else reread(note, text)


def _given(request: UpdateKnowledgeNode) -> Mapping[str, object]:
    """Return the fields of the front matter that a request gives."""
    values = {
        "description": request.description,
        "type": None if request.type is None else request.type.value,
        "tags": None if request.tags is None else list(request.tags),
    }
    return {name: value for name, value in values.items() if value is not None}
