"""Sync a vault: make a corpus equal to the notes of a folder."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.api import HopRank
from pipeline.domains.vault.create import created_notes
from pipeline.domains.vault.links import NoteResolver, documents
from pipeline.domains.vault.maps import refresh_index
from pipeline.domains.vault.note import ANY, Folder, Scope
from pipeline.domains.vault.sources import read_folder
from pipeline.errors import SourceError
from pipeline.flows.ingest import Announce, sync_documents
from pipeline.ingest.update.changes import SyncSummary
from pipeline.progress import Progress


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """Counts of a vault's links: all, those that lead to a note, and the reasons of the others.

    Links ``in_code`` make no edge of the graph; they count as ``resolved`` too if they name a note. ``ambiguous`` links
    are resolved, though several notes have the name.
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
    resolved = sum(bool(to.key) for to in every)
    attachments = sum(to.attachment for to in every)
    return LinkCounts(
        written=len(every),
        resolved=resolved,
        unresolved=len(every) - resolved - attachments,
        attachments=attachments,
        in_code=len(in_code),
        ambiguous=sum(bool(to.others) for to in resolutions),
    )
