"""Records of a vault: notes as read, their links, and what these resolve to."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from pipeline.json_values import JsonRecord
from pipeline.records import Block, Link, Metadata, Skipped

MADE_BY, AGENT = "made_by", "agent"
"""Field of the front matter, and its value, of a note that an agent made and agents may therefore update and delete."""


class NoteType(StrEnum):
    """Kind of knowledge in a note."""

    CONCEPT = "concept"
    TECHNIQUE = "technique"
    REFERENCE = "reference"
    MOC = "moc"  # a map of content: a note that indexes others
    CLAIM = "claim"
    PROCEDURE = "procedure"


class Scope(NamedTuple):
    """The owner of notes: a user, a skill and an agent; an empty field stands for any."""

    user: str = ""
    skill: str = ""
    agent: str = ""

    def holds(self, owner: Scope) -> bool:
        """Return whether the notes of an owner are in the scope."""
        return all(wanted in ("", has) for wanted, has in zip(self, owner, strict=True))


ANY = Scope()
"""The notes of everybody."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note, read from a file or from its corpus. ``key`` is its path relative to the vault, with ``/``.

    ``created`` and ``updated`` are the times in its front matter, ``modified`` is the file's, in ISO 8601; of a stored
    note ``updated`` is the file's unless the front matter has one. ``metadata`` is the rest of the front matter.

    Only a note that was read from a text has one: ``text`` is the whole file, ``body_start`` the character where its
    front matter ends, ``described`` the span of the description in it, empty if the note gives none. ``blocks`` and
    ``links`` are in characters of ``text``; ``in_code`` are wikilinks that a code block or span shows, which link
    nothing; ``comments`` are the spans of what only its author sees; ``warnings`` say what is wrong with the front
    matter. Only a stored note has ``unresolved``, the targets of its links that lead to no note, and ``version``, the
    hash of its text. ``is_created``: an agent created it, and it is in no folder.
    """

    key: str
    path: str
    title: str
    description: str
    type: NoteType
    text: str = ""
    body_start: int = 0
    described: tuple[int, int] = (0, 0)
    blocks: tuple[Block, ...] = ()
    links: tuple[Link, ...] = ()
    in_code: tuple[Link, ...] = ()
    comments: tuple[tuple[int, int], ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    scope: Scope = ANY
    published: bool = True
    created: str = ""
    updated: str = ""
    modified: str = ""
    metadata: Metadata = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    version: str = ""
    is_created: bool = False

    @property
    def is_made_by_agent(self) -> bool:
        """Return whether an agent made the note, in the folder or beside it."""
        return self.is_created or self.metadata.get(MADE_BY) == AGENT

    def line_of(self, start: int) -> int:
        """Return the line, from 1, of a character of the text."""
        return self.text.count("\n", 0, start) + 1


@dataclass(frozen=True, slots=True)
class NoteEntry(JsonRecord):
    """A note in a list; ``made_by_agent``: agents may update and delete it; another text has another ``version``."""

    key: str
    title: str
    description: str
    type: str
    tags: tuple[str, ...]
    updated: str
    published: bool
    made_by_agent: bool
    version: str


@dataclass(frozen=True, slots=True)
class Folder:
    """A vault as read from a folder: its notes by key, the paths of its other files, and the files left out."""

    root: str
    notes: tuple[Note, ...]
    attachments: frozenset[str]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    """The meaning of a link: the ``key`` of a note, empty if there is none, and the other notes that it may mean.

    ``attachment``: it means a file that is no note.
    """

    key: str = ""
    others: tuple[str, ...] = ()
    attachment: bool = False

    @property
    def is_nothing(self) -> bool:
        """Return whether the link leads to no file."""
        return not (self.key or self.attachment)
