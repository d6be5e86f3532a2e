"""Notes that agents create: kept in the corpus as Markdown, so that a sync of the folder keeps them."""

from __future__ import annotations

import os
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
from pipeline.domains.vault.edits import Edit, write_edits
from pipeline.domains.vault.links import VaultResolver
from pipeline.domains.vault.note import ANY, Folder, Note, Scope
from pipeline.domains.vault.sources import modified_at, read_folder, read_note, reread
from pipeline.domains.vault.stored import OpenVault, StoredNote, read_graph
from pipeline.errors import SourceError
from pipeline.flows.ingest import ingest_decided
from pipeline.records import Document
from pipeline.temporary import replacing

ORIGIN = {"origin": "agent"}
"""Metadata of a note that an agent created and that is in no folder."""

_FOLDER = "agents"
_LONGEST_STEM = 100
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f\\/:*?"<>|#^\[\]]+')
_UPDATED = re.compile(r"^updated: .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PresentNotes:
    """The notes of a vault at one generation: those of its ``folder``, without texts, and those that agents created."""

    folder: tuple[Note, ...]
    created: tuple[Note, ...]

    @classmethod
    def of(cls, stored: Iterable[StoredNote]) -> PresentNotes:
        """Return the notes that a corpus holds."""
        folder, created = [], []
        for note in stored:
            if is_created(note):
                created.append(read_created(note.key, note.original))
            else:
                folder.append(_bare(note))
        return cls(tuple(folder), tuple(created))

    def with_note(self, note: Note) -> PresentNotes:
        """Return the notes with one that is new or changed; a ``path`` makes it one of the folder."""
        folder, created = ([one for one in notes if one.key != note.key] for notes in (self.folder, self.created))
        (folder if note.path else created).append(note)
        return PresentNotes(tuple(folder), tuple(created))

    def within(self, scope: Scope) -> list[Note]:
        """Return the notes of a user, skill and agent."""
        return [note for note in (*self.folder, *self.created) if scope.holds(note.scope)]

    def resolver(self, attachments: Iterable[str] = ()) -> VaultResolver:
        """Return the resolver of the notes' links."""
        return VaultResolver(self.folder, self.created, attachments)


def created_notes(client: Client, vault: str) -> tuple[Note, ...]:
    """Return the notes that agents have created in the vault of a name; none if there is no such vault."""
    corpus = find_corpus(client, vault)
    if corpus is None:
        return ()
    rows = CorpusHandle(client, corpus).stream("vault_created")
    return tuple(read_created(row["key"], row["original"]) for row in rows)


def is_created(note: StoredNote) -> bool:
    """Return whether a note is an agent's and in no folder, whatever the front matter of a file says."""
    return bool(note.original)


def read_created(key: str, markdown: str) -> Note:
    """Return the note with this text; nothing but the text decides what it is, on any machine."""
    return read_note(key, markdown)


def compose(fields: Mapping[str, object], body: str) -> str:
    """Return a note's text: its fields that aren't empty as front matter, its times, and its body."""
    now = _now()
    given = {name: value for name, value in fields.items() if value}
    front = yaml.safe_dump(
        {**given, "created": now, "updated": now}, sort_keys=False, allow_unicode=True, width=float("inf")
    )
    return f"---\n{front}---\n\n{body}\n"


def touched(text: str, body_start: int) -> str:
    """Return a created note's text with the time of its last change set to now."""
    return _UPDATED.sub(f"updated: '{_now()}'", text[:body_start], count=1) + text[body_start:]


def new_key(title: str, scope: Scope, taken: Collection[str]) -> str:
    """Return a path for a new note that no note has, in any letter case: ``agents/USER/SKILL/AGENT/TITLE.md``."""
    folder = "/".join([_FOLDER, *(_file_name(part) for part in scope if part)])
    known = {unicodedata.normalize("NFC", key).casefold() for key in taken}
    stem, number = _file_name(title), 1
    key = f"{folder}/{stem}.md"
    while key.casefold() in known:
        number += 1
        key = f"{folder}/{stem} {number}.md"
    return key


def _file_name(text: str) -> str:
    name = _NOT_IN_NAMES.sub("-", unicodedata.normalize("NFC", text))[:_LONGEST_STEM].strip(" .")
    return name or "note"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _bare(note: StoredNote) -> Note:
    return Note(
        key=note.key,
        path=note.path,
        title=note.title,
        description=note.description,
        type=note.type,
        text="",
        aliases=note.aliases,
        scope=note.scope,
    )


_Result = TypeVar("_Result")

Decide = Callable[[Mapping[str, StoredNote]], tuple[Sequence[Document], _Result]]
"""A function from the notes that the vault has, by key, to the documents to store and a result for the caller."""

_WAIT_SECONDS = 30.0
"""Actions of several agents wait for each other at least this long: each takes about a second."""


def store_notes(vault: OpenVault, decide: Decide[_Result]) -> _Result:
    """Store the documents that ``decide`` returns, and return its result.

    The vault's other notes stay, and a missing vault is made.

    ``decide`` sees the notes that are there when the documents are written, whatever other agents and syncs do: its
    checks hold. Raises what it raises, and then writes nothing; FingerprintError, Busy, ServerLost.
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


_NO_FOLDER = Folder("", (), frozenset(), ())


@dataclass(frozen=True, slots=True)
class VaultFolder:
    """The folder of a vault as it was read; one without notes if changes stay in the corpus."""

    folder: Folder

    @classmethod
    def read(cls, vault: OpenVault, folder: Path | None) -> VaultFolder:
        """Return the folder as it is now; raises SourceError if there is none."""
        limits = vault.hoprank.settings.sources.limits
        return cls(read_folder(folder, limits=limits) if folder else _NO_FOLDER)

    @property
    def attachments(self) -> Iterable[str]:
        """The paths of the folder's files that are no notes."""
        return self.folder.attachments

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the folder's notes."""
        return frozenset(note.key for note in self.folder.notes)

    def within(self, scope: Scope) -> list[Note]:
        """Return the notes of a user, skill and agent, as their front matter names these."""
        return PresentNotes(self.folder.notes, ()).within(scope)

    def note(self, stored: StoredNote) -> Note:
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
            _create(path, note.text)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SourceError(
                f"{path} can't be written: {reason}.", "Give another title, or mend the folder."
            ) from None
        return self._as_written(note, path)

    def extend(self, before: Note, after: Note) -> Note:
        """Write what was appended to a note to its file, and return the note; ``after`` begins as ``before`` does.

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


def _create(path: Path, text: str) -> None:
    """Write a new file; raises FileExistsError if there is one. Readers see an empty file or the whole text."""
    path.open("xb").close()
    try:
        with replacing(path) as partial:
            with partial.open("wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            if path.stat().st_size:
                raise FileExistsError("somebody else has written to it")
    except OSError:
        if path.stat().st_size == 0:
            path.unlink()
        raise
