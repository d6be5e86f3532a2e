"""Read memories from chats and notes in JSON: the formats, and what makes a message a memory.

Formats, told apart by their fields, of ``.json`` (a value or a list of values) and ``.jsonl`` (a value a line):

- ``{"conversation", "sessions": [{"session", "date", "turns": [{"speaker", "text", "date", ...}]}]}``
- messages, ``{"role", "content", "timestamp"}`` and alike, or ``{"messages": [...]}``
- ``{"id", "text", "metadata": {"conversation", "session", "turn", "date", "speaker"}}``, as benchmark sets have it
- ChatGPT's ``conversations.json``, and Claude's
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.domains.memory.records import Memory
from pipeline.domains.memory.remember.exports import chatgpt, claude
from pipeline.domains.memory.remember.fields import LONGEST_NAME, TEXTS, mapping, name_of, storable, turn_of
from pipeline.domains.memory.remember.files import values
from pipeline.domains.memory.remember.messages import derived_name, message, messages, sessions
from pipeline.domains.memory.remember.records import Given, Message, Read
from pipeline.domains.memory.remember.times import time_of
from pipeline.domains.memory.times import zone_named
from pipeline.errors import GraphError, SourceError
from pipeline.knowledge.check import check_properties
from pipeline.limits import DEFAULT_LIMITS, Limits
from pipeline.records import Skipped

_FORMS = (
    'Give messages such as {"speaker": ..., "text": ..., "date": ...}, {"conversation": ..., "sessions": [...]}, or an '
    "export of ChatGPT or Claude."
)
_READERS = (("sessions", sessions), ("mapping", chatgpt), ("chat_messages", claude), ("messages", messages))
_UNDATED = "Give it a date, or a date for all that have none."


def read_memories(
    path: Path,
    *,
    scope: str = "default",
    timezone: str = "UTC",
    limits: Limits = DEFAULT_LIMITS,
    undated: str | None = None,
) -> Read:
    """Return the memories of a file of chats or notes, in its order. Messages without text are skipped.

    A memory's key is the message's id (in exports ``conversation/id``), else ``conversation/session:turn``. So the same
    file gives the same memories, and a longer version of it only adds to them. A conversation without a name is called
    as its file, with a mark of its first message. Text is kept verbatim. Times without an offset are read in
    ``timezone``, a name of the IANA database. ``undated`` is the time of messages for which neither they nor their
    session or conversation give one; without it these are refused. Raises SourceError, naming file and position, for
    malformed messages and keys that occur twice.
    """
    builder = _Builder(scope, timezone, undated)
    for found in _messages(path, limits):
        builder.add(found)
    if not builder.seen:
        raise SourceError(f"{path} holds no messages.", _FORMS)
    return Read(tuple(builder.memories), tuple(builder.given), tuple(builder.skipped))


def _messages(path: Path, limits: Limits) -> Iterator[Message]:
    inherited: dict[str, Any] = {}
    for where, value in values(path, limits):
        held = mapping(value, where, _FORMS)
        reader = next((reader for name, reader in _READERS if isinstance(held.get(name), list | dict)), None)
        if reader is not None:
            yield from reader(held, where, path.stem)
        elif any(name in held for name in TEXTS):
            inherited = inherited or {"conversation": derived_name(path.stem, held)}
            yield message(held, where, inherited)
        else:
            raise SourceError(f"{where} has no text.", _FORMS)


class _Builder:
    """Collects memories, and checks what must hold of all of a file: keys occur once, turns are counted."""

    def __init__(self, scope: str, timezone: str, undated: str | None) -> None:
        self.memories: list[Memory] = []
        self.given: list[Given] = []
        self.skipped: list[Skipped] = []
        self.seen: dict[str, str] = {}
        self._scope, self._zone = scope, zone_named(timezone)
        self._undated = None if undated is None else time_of(undated, self._zone, "The date of undated messages")
        self._turns: Counter[tuple[str, str]] = Counter()

    def add(self, found: Message) -> None:
        """Add a message as a memory, or what is skipped of it."""
        conversation = name_of(found.conversation, "conversation", found.where)
        session = name_of(found.session, "session", found.where)
        turn = self._turn(found, conversation, session)
        key = self._key(found, conversation, session, turn)
        self.skipped += [Skipped(found.where, reason) for reason in found.left_out]
        if not found.text.strip():
            self.skipped += [] if found.left_out else [Skipped(found.where, "it has no text")]
            return
        memory = Memory(
            key,
            storable(found.text, "text", found.where),
            self._time(found),
            speaker=name_of(found.speaker, "speaker", found.where),
            session=session,
            conversation=conversation,
            turn=turn,
            scope=self._scope,
            title=_title(found),
            metadata=_metadata(found),
        )
        self.memories.append(memory)
        if found.entities is not None or found.facts is not None:
            self.given.append(Given(memory, found.where, found.entities, found.facts))

    def _turn(self, found: Message, conversation: str, session: str) -> int:
        place = conversation, session
        number = turn_of(found.turn, found.where)
        self._turns[place] = self._turns[place] + 1 if number is None else number
        return self._turns[place]

    def _key(self, found: Message, conversation: str, session: str, turn: int) -> str:
        key = name_of(found.key, "id", found.where) or _derived_key(conversation, session, turn)
        if not key.strip() or len(key) > LONGEST_NAME:
            raise SourceError(f"{found.where}: its id is {key[:60]!r}.", f"Give 1 to {LONGEST_NAME} characters.")
        if key in self.seen:
            raise SourceError(
                f"{found.where}: its id is {key[:100]!r}, as that of {self.seen[key]}.", "Give each an id of its own."
            )
        self.seen[key] = found.where
        return key

    def _time(self, found: Message) -> str:
        if found.time is not None:
            return time_of(found.time, self._zone, found.where)
        if self._undated is None:
            raise SourceError(f"{found.where} has no date.", _UNDATED)
        return self._undated


def _derived_key(conversation: str, session: str, turn: int) -> str:
    """Return the key of a message without an id. A slash in the name of a conversation is escaped: keys are unique."""
    escaped = conversation.replace("%", "%25").replace("/", "%2F")
    return f"{escaped}/{session}:{turn}"


def _title(found: Message) -> str:
    return storable(found.title, "title", found.where) if isinstance(found.title, str) else ""


def _metadata(found: Message) -> dict[str, Any]:
    try:
        return check_properties(found.metadata or {}, found.where, LONGEST_NAME)
    except GraphError as error:
        raise SourceError(error.message, error.fix) from None
