"""Create notes for agents: kept in the corpus as Markdown, so that a sync of the folder keeps them, or as files."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
    scope = _scope(vault.scope, request)
    place = VaultFolder.read(vault, folder)

    def decide(stored: Mapping[str, Note]) -> tuple[list[Document], CreatedNode]:
        present = PresentNotes.of(stored.values())
        _refuse_known(request.title, [*present.within(vault.scope), *place.within(vault.scope)])
        note = _composed(request, scope, present, vault.scope, {*stored, *(note.key for note in place.folder.notes)})
        note = place.create(note) if folder else note
        present = present.with_note(note)
        resolver = present.resolver(place.folder.attachments)
        documents = [document_of(note, resolver), *_newly_resolved(stored, present, note)]
        seen = {other.key for other in present.within(vault.scope)}
        targets = dict.fromkeys(link.target.removeprefix("/") for link in documents[0].links)
        lost = (link.target for link in note.links if resolver.resolve(link.target, note.key).is_nothing)
        return documents, CreatedNode(
            key=note.key,
            title=note.title,
            description=note.description,
            type=note.type,
            links=tuple(key for key in targets if key in seen),
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


def _scope(scope: Scope, request: CreateKnowledgeNode) -> Scope:
    """Return the owner of a new note; raises InputError if it is outside of the vault's scope."""
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
    note = read_created(_new_key(request.title, scope, taken), _composed_text(fields, request.content))
    if not request.links:
        return note
    within = present.within(seen)
    names, resolver = NoteResolver(within), present.with_note(note).resolver()
    lines = [link_line(link, _target(link.target, within, names), note.key, resolver) for link in request.links]
    return read_created(note.key, _composed_text(fields, request.content + section_of(lines)))


def _target(name: str, notes: Sequence[Note], names: NoteResolver) -> Note:
    """Return the note with a name; raises CorpusError if none or several have it."""
    found = names.resolve(name, "")
    for note in notes:
        if note.key == found.key and not found.others:
            return note
    called = f"{1 + len(found.others)} notes are" if found.others else "No note is"
    raise CorpusError(f"{called} called {name!r}.", "Give the path of one note as the link's target.")


def _newly_resolved(stored: Mapping[str, Note], present: PresentNotes, new: Note) -> list[Document]:
    """Return the created notes with unresolved links that now lead to the new note."""
    resolver = present.resolver()
    return [
        document_of(note, resolver)
        for note in present.created
        if note.key in stored
        and any(resolver.resolve(target, note.key).key == new.key for target in stored[note.key].unresolved)
    ]


def _composed_text(fields: Mapping[str, object], body: str) -> str:
    """Return a note's text: its fields that aren't empty as front matter, its times, and its body."""
    given = {**{name: value for name, value in fields.items() if value}, "created": _now(), "updated": _now()}
    front = yaml.safe_dump(given, sort_keys=False, allow_unicode=True, width=float("inf"))
    return f"---\n{front}---\n\n{body}\n"


def _new_key(title: str, scope: Scope, taken: Collection[str]) -> str:
    """Return a path for a new note that no note has, in any letter case: ``agents/USER/SKILL/AGENT/TITLE.md``."""
    folder = "/".join([_FOLDER, *(_file_name(part) for part in scope if part)])
    used = {unicodedata.normalize("NFC", key).casefold() for key in taken}
    stem, number = _file_name(title), 1
    key = f"{folder}/{stem}.md"
    while key.casefold() in used:
        number += 1
        key = f"{folder}/{stem} {number}.md"
    return key


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


def read_created(key: str, markdown: str) -> Note:
    """Read a created note from its text alone, so that it is the same on any machine."""
    return read_note(key, markdown)


def created_notes(client: Client, vault: str) -> tuple[Note, ...]:
    """Return the notes that agents have created in the vault of a name; none if there is no such vault."""
    corpus = find_corpus(client, vault)
    if corpus is None:
        return ()
    rows = CorpusHandle(client, corpus).stream("vault_created")
    return tuple(read_created(row["key"], row["original"]) for row in rows)


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
        created = (read_created(note.key, note.original) for note in notes if note.original)
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


@dataclass(frozen=True, slots=True)
class VaultFolder:
    """The folder of a vault as it was read; one without notes if changes stay in the corpus."""

    folder: Folder

    @classmethod
    def read(cls, vault: OpenVault, folder: Path | None) -> VaultFolder:
        """Return the folder as it is now; raises SourceError if there is none."""
        limits = vault.hoprank.settings.sources.limits
        return cls(read_folder(folder, limits=limits) if folder else Folder("", (), frozenset(), ()))

    def within(self, scope: Scope) -> list[Note]:
        """Return the notes of a user, skill and agent, as their front matter names these."""
        return PresentNotes(self.folder.notes, ()).within(scope)

    def note(self, stored: Note) -> Note:
        """Return the note of the folder that the corpus holds as ``stored``; raises SourceError if it is gone."""
        notes = {note.key: note for note in self.folder.notes}
        if stored.key not in notes:
            raise SourceError(f"The folder has no note {stored.key!r}.", "Give the vault's folder, or sync it.")
        note = notes[stored.key]
        return reread(replace(note, scope=stored.scope), note.text)

    def create(self, note: Note) -> Note:
        """Write a created note as a new file, and return it as a note of the folder.

        Raises SourceError if a file has its path; none is overwritten.
        """
        root = Path(self.folder.root)
        path = root / note.key
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.resolve().is_relative_to(root.resolve()):
                raise SourceError(f"{note.key!r} is outside of {root}, by a link.", "Remove the link to that folder.")
            create_file(path, note.text)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SourceError(
                f"{path} can't be written: {reason}.", "Give another title, or mend the folder."
            ) from None
        return self._as_written(note, path)

    def extend(self, before: Note, after: Note) -> Note:
        """Write to a note's file what ``after`` has appended to ``before``, and return the note.

        Raises SourceError if the file has changed since it was read.
        """
        kept = len(before.text.rstrip())
        edit = Edit(kept, len(before.text), after.text[kept:])
        written = write_edits(self.folder, {before.key: [edit]})
        if written.conflicts:
            conflict = written.conflicts[0]
            raise SourceError(f"{conflict.note} {conflict.reason}.", "Nothing was written: try again.")
        return self._as_written(after, Path(before.path))

    def _as_written(self, note: Note, path: Path) -> Note:
        scope = note.scope if note.path else ANY
        return reread(replace(note, path=path.as_posix(), modified=modified_at(path), scope=scope), note.text)
