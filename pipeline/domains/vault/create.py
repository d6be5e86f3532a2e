"""Create notes for agents: kept in the corpus as Markdown, so that a sync of the folder keeps them, or as files."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import yaml

from pipeline.db.catalogue import find_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.domains.vault.edits import Edit, create_file, write_edits
from pipeline.domains.vault.links import (
    NoteResolver,
    VaultResolver,
    document_of,
    folded,
    names_of,
    shortest_target,
)
from pipeline.domains.vault.note import ANY, Folder, Note, Scope
from pipeline.domains.vault.requests import CreatedNode, CreateKnowledgeNode, NewLink
from pipeline.domains.vault.sources import modified_at, read_folder, read_note, reread
from pipeline.domains.vault.stored import OpenVault, read_graph
from pipeline.errors import CorpusError, InputError, SourceError
from pipeline.flows.ingest import ingest_decided
from pipeline.ingest.sources.link_targets import wikilink_target
from pipeline.records import Document

_Result = TypeVar("_Result")

SECTION = "Related"
"""The heading of the section that holds new links."""

Decide = Callable[[Mapping[str, Note]], tuple[Sequence[Document], _Result]]
"""A function from the notes that the vault has, by key, to the documents to store and a result for the caller."""

_WAIT_SECONDS = 30.0
"""Actions of several agents wait for each other at least this long: each takes about a second."""

_FOLDER = "agents"
_LONGEST_STEM = 100
"""Characters of a new file's name: file systems take 255 bytes, and a character may have four."""

_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f\\/:*?"<>|#^\[\]]+')
_UPDATED = re.compile(r"^updated: .*$", re.MULTILINE)
_WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")


def create_note(vault: OpenVault, request: CreateKnowledgeNode, folder: Path | None) -> CreatedNode:
    """Create a note; see :meth:`pipeline.domains.vault.api.Vault.create`."""
    scope = vault.scope
    for name in ("skill", "agent"):
        own, wanted = getattr(scope, name), getattr(request, name)
        if own and wanted not in ("", own):
            raise InputError(f"The {name} is {wanted!r}, but this vault is that of {own!r}.", f"Leave {name} out.")
    owner = Scope(scope.user, request.skill or scope.skill, request.agent or scope.agent)
    files = open_folder(vault, folder)

    def decide(stored: Mapping[str, Note]) -> tuple[list[Document], CreatedNode]:
        present = PresentNotes.of(stored.values())
        for other in (*present.within(scope), *(note for note in files.notes if scope.holds(note.scope))):
            if folded(request.title) in names_of(other):
                raise CorpusError(
                    f"The note {other.key} is already called {request.title!r}.",
                    "Give another title, or link it: link_knowledge_nodes, hoprank vault link.",
                )
        note = _composed(request, owner, present, scope, {*stored, *(note.key for note in files.notes)})
        note = create_in(files, note) if folder else note
        present = present.with_note(note)
        resolver, created_resolver = present.resolver(files.attachments), present.resolver()
        documents = [document_of(note, resolver)]
        for other in present.created:
            targets = stored[other.key].unresolved if other.key in stored else ()
            # Links of created notes that led to no note may lead to the new one.
            if any(created_resolver.resolve(target, other.key).key == note.key for target in targets):
                documents.append(document_of(other, created_resolver))
        seen = {other.key for other in present.within(scope)}
        keys = dict.fromkeys(link.target.removeprefix("/") for link in documents[0].links)
        lost = (link.target for link in note.links if resolver.resolve(link.target, note.key).is_nothing)
        return documents, CreatedNode(
            key=note.key,
            title=note.title,
            description=note.description,
            type=note.type,
            links=tuple(key for key in keys if key in seen),
            unresolved=tuple(dict.fromkeys(lost)),
            path=note.path,
        )

    return store_notes(vault, decide)


def store_notes(vault: OpenVault, decide: Decide[_Result]) -> _Result:
    """Store the documents that ``decide`` returns, and return its result; a missing vault is made.

    Nobody else writes to the vault between the decision and the write, so its checks still hold. Raises what ``decide``
    raises, and then writes nothing; FingerprintError, Busy, ServerLost.
    """
    hoprank = vault.hoprank
    _, result = ingest_decided(
        hoprank.client,
        hoprank.embedder,
        hoprank.settings,
        lambda corpus: decide(read_graph(corpus).notes),
        vault.name,
        wait=max(hoprank.settings.ingest.wait, _WAIT_SECONDS),
    )
    return result


def _composed(request: CreateKnowledgeNode, owner: Scope, present: PresentNotes, seen: Scope, taken: set[str]) -> Note:
    """Return the new note as it is kept in the corpus; raises CorpusError if none or several notes are a link's target.

    Its path is one that no note has, in any letter case: ``agents/USER/SKILL/AGENT/TITLE.md``.
    """
    folder = "/".join([_FOLDER, *(_file_name(part) for part in owner if part)])
    used = {unicodedata.normalize("NFC", key).casefold() for key in taken}
    stem = f"{folder}/{_file_name(request.title)}"
    keys = (f"{stem} {number}.md" if number > 1 else f"{stem}.md" for number in itertools.count(1))
    key = next(key for key in keys if key.casefold() not in used)
    fields: dict[str, object] = {
        "title": request.title,
        "description": request.description,
        "type": request.type.value,
        "tags": list(request.tags),
        **owner._asdict(),
    }
    # Only fields that aren't empty, and the times, are the front matter.
    fields = {**{name: value for name, value in fields.items() if value}, "created": _now(), "updated": _now()}
    front = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=float("inf"))
    text = f"---\n{front}---\n\n{request.content}"
    note = read_note(key, f"{text}\n")
    if not request.links:
        return note
    within = {other.key: other for other in present.within(seen)}
    names, resolver, lines = NoteResolver(within.values()), present.with_note(note).resolver(), []
    for link in request.links:
        target = names.resolve(link.target, "")
        if target.others or target.key not in within:
            called = f"{1 + len(target.others)} notes are" if target.others else "No note is"
            raise CorpusError(f"{called} called {link.target!r}.", "Give the path of one note as the link's target.")
        lines.append(link_line(link, within[target.key], key, resolver))
    return read_note(key, f"{text}{section_of(lines)}\n")


def _file_name(text: str) -> str:
    name = _NOT_IN_NAMES.sub("-", unicodedata.normalize("NFC", text))[:_LONGEST_STEM].strip(" .")
    return name or "note"


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


def touched(text: str, body_start: int) -> str:
    """Return a created note's text with the time of its last change set to now."""
    return _UPDATED.sub(f"updated: '{_now()}'", text[:body_start], count=1) + text[body_start:]


def created_notes(client: Client, vault: str) -> tuple[Note, ...]:
    """Return the notes that agents have created in the vault of a name; none if there is no such vault."""
    if (corpus := find_corpus(client, vault)) is None:
        return ()
    rows = CorpusHandle(client, corpus).stream("vault_created")
    return tuple(read_note(row["key"], row["original"]) for row in rows)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class PresentNotes:
    """The notes of a vault at one generation: those of its ``folder``, without texts, and those that agents created."""

    folder: tuple[Note, ...]
    created: tuple[Note, ...]

    @classmethod
    def of(cls, stored: Iterable[Note]) -> PresentNotes:
        """Return the notes that a corpus holds."""
        notes = list(stored)
        created = (read_note(note.key, note.original) for note in notes if note.original)
        return cls(tuple(note for note in notes if not note.original), tuple(created))

    def with_note(self, note: Note) -> PresentNotes:
        """Return the notes with one that is new or changed; a ``path`` makes it one of the folder."""
        folder, created = ([kept for kept in notes if kept.key != note.key] for notes in (self.folder, self.created))
        (folder if note.path else created).append(note)
        return PresentNotes(tuple(folder), tuple(created))

    def within(self, scope: Scope) -> list[Note]:
        """Return the notes of a user, skill and agent."""
        return [note for note in (*self.folder, *self.created) if scope.holds(note.scope)]

    def resolver(self, attachments: Iterable[str] = ()) -> VaultResolver:
        """Return the resolver of the notes' links."""
        return VaultResolver(self.folder, self.created, attachments)


def open_folder(vault: OpenVault, folder: Path | None) -> Folder:
    """Return the folder of a vault as it is now, one without notes if changes stay in the corpus."""
    limits = vault.hoprank.settings.sources.limits
    return read_folder(folder, limits=limits) if folder else Folder("", (), frozenset(), ())


def note_in(folder: Folder, stored: Note) -> Note:
    """Return the note of a folder that the corpus holds as ``stored``; raises SourceError if it is gone."""
    for note in folder.notes:
        if note.key == stored.key:
            return reread(replace(note, scope=stored.scope), note.text)
    raise SourceError(f"The folder has no note {stored.key!r}.", "Give the vault's folder, or sync it.")


def create_in(folder: Folder, note: Note) -> Note:
    """Write a created note as a new file of a folder, and return it as a note of that.

    Raises SourceError if a file has its path; none is overwritten.
    """
    root = Path(folder.root)
    path = root / note.key
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.resolve().is_relative_to(root.resolve()):
            raise SourceError(f"{note.key!r} is outside of {root}, by a link.", "Remove the link to that folder.")
        create_file(path, note.text)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"{path} can't be written: {reason}.", "Give another title, or mend the folder.") from None
    return _as_written(note, path)


def extend_in(folder: Folder, before: Note, after: Note) -> Note:
    """Write to a note's file what ``after`` has appended to ``before``, and return the note.

    Raises SourceError if the file has changed since it was read.
    """
    kept = len(before.text.rstrip())
    written = write_edits(folder, {before.key: [Edit(kept, len(before.text), after.text[kept:])]})
    for conflict in written.conflicts:
        raise SourceError(f"{conflict.note} {conflict.reason}.", "Nothing was written: try again.")
    return _as_written(after, Path(before.path))


def _as_written(note: Note, path: Path) -> Note:
    scope = note.scope if note.path else ANY
    return reread(replace(note, path=path.as_posix(), modified=modified_at(path), scope=scope), note.text)
