"""Read memories from chats and notes in JSON.

Formats, recognised by their fields, of ``.json`` (a value or a list of values) and ``.jsonl`` (a value a line):

- ``{"conversation", "sessions": [{"session", "date", "turns": [{"speaker", "text", "date", ...}]}]}``
- messages, ``{"role", "content", "timestamp"}`` and alike, or ``{"messages": [...]}``
- ``{"id", "text", "metadata": {"conversation", "session", "turn", "date", "speaker"}}``, as benchmark sets have it
- ChatGPT's ``conversations.json``, and Claude's
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.domains.memory.chats import messages as formats
from pipeline.domains.memory.chats.messages import GUARD, LONGEST_NAME, Chat, Given, Message, Read
from pipeline.domains.memory.records import Memory
from pipeline.domains.memory.times import time_of, zone_named
from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS, Guard, Limits, lines, read_json
from pipeline.files.validated import validated
from pipeline.records import Skipped

_FORMS = (
    'Give messages such as {"speaker": ..., "text": ..., "date": ...}, {"conversation": ..., "sessions": [...]}, or an '
    "export of ChatGPT or Claude."
)
_READERS = {
    "sessions": formats.sessions,
    "mapping": formats.chatgpt,
    "chat_messages": formats.claude,
    "messages": formats.messages,
}
"""The readers of the formats, by the field that identifies each."""


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
    zone = zone_named(timezone)
    default = None if undated is None else time_of(undated, zone, "The date of undated messages")
    memories, given, skipped = list[Memory](), list[Given](), list[Skipped]()
    seen: dict[str, str] = {}
    turns: Counter[tuple[str, str]] = Counter()
    for item in _messages(path, limits):
        place = item.conversation, item.session
        turn = turns[place] = turns[place] + 1 if item.turn is None else item.turn
        key = _key(item, turn, seen)
        seen[key] = item.where
        skipped += [Skipped(item.where, reason) for reason in item.left_out]
        if not item.text.strip():
            skipped += [] if item.left_out else [Skipped(item.where, "it has no text")]
            continue
        time = default if item.date is None else time_of(item.date, zone, item.where)
        if time is None:
            raise SourceError(f"{item.where} has no date.", "Give it a date, or a date for all that have none.")
        memory = Memory(
            key, item.text, time, item.speaker, item.session, item.conversation, turn, scope, item.title, item.metadata
        )
        memories.append(memory)
        if item.entities is not None or item.facts is not None:
            given.append(Given(memory, item.where, item.entities, item.facts))
    if not seen:
        raise SourceError(f"{path} holds no messages.", _FORMS)
    return Read(tuple(memories), tuple(given), tuple(skipped))


def together(read: Sequence[Read]) -> Read:
    """Return the contents of several files as of one; of memories of one key the last counts."""
    memories = {memory.key: memory for one in read for memory in one.memories}
    given = (item for one in read for item in one.given if memories[item.memory.key] is item.memory)
    return Read(tuple(memories.values()), tuple(given), tuple(item for one in read for item in one.skipped))


def _messages(path: Path, limits: Limits) -> Iterator[Message]:
    inherited: dict[str, Any] = {}
    for where, value in _values(path, replace(GUARD, limits=limits)):
        if not isinstance(value, dict):
            raise SourceError(f"{where} is {value!r:.60}.", _FORMS)
        reader = next((reader for name, reader in _READERS.items() if isinstance(value.get(name), list | dict)), None)
        if reader is not None:
            yield from reader(validated(Chat, value, where, GUARD), where, path.stem)
        elif any(name in value for name in formats.TEXTS):
            inherited = inherited or {"conversation": formats.derived_name(path.stem, value)}
            yield formats.message(value, where, inherited)
        else:
            raise SourceError(f"{where} has no text.", _FORMS)


def _values(path: Path, guard: Guard) -> Iterator[tuple[str, Any]]:
    """Yield the lines of a .jsonl file, the items of a list, or the single value of a file, with their positions."""
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        yield from ((line.place, line.json()) for line in lines(path, guard))
    elif isinstance(value := read_json(path, guard), list):
        yield from ((f"{path}, item {number}", item) for number, item in enumerate(value, 1))
    else:
        yield str(path), value


def _key(item: Message, turn: int, seen: dict[str, str]) -> str:
    """Return the key of a message; raises SourceError if it is empty, too long or ``seen`` before."""
    conversation = item.conversation.replace("%", "%25").replace("/", "%2F")  # so that derived keys are unique
    key = item.id or f"{conversation}/{item.session}:{turn}"
    if not key.strip() or len(key) > LONGEST_NAME:
        raise SourceError(f"{item.where} has the `id` {key[:60]!r}.", f"Give 1 to {LONGEST_NAME} characters.")
    if key in seen:
        raise SourceError(
            f"{item.where} has the `id` {key[:100]!r}, as has {seen[key]}.", "Give each an id of its own."
        )
    return key
