"""Read memories from chats and notes.

Formats, recognised by their fields, of ``.json`` (a value or a list of values) and ``.jsonl`` (a value a line):

- ``{"conversation", "sessions": [{"session", "date", "turns": [{"speaker", "text", "date", ...}]}]}``
- messages, ``{"role", "content", "timestamp"}`` and alike, or ``{"messages": [...]}``
- ``{"id", "text", "metadata": {"conversation", "session", "turn", "date", "speaker"}}``, as benchmark sets have it
- exports of ChatGPT, Claude, Slack, Telegram, and Discord (by DiscordChatExporter); sessions of Claude Code

A ``.txt`` is a chat of WhatsApp. Folders and zips of such files are read, too.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.domains.memory.chats import assistants, teams
from pipeline.domains.memory.chats import messages as formats
from pipeline.domains.memory.chats.messages import GUARD, LONGEST_NAME, Chat, Found, Given, Message, Read, reason
from pipeline.domains.memory.chats.unpack import ChatFile, Refused, chat_files
from pipeline.domains.memory.chats.whatsapp import whatsapp
from pipeline.domains.memory.records import Memory
from pipeline.domains.memory.times import time_of, zone_named
from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS, Guard, Limits, lines, read_json
from pipeline.files.validated import validated
from pipeline.ids import digest
from pipeline.records import Skipped
from pipeline.text.prose import counted

_FORMS = (
    'Give messages such as {"speaker": ..., "text": ..., "date": ...}, {"conversation": ..., "sessions": [...]}, or an '
    "export of ChatGPT, Claude, Claude Code, Slack, Telegram, Discord or WhatsApp."
)
_READERS: dict[str, Callable[[Chat, str, Path], Found]] = {
    "sessions": formats.sessions,
    "mapping": assistants.chatgpt,
    "chat_messages": assistants.claude,
    "messages": formats.messages,
}
"""The readers of the formats, by the field that identifies each."""

_WRAPPERS = ("chats", "left_chats", "conversations")
"""The fields of an object that holds several chats: Telegram's whole export, and conversations in a frame."""


def read_files(
    paths: Sequence[Path],
    *,
    scope: str = "default",
    timezone: str = "UTC",
    limits: Limits = DEFAULT_LIMITS,
    undated: str | None = None,
    strict: bool = False,
) -> Read:
    """Return the contents of several files as of one, in order; of memories of one key the last counts.

    A path may be a folder or a zip: then of all files below it or in it. One that :func:`read_memories` refuses is left
    out, unless it was named and isn't there, nothing is left, or ``strict``: then what it raises is raised.
    """
    refused: list[SourceError] = []
    read: list[Read] = []
    reading = partial(_Reading, scope, *_times(timezone, undated), strict)
    for path in paths:
        for item in _each_file(path, limits, reading):
            if isinstance(item, Refused):
                if strict or not os.path.lexists(path):
                    raise item.error
                refused.append(item.error)
                item = Read(skipped=(Skipped(item.place, reason(item.error, item.place)),))
            read.append(item)
    if paths and not any(one.memories for one in read):
        raise refused[0] if refused else SourceError(f"{paths[0]} holds no chats.", _FORMS)
    return _together(read)


def _each_file(path: Path, limits: Limits, reading: Callable[[], "_Reading"]) -> Iterator[Read | Refused]:
    try:
        for item in chat_files(path, limits):
            if isinstance(item, ChatFile):
                try:
                    yield reading().whole(item.path, item.limits).placed(item.placed)
                except SourceError as error:
                    yield Refused(item.placed(str(item.path)), SourceError(item.placed(error.message), error.fix))
            else:
                yield Read(skipped=(item,)) if isinstance(item, Skipped) else item
    except SourceError as error:
        yield Refused(str(path), error)


def _together(read: Sequence[Read]) -> Read:
    memories = {memory.key: memory for one in read for memory in one.memories}
    given = tuple(item for one in read for item in one.given if memories[item.memory.key] is item.memory)
    skipped = tuple(item for one in read for item in one.skipped)
    return Read(tuple(memories.values()), given, skipped)


def read_memories(
    path: Path,
    *,
    scope: str = "default",
    timezone: str = "UTC",
    limits: Limits = DEFAULT_LIMITS,
    undated: str | None = None,
    strict: bool = False,
    by_ids: bool = False,
) -> Read:
    """Return the memories of a file of chats or notes, in its order. Messages without text are skipped.

    A memory's key is ``conversation/session/id`` by the message's id (in exports ``conversation/id``; ``by_ids`` the id
    alone), else ``conversation/session:turn``. So the same file gives the same memories, a longer version of it only
    adds to them, and what has the same ids in another conversation stays apart. A conversation without a name is called
    as its file, with a mark of its first message. Text is kept verbatim, without markup of exports. Times without an
    offset are read in ``timezone``, a name of the IANA database. ``undated`` is the time of messages for which neither
    they nor their session or conversation give one.

    A malformed message or conversation, one without a time, and one that repeats another, is skipped, with its
    position; of other texts with a key that occurred, each gets one of its own. Raises SourceError if nothing can be
    read, and with ``strict`` for the first of these.
    """
    return _Reading(scope, *_times(timezone, undated), strict, by_ids=by_ids).whole(path, limits)


def _times(timezone: str, undated: str | None) -> tuple[ZoneInfo, str | None]:
    zone = zone_named(timezone)
    return zone, None if undated is None else time_of(undated, zone, "The date of undated messages")


@dataclass(slots=True)
class _Reading:
    """The part of a file that has been read so far."""

    scope: str
    zone: ZoneInfo
    default: str | None
    strict: bool
    memories: list[Memory] = field(default_factory=list)
    given: list[Given] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    faults: list[SourceError] = field(default_factory=list)
    seen: dict[str, Message] = field(default_factory=dict)
    turns: Counter[tuple[str, str]] = field(default_factory=Counter)
    by_ids: bool = False

    def whole(self, path: Path, limits: Limits) -> Read:
        """Read a whole file, as :func:`read_memories` does."""
        for item in _found(path, replace(GUARD, limits=limits, mend=not self.strict)):
            if isinstance(item, Skipped):
                self.skipped.append(item)
                continue
            where, read = item
            try:
                if isinstance(read, SourceError):
                    raise read
                self.add(read())
            except SourceError as error:
                if self.strict:
                    raise
                self.faults.append(error)
                self.skipped.append(Skipped(where, reason(error, where)))
        if not self.memories:
            raise self.nothing(path)
        return Read(tuple(self.memories), tuple(self.given), tuple(self.skipped))

    def add(self, item: Message) -> None:
        """Add a message; raises SourceError if it can't be kept."""
        session = item.conversation, item.session
        turn = self.turns[session] = self.turns[session] + 1 if item.turn is None else item.turn
        key = _key(item, turn, by_ids=self.by_ids)
        if (earlier := self.seen.get(key)) and earlier.text != item.text and not self.strict:
            key = f"{key}~{digest('memory', item.text)[:8]}"  # so that of texts with one id none is lost
            earlier = self.seen.get(key)
        if earlier:
            message = f"{item.where} has the `id` {(item.id or key)[:100]!r}, as has {earlier.where}."
            raise SourceError(message, "Give each an id of its own.")
        self.seen[key] = item
        self.skipped += [Skipped(item.where, reason) for reason in item.left_out]
        if not item.text.strip():
            self.skipped += [] if item.left_out else [Skipped(item.where, "it has no text")]
            return
        time = self.default if item.date is None else time_of(item.date, self.zone, item.where)
        if time is None:
            raise SourceError(f"{item.where} has no date.", "Give it a date, or a date for all that have none.")
        place = item.speaker, item.session, item.conversation, turn, self.scope
        memory = Memory(key, item.text, time, *place, item.title, item.metadata)
        self.memories.append(memory)
        if item.entities is not None or item.facts is not None:
            self.given.append(Given(memory, item.where, item.entities, item.facts))

    def nothing(self, path: Path) -> SourceError:
        """Return the error of a file of which nothing was read."""
        if self.faults:
            return self.faults[0]
        if not self.skipped:
            return SourceError(f"{path} holds no messages.", _FORMS)
        first = self.skipped[0]
        left_out = f"{counted(len(self.skipped), 'part')} left out, the first, {first.source}, since {first.reason}"
        return SourceError(f"{path} holds no message with a text: {left_out}.", _FORMS)


def _found(path: Path, guard: Guard) -> Found:
    """Yield the messages of a file, by what its name ends with."""
    suffix = path.suffix.lower()
    try:
        if suffix == ".txt":
            yield from whatsapp(path, guard)
        else:
            yield from (_found_in_lines if suffix in (".jsonl", ".ndjson") else _found_in_value)(path, guard)
    except SourceError as error:
        yield str(path), error


def _found_in_lines(path: Path, guard: Guard) -> Found:
    inherited: dict[str, Any] = {}
    titles = cache(lambda: assistants.titles_in(path, guard))
    for line in lines(path, guard):
        try:
            value = line.json()
            if isinstance(value, dict) and assistants.is_turn(value):
                yield from assistants.claude_code(value, line.place, titles())
            else:
                yield from _in_value(value, line.place, path, guard, inherited)
        except SourceError as error:
            yield line.place, error


def _found_in_value(path: Path, guard: Guard) -> Found:
    value = read_json(path, guard)
    if isinstance(value, list) and teams.is_slack(value):
        value = {"messages": value}
    inherited: dict[str, Any] = {}
    for where, item in _items(value, str(path)):
        try:
            yield from _in_value(item, where, path, guard, inherited)
        except SourceError as error:
            yield where, error


def _items(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Yield the items of a list, the chats of an object that holds several, or the value, with their positions."""
    frames = [(where, value)] if isinstance(value, list) else []
    for name in _WRAPPERS if isinstance(value, dict) else ():
        inner = value[name].get("list") if isinstance(value.get(name), dict) else value.get(name)
        frames += [(f"{where}, {name}", inner)] if isinstance(inner, list) else []
    for frame, items in frames:
        yield from ((f"{frame}, item {number}", item) for number, item in enumerate(items, 1))
    if not frames:
        yield where, value


def _in_value(value: Any, where: str, path: Path, guard: Guard, inherited: dict[str, Any]) -> Found:
    """Yield the messages of an object: a chat, or a message, which may have fields from ``inherited``."""
    if not isinstance(value, dict):
        raise SourceError(f"{where} is {value!r:.60}.", _FORMS)
    name = next((name for name in _READERS if isinstance(value.get(name), list | dict)), None)
    if name is not None:
        chat = validated(Chat, value, where, GUARD)
        if teams.is_slack(chat.messages) and not teams.is_discord(chat):
            yield from teams.slack(chat, where, path, guard)
        else:
            yield from (_of_team(chat) or _READERS[name])(chat, where, path)
    elif any(name in value for name in formats.TEXTS):
        if not inherited:
            inherited |= {"conversation": formats.derived_name(path.stem, value)}
        yield where, partial(formats.message, value, where, inherited, None)
    else:
        raise SourceError(f"{where} has no text.", _FORMS)


def _of_team(chat: Chat) -> Callable[[Chat, str, Path], Found] | None:
    if chat.messages and teams.is_discord(chat):
        return teams.discord
    return teams.telegram if teams.is_telegram(chat) else None


def _key(item: Message, turn: int, *, by_ids: bool) -> str:
    """Return the key of a message; raises SourceError if its id is blank or the key too long."""
    conversation = _quoted(item.conversation)
    key = f"{conversation}/{item.session}:{turn}"
    if item.id:
        sessions = [_quoted(item.session)] if item.session and not item.exported else []
        key = item.id if by_ids else "/".join([conversation, *sessions, _quoted(item.id)])
    if not (item.id or key).strip() or len(key) > LONGEST_NAME:
        said = (item.id or key)[:60]
        raise SourceError(f"{item.where} has the `id` {said!r}.", f"Give 1 to {LONGEST_NAME} characters.")
    return key


def _quoted(name: str) -> str:
    """Return a name without the separator, so that derived keys are unique."""
    return name.replace("%", "%25").replace("/", "%2F")
