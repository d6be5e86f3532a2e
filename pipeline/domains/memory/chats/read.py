"""Read memories from chats and notes in JSON.

Formats, recognised by their fields, of ``.json`` (a value or a list of values) and ``.jsonl`` (a value a line):

- ``{"conversation", "sessions": [{"session", "date", "turns": [{"speaker", "text", "date", ...}]}]}``
- messages, ``{"role", "content", "timestamp"}`` and alike, or ``{"messages": [...]}``
- ``{"id", "text", "metadata": {"conversation", "session", "turn", "date", "speaker"}}``, as benchmark sets have it
- ChatGPT's ``conversations.json``, and Claude's
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.domains.memory.chats.messages import (
    GUARD,
    LONGEST_NAME,
    TEXTS,
    Given,
    Message,
    Read,
    chatgpt,
    claude,
    derived_name,
    message,
    messages,
    sessions,
)
from pipeline.domains.memory.records import Memory
from pipeline.domains.memory.times import time_of, zone_named
from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS, Guard, Limits, lines, read_json
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
    for item in _messages(path, limits):
        builder.add(item)
    if not builder.seen:
        raise SourceError(f"{path} holds no messages.", _FORMS)
    return Read(tuple(builder.memories), tuple(builder.given), tuple(builder.skipped))


def _messages(path: Path, limits: Limits) -> Iterator[Message]:
    inherited: dict[str, Any] = {}
    for where, value in _values(path, replace(GUARD, limits=limits)):
        if not isinstance(value, dict):
            raise SourceError(f"{where} is {value!r:.60}.", _FORMS)
        reader = next((reader for name, reader in _READERS if isinstance(value.get(name), list | dict)), None)
        if reader is not None:
            yield from reader(value, where, path.stem)
        elif any(name in value for name in TEXTS):
            inherited = inherited or {"conversation": derived_name(path.stem, value)}
            yield message(value, where, inherited)
        else:
            raise SourceError(f"{where} has no text.", _FORMS)


def _values(path: Path, guard: Guard) -> Iterator[tuple[str, Any]]:
    """Yield the lines of a .jsonl file, the items of a list, or the single value of a file, with their positions."""
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        yield from ((line.place, line.json()) for line in lines(path, guard))
        return
    value = read_json(path, guard)
    if isinstance(value, list):
        yield from ((f"{path}, item {number}", item) for number, item in enumerate(value, 1))
    else:
        yield str(path), value


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

    def add(self, item: Message) -> None:
        """Add a message as a memory, or what is skipped of it."""
        place = item.conversation, item.session
        turn = self._turns[place] = self._turns[place] + 1 if item.turn is None else item.turn
        key = self._key(item, turn)
        self.skipped += [Skipped(item.where, reason) for reason in item.left_out]
        if not item.text.strip():
            self.skipped += [] if item.left_out else [Skipped(item.where, "it has no text")]
            return
        memory = Memory(
            key,
            item.text,
            self._time(item),
            speaker=item.speaker,
            session=item.session,
            conversation=item.conversation,
            turn=turn,
            scope=self._scope,
            title=item.title,
            metadata=item.metadata,
        )
        self.memories.append(memory)
        if item.entities is not None or item.facts is not None:
            self.given.append(Given(memory, item.where, item.entities, item.facts))

    def _key(self, item: Message, turn: int) -> str:
        key = item.id or _derived_key(item.conversation, item.session, turn)
        if not key.strip() or len(key) > LONGEST_NAME:
            raise SourceError(f"{item.where} has the `id` {key[:60]!r}.", f"Give 1 to {LONGEST_NAME} characters.")
        if key in self.seen:
            raise SourceError(
                f"{item.where} has the `id` {key[:100]!r}, as has {self.seen[key]}.", "Give each an id of its own."
            )
        self.seen[key] = item.where
        return key

    def _time(self, item: Message) -> str:
        if item.date is not None:
            return time_of(item.date, self._zone, item.where)
        if self._undated is None:
            raise SourceError(f"{item.where} has no date.", _UNDATED)
        return self._undated


def _derived_key(conversation: str, session: str, turn: int) -> str:
    """Return the key of a message without an id. A slash in the name of a conversation is escaped: keys are unique."""
    escaped = conversation.replace("%", "%25").replace("/", "%2F")
    return f"{escaped}/{session}:{turn}"
