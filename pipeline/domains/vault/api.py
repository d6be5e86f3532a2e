"""The face of a vault: sync its folder, ask it for notes, and let agents write into it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pipeline.api import HopRank
from pipeline.domains.vault.context import Knowledge, load_relevant_knowledge
from pipeline.domains.vault.links import NoteResolver, documents
from pipeline.domains.vault.maps import IndexNode, drop_vault, graph_index_node, refresh_index
from pipeline.domains.vault.note import Folder, NoteEntry, NoteType, Scope
from pipeline.domains.vault.related import RelatedNote, related_notes
from pipeline.domains.vault.requests import (
    CreatedNode,
    CreateKnowledgeNode,
    DeletedNode,
    LinkedNodes,
    LinkKnowledgeNodes,
    NewLink,
    Traversal,
    TraverseKnowledge,
    UpdatedNode,
    UpdateKnowledgeNode,
    checked,
)
from pipeline.domains.vault.revise import delete_note, update_note
from pipeline.domains.vault.sources import read_folder
from pipeline.domains.vault.stored import OpenVault, list_notes
from pipeline.domains.vault.traverse import traverse
from pipeline.domains.vault.write import create_note, created_notes, link_notes
from pipeline.errors import SourceError
from pipeline.flows.ingest import Announce, sync_documents
from pipeline.ingest.update.changes import SyncSummary
from pipeline.knowledge import Direction
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


class Vault(OpenVault):
    """A vault of linked notes, by name: synced from a folder, asked for notes, written into by agents. Thread-safe.

    ``user``, ``skill`` and ``agent`` limit all reads to the notes of these, and new notes become theirs; an empty one
    stands for any. Notes are named by path, file name, title or alias. Every read sees the newest sync.

    Example::

        from hoprank import HopRank, Vault

        with HopRank.connect() as hoprank:
            vault = Vault(hoprank, "notes")
            vault.sync("notes/")
            print(vault.context("How do I end a session?").text)
            print([note.title for note in vault.related("Session handoff")])
    """

    def __init__(self, hoprank: HopRank, name: str = "vault", user: str = "", skill: str = "", agent: str = "") -> None:
        super().__init__(hoprank, name, Scope(user, skill, agent))

    def sync(
        self,
        folder: str | Path,
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        dry_run: bool = False,
        announce: Announce = lambda _: None,
        progress: Progress | None = None,
    ) -> VaultSync:
        """Bring the vault to hold exactly the notes in a folder and those that agents created, and update its maps.

        A note of the folder replaces a created one with the same key. Notes whose front matter names no user, skill or
        agent belong to those of this vault. ``include`` and ``exclude`` are paths or patterns relative to the folder,
        such as ``templates`` and ``daily/**``. Raises SourceError if the folder holds no note.
        """
        limits, progress = self.hoprank.settings.sources.limits, progress or Progress()
        read = read_folder(Path(folder), include=include, exclude=exclude, scope=self.scope, limits=limits)
        if not read.notes:
            raise SourceError(f"{folder} holds no note.", "A note is a Markdown file: NAME.md.")
        synced = sync_documents(
            self.hoprank.client,
            self.hoprank.embedder,
            self.hoprank.settings,
            lambda: (*read.skipped, *documents(read, created_notes(self.hoprank.client, self.name))),
            str(folder),
            self.name,
            dry_run=dry_run,
            announce=announce,
            progress=progress,
        )
        if not dry_run:
            with progress.stage("index"):
                refresh_index(self.hoprank, self.name)
        return VaultSync(synced, _count_links(read))

    def context(
        self,
        message: str,
        *,
        top_k: int | None = None,
        full: int | None = None,
        tokens: int | None = None,
        hops: int | None = None,
        vectors: bool = True,
        now: datetime | None = None,
    ) -> Knowledge:
        """Return the published notes that a message needs; none if the vault knows nothing about it.

        At most ``top_k`` notes (10 at most), the first ``full`` with their content, of ``tokens`` together; links are
        followed for ``hops`` steps (2 at most). Limits that aren't given are those of the settings. Without
        ``vectors``, or without a model to make them, words alone find notes. Raises QuestionError for an empty message,
        CorpusError if there is no vault of that name, ConfigurationError for a limit out of bounds.
        """
        limits = {"top_k": top_k, "full": full, "tokens": tokens, "hops": hops}
        return load_relevant_knowledge(self, message, limits, vectors=vectors, now=now)

    def list(self, type: NoteType | str = "", tag: str = "") -> Sequence[NoteEntry]:  # noqa: A002  # as in ``create``
        """Return the notes by key, published or not: those of a type, those with a tag or a tag below it, or all.

        Raises CorpusError if there is no vault of that name, InputError for an unknown type.
        """
        return list_notes(self.graph(), type, tag)

    def related(self, note: str, top_k: int = 10, *, unlinked: bool = False) -> Sequence[RelatedNote]:
        """Return the notes most related to a note by meaning and by links; ``unlinked``: not linked with it yet."""
        return related_notes(self.graph(), self.note(note).key, top_k, unlinked=unlinked)

    def traverse(
        self,
        start: str,
        depth: int = 1,
        budget: int = 10,
        cursor: str | None = None,
        *,
        direction: Direction | str = Direction.OUT,
        relations: Sequence[str] = (),
    ) -> Traversal:
        """Return the published notes that at most ``depth`` links lead to (2 at most), nearest first.

        A page has at most ``budget`` notes; its ``cursor``, given with otherwise the same arguments, asks for the next
        one. Each note is reached once, whatever circles the links make. ``relations`` follows links of these types
        only. Raises CorpusError for an unknown or unpublished note, QuestionError for a cursor that is malformed, that
        another traversal returned, or that is older than the vault's last change; InputError for a limit out of bounds.
        """
        page = {"start": start, "depth": depth, "budget": budget, "cursor": cursor}
        return traverse(self, checked(TraverseKnowledge, **page, direction=direction, relations=tuple(relations)))

    def index(self, skill: str = "", *, folder: str = "") -> IndexNode:
        """Return the published notes by topic: a skill's, a top folder's, or without both of all.

        The index is brought up to date first. Raises CorpusError if the scope has no such skill or folder.
        """
        return graph_index_node(self, skill, folder=folder)

    def create(
        self,
        title: str,
        content: str,
        description: str = "",
        type: NoteType | str = NoteType.CONCEPT,  # noqa: A002  # the usual name
        tags: Sequence[str] = (),
        *,
        skill: str = "",
        agent: str = "",
        links: Sequence[NewLink | Mapping[str, str]] = (),
        folder: str | Path | None = None,
    ) -> CreatedNode:
        """Create a note with links to other notes; later syncs of the folder keep it.

        With ``folder``, the vault's folder, the note becomes a file of that. Raises CorpusError if a note of the scope
        has the title, or a link's target is missing; InputError for a value that exceeds its limit; SourceError if the
        file can't be written.
        """
        texts = {"title": title, "content": content, "description": description, "skill": skill, "agent": agent}
        request = checked(CreateKnowledgeNode, **texts, type=type, tags=tuple(tags), links=tuple(links))
        return create_note(self, request, Path(folder) if folder else None)

    def link(
        self, source: str, target: str, relation: str = "", context: str = "", *, folder: str | Path | None = None
    ) -> LinkedNodes:
        """Link a note to another one; nothing changes if it has such a link.

        The link is a line in the last section of the source. A note of the folder gets it in its file, and needs
        ``folder``, the vault's folder; a created note becomes a file if ``folder`` is given. ``context`` is a sentence
        that says why the notes belong together; it may hold the link. Raises CorpusError if there is no such note or if
        both are the same, SourceError if the file can't be written.
        """
        request = checked(LinkKnowledgeNodes, source=source, target=target, relation=relation, context=context)
        return link_notes(self, request, Path(folder) if folder else None)

    def update(
        self,
        note: str,
        content: str | None = None,
        description: str | None = None,
        type: NoteType | str | None = None,  # noqa: A002  # as in ``create``
        tags: Sequence[str] | None = None,
        *,
        version: str = "",
        folder: str | Path | None = None,
    ) -> UpdatedNode:
        """Update a note that an agent made: what is given replaces what it has; nothing changes if it has that.

        The links that :meth:`link` added stay, unless ``content`` has a section Related. A note that is a file needs
        ``folder``, the vault's folder; another one becomes a file if ``folder`` is given. ``version`` is that of the
        note as it was read. Raises CorpusError if there is no such note, if no agent made it, or if it has another
        version by now; SourceError if its file has changed since the last sync, or can't be written; InputError for a
        value that exceeds its limit.
        """
        given = {"content": content, "description": description, "type": type}
        values = {**given, "tags": None if tags is None else tuple(tags), "version": version}
        return update_note(self, checked(UpdateKnowledgeNode, note=note, **values), Path(folder) if folder else None)

    def delete(
        self, note: str, *, version: str = "", dry_run: bool = False, folder: str | Path | None = None
    ) -> DeletedNode:
        """Delete a note that an agent made, irrevocably, and its file; return the notes that link to it.

        With ``dry_run`` it stays. ``version`` and ``folder`` are those of :meth:`update`, and so are the errors.
        """
        return delete_note(self, note, version, Path(folder) if folder else None, dry_run=dry_run)

    def drop(self) -> None:
        """Delete the vault and its maps, irrevocably; its folder stays. Raises CorpusError if there is neither."""
        drop_vault(self.hoprank, self.name)


def _count_links(folder: Folder) -> LinkCounts:
    resolver = NoteResolver(folder.notes, folder.attachments)
    resolutions = [resolver.resolve(link.target, note.key) for note in folder.notes for link in note.links]
    in_code = [resolver.resolve(link.target, note.key) for note in folder.notes for link in note.in_code]
    every = [*resolutions, *in_code]
    resolved, attachments = sum(bool(to.key) for to in every), sum(to.attachment for to in every)
    return LinkCounts(
        written=len(every),
        resolved=resolved,
        unresolved=len(every) - resolved - attachments,
        attachments=attachments,
        in_code=len(in_code),
        ambiguous=sum(bool(to.others) for to in resolutions),
    )
