"""Sync a vault: make a corpus equal to the notes of a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pipeline.api import HopRank
from pipeline.domains.vault.agent_notes import ORIGIN, created_notes
from pipeline.domains.vault.links import NoteResolver, VaultResolver
from pipeline.domains.vault.maps import refresh_index
from pipeline.domains.vault.note import ANY, Folder, Note, Scope
from pipeline.domains.vault.sources import read_folder
from pipeline.errors import SourceError
from pipeline.flows.ingest import Announce, sync_documents
from pipeline.ingest.update.summary import SyncSummary
from pipeline.progress import Progress
from pipeline.records import Document, Link, Metadata


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """The links of a vault's notes: all, those that lead to a note, and why the others don't.

    ``in_code`` of them are shown as code, and make no edge of the graph; ``resolved`` includes those of them that name
    a note. ``ambiguous`` are resolved, but more than one note has the name.
    """

    written: int
    resolved: int
    unresolved: int
    attachments: int
    in_code: int
    ambiguous: int


@dataclass(frozen=True, slots=True)
class VaultSync:
    """The outcome of a sync of a vault: that of its corpus, and the counts of its links."""

    synced: SyncSummary
    links: LinkCounts

    def to_json(self) -> dict[str, Any]:
        """Return this as plain JSON values."""
        return {**self.synced.to_json(), "links": asdict(self.links)}


def sync_vault(
    hoprank: HopRank,
    folder: Path,
    vault: str,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    scope: Scope = ANY,
    dry_run: bool = False,
    announce: Announce = lambda _: None,
    progress: Progress | None = None,
) -> VaultSync:
    """Bring the corpus ``vault`` to hold exactly the notes in a folder and those that agents created.

    See :func:`pipeline.flows.ingest.sync`. A note of the folder replaces a created one with the same key. The maps of
    content follow (:mod:`pipeline.domains.vault.maps`).

    ``scope`` is for notes that name no user, skill or agent. Raises SourceError if the folder holds no note.
    """
    limits, progress = hoprank.settings.sources.limits, progress or Progress()
    read = read_folder(folder, include=include, exclude=exclude, scope=scope, limits=limits)
    if not read.notes:
        raise SourceError(f"{folder} holds no note.", "A note is a Markdown file: NAME.md.")
    synced = sync_documents(
        hoprank.client,
        hoprank.embedder,
        hoprank.settings,
        lambda: (*read.skipped, *documents(read, created_notes(hoprank.client, vault))),
        str(folder),
        vault,
        dry_run=dry_run,
        announce=announce,
        progress=progress,
    )
    if not dry_run:
        with progress.stage("index"):
            refresh_index(hoprank, vault)
    return VaultSync(synced, count_links(read))


def count_links(folder: Folder) -> LinkCounts:
    """Count the links of a vault by what they lead to."""
    resolver = NoteResolver(folder.notes, folder.attachments)
    resolutions = [resolver.resolve(link.target, note.key) for note in folder.notes for link in note.links]
    in_code = [resolver.resolve(link.target, note.key) for note in folder.notes for link in note.in_code]
    every = [*resolutions, *in_code]
    resolved = sum(bool(one.key) for one in every)
    attachments = sum(one.attachment for one in every)
    return LinkCounts(
        written=len(every),
        resolved=resolved,
        unresolved=len(every) - resolved - attachments,
        attachments=attachments,
        in_code=len(in_code),
        ambiguous=sum(bool(one.others) for one in resolutions),
    )


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
