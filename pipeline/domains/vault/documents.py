"""Notes as documents of a corpus: their links resolved, their fields as metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pipeline.domains.vault.actions.created import ORIGIN
from pipeline.domains.vault.reading.resolve import NoteResolver, VaultResolver
from pipeline.domains.vault.records import Folder, Note, Scope
from pipeline.records import Document, Link, Metadata


def documents(folder: Folder, created: Iterable[Note] = ()) -> Iterator[Document]:
    """Yield the notes of a vault as documents. A link's target is its note's key, with ``/`` before it.

    Links that lead to no note are kept as the metadata ``unresolved``. ``created`` are the notes of agents, which
    notes of the folder with the same keys replace.
    """
    keys = {note.key for note in folder.notes}
    kept = [note for note in created if note.key not in keys]
    resolver = VaultResolver(folder.notes, kept, folder.attachments)
    for note in folder.notes:
        yield document_of(note, resolver)
    for note in kept:
        yield created_document(note, resolver)


def stored_document(note: Note, resolver: NoteResolver) -> Document:
    """Return a note as a document: one of the folder if it has a path, else one that an agent created."""
    return document_of(note, resolver) if note.path else created_document(note, resolver)


def created_document(note: Note, resolver: NoteResolver) -> Document:
    """Return a note that an agent created as a document, which holds the note's whole text."""
    document = document_of(note, resolver)
    return replace(document, metadata={**document.metadata, **ORIGIN}, original=note.text)


def document_of(note: Note, resolver: NoteResolver) -> Document:
    """Return a note as a document; one without any text has its title as text."""
    links: list[Link] = []
    unresolved: dict[str, None] = {}
    for link in note.links:
        resolution = resolver.resolve(link.target, note.key)
        if resolution.key and resolution.key != note.key:
            links.append(replace(link, target=f"/{resolution.key}"))
        elif not resolution.key and not resolution.attachment:
            unresolved[link.target] = None
    metadata = _metadata(note, tuple(unresolved))
    if not note.text[note.body_start :].strip() and note.described[0] == note.described[1]:
        return Document(
            note.key,
            note.title,
            note.title,
            links=_at_start(links),
            metadata=metadata,
            path=note.path,
            modified=note.modified,
        )
    return Document(
        key=note.key,
        title=note.title,
        text=note.text,
        blocks=note.blocks,
        links=tuple(links),
        metadata=metadata,
        path=note.path,
        modified=note.modified,
        body_start=note.body_start,
        summary=note.described,
    )


def _at_start(links: list[Link]) -> tuple[Link, ...]:
    return tuple(replace(link, start=0, end=0) for link in links)


def _metadata(note: Note, unresolved: tuple[str, ...]) -> Metadata:
    """Return the fields of a note as metadata; empty ones are left out."""
    own: Mapping[str, object] = {
        **{name: getattr(note.scope, name) for name in Scope._fields},
        "description": note.description,
        "type": note.type.value,
        "tags": list(note.tags),
        "aliases": list(note.aliases),
        "created": note.created,
        "updated": note.updated,
        "unresolved": list(unresolved),
    }
    given = {name: value for name, value in own.items() if value}
    return {**note.metadata, **given, "published": note.published}  # type: ignore[dict-item]  # texts, and lists of texts
