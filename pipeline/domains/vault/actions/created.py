"""Notes that agents create: kept in the corpus as Markdown, so that a sync of the folder keeps them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import yaml

from pipeline.db.catalogue import find_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.domains.vault.links import VaultResolver
from pipeline.domains.vault.note import Note, Scope
from pipeline.domains.vault.sources import read_note
from pipeline.domains.vault.stored import StoredNote

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
