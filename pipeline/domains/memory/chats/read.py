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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.domains.memory.chats import exports, teams, transcripts
from pipeline.domains.memory.chats import messages as formats
from pipeline.domains.memory.chats.messages import GUARD, LONGEST_NAME, Found, Given, Message, Read, broken, reason
from pipeline.domains.memory.chats.unpack import ChatFile, Refused, chat_files
from pipeline.domains.memory.chats.whatsapp import whatsapp
from pipeline.domains.memory.records import Memory
from pipeline.domains.memory.times import time_of, zone_named
from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS, Guard, Limits, lines, read_json
from pipeline.ids import digest
from pipeline.records import Skipped
from pipeline.text.prose import counted

_FORMS = (
    'Give messages such as {"speaker": ..., "text": ..., "date": ...}, {"conversation": ..., "sessions": [...]}, or an '
    "export of ChatGPT, Claude, Claude Code, Slack, Telegram, Discord or WhatsApp."
)
_READERS = {
    "sessions": formats.sessions,
    "mapping": exports.chatgpt,
    "chat_messages": exports.claude,
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
    gathered = _Gathered(strict)
    zone, default = _times(timezone, undated)
    for path in paths:
        try:
            for item in chat_files(path, limits):
                gathered.take(item, _Reading(scope, zone, default, strict))
        except SourceError as error:
            if not os.path.lexists(path):
                raise
            gathered.refuse(str(path), error)
    if paths and not any(one.memories for one in gathered.read):
        raise gathered.refused[0] if gathered.refused else SourceError(f"{paths[0]} holds no chats.", _FORMS)
    return _together(gathered.read)


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The files that have been read so far, and the errors of those that can't be."""

    strict: bool
    read: list[Read] = field(default_factory=list)
    refused: list[SourceError] = field(default_factory=list)

    def take(self, item: ChatFile | Skipped | Refused, reading: "_Reading") -> None:
        """Read a file, or note that it is left out; raises SourceError for one that was named."""
        if isinstance(item, Skipped):
            self.read.append(Read(skipped=(item,)))
        elif isinstance(item, Refused):
            self.refuse(item.place, item.error)
        else:
            try:
                self.read.append(reading.whole(item.path, item.limits).placed(item.placed))
            except SourceError as error:
                told = SourceError(item.placed(error.message), error.fix)
                if item.named:
                    raise told from None
                self.refuse(item.shown or str(item.path), told)

    def refuse(self, place: str, error: SourceError) -> None:
        """Note that what is at a place can't be read; raises the error if it is to end the run."""
        if self.strict:
            raise error
        self.refused.append(error)
        self.read.append(Read(skipped=(Skipped(place, reason(error, place)),)))


def _together(read: Sequence[Read]) -> Read:
    memories = {memory.key: memory for one in read for memory in one.memories}
    given = tuple(item for one in read for item in one.given if memories[item.memory.key] is item.memory)
    skipped = tuple(item for one in read for item in one.skipped)
    ids = {key: id_ for one in read for key, id_ in one.ids.items()}
    return Read(tuple(memories.values()), given, skipped, ids)


def read_memories(
    path: Path,
    *,
    scope: str = "default",
    timezone: str = "UTC",
    limits: Limits = DEFAULT_LIMITS,
    undated: str | None = None,
    strict: bool = False,
) -> Read:
    """Return the memories of a file of chats or notes, in its order. Messages without text are skipped.

    A memory's key is ``conversation/session/id`` by the message's id (in exports ``conversation/id``), else
    ``conversation/session:turn``. So the same file gives the same memories, a longer version of it only adds to them,
    and what has the same ids in another conversation stays apart. A conversation without a name is called as its file,
    with a mark of its first message. Text is kept verbatim, without markup of exports. Times without an offset are read
    in ``timezone``, a name of the IANA database. ``undated`` is the time of messages for which neither they nor their
    session or conversation give one.

    A malformed message or conversation, one without a time, and one that repeats another, is skipped, with its
    position; of other texts with a key that occurred, each gets one of its own. Raises SourceError if nothing can be
    read, and with ``strict`` for the first of these.
    """
    return _Reading(scope, *_times(timezone, undated), strict).whole(path, limits)


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
    ids: dict[str, str] = field(default_factory=dict)
    seen: dict[str, Message] = field(default_factory=dict)
    turns: Counter[tuple[str, str]] = field(default_factory=Counter)

    def whole(self, path: Path, limits: Limits) -> Read:
        """Read a whole file, as :func:`read_memories` does."""
        for item in _found(path, replace(GUARD, limits=limits, mend=not self.strict)):
            if isinstance(item, Skipped):
                self.skipped.append(item)
                continue
            try:
                self.add(item[1]())
            except SourceError as error:
                if self.strict:
                    raise
                self.faults.append(error)
                self.skipped.append(Skipped(item[0], reason(error, item[0])))
        if not self.memories:
            raise self.nothing(path)
        return Read(tuple(self.memories), tuple(self.given), tuple(self.skipped), self.ids)

    def add(self, item: Message) -> None:
        """Add a message; raises SourceError if it can't be kept."""
        place = item.conversation, item.session
        turn = self.turns[place] = self.turns[place] + 1 if item.turn is None else item.turn
        key = _key(item, turn)
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
        memory = Memory(
            key,
            item.text,
            time,
            item.speaker,
            item.session,
            item.conversation,
            turn,
            self.scope,
            item.title,
            item.metadata,
        )
        self.memories.append(memory)
        self.ids |= {key: item.id} if item.id and not item.exported else {}
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
    try:
        if path.suffix.lower() == ".txt":
            yield from whatsapp(path, guard)
        elif path.suffix.lower() in (".jsonl", ".ndjson"):
            yield from _found_in_lines(path, guard)
        else:
            yield from _found_in_value(path, guard)
    except SourceError as error:
        yield str(path), broken(error)


def _found_in_lines(path: Path, guard: Guard) -> Found:
    inherited: dict[str, Any] = {}
    titles: transcripts.Titles | None = None
    for line in lines(path, guard):
        try:
            value = line.json()
            if isinstance(value, dict) and transcripts.is_line(value):
                titles = transcripts.titles_in(path, guard) if titles is None else titles
                yield from transcripts.turn(value, line.place, titles)
            else:
                yield from _in_value(value, line.place, path, guard, inherited)
        except SourceError as error:
            yield line.place, broken(error)


def _found_in_value(path: Path, guard: Guard) -> Found:
    value = read_json(path, guard)
    if isinstance(value, list) and teams.is_slack(value):
        value = {"messages": value}
    inherited: dict[str, Any] = {}
    for where, item in _items(value, str(path)):
        try:
            yield from _in_value(item, where, path, guard, inherited)
        except SourceError as error:
            yield where, broken(error)


def _items(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Yield the items of a list, the chats of an object that holds several, or the value, with their positions."""
    if isinstance(value, list):
        yield from ((f"{where}, item {number}", item) for number, item in enumerate(value, 1))
        return
    framed = [(name, _listed(value[name])) for name in _WRAPPERS if name in value] if isinstance(value, dict) else []
    held = [(name, items) for name, items in framed if items is not None]
    for name, items in held:
        yield from ((f"{where}, {name}, item {number}", item) for number, item in enumerate(items, 1))
    if not held:
        yield where, value


def _listed(value: object) -> list[Any] | None:
    inner = value.get("list") if isinstance(value, dict) else value
    return inner if isinstance(inner, list) else None


def _in_value(value: Any, where: str, path: Path, guard: Guard, inherited: dict[str, Any]) -> Found:
    """Yield the messages of an object: a chat, or a message, which may have fields from ``inherited``."""
    if not isinstance(value, dict):
        raise SourceError(f"{where} is {value!r:.60}.", _FORMS)
    name = next((name for name in _READERS if isinstance(value.get(name), list | dict)), None)
    if name is not None:
        yield from _team(value, where, path, guard) or _READERS[name](value, where, path)
    elif any(name in value for name in formats.TEXTS):
        if not inherited:
            inherited |= {"conversation": formats.derived_name(path.stem, value)}
        yield formats.unread(value, where, inherited)
    else:
        raise SourceError(f"{where} has no text.", _FORMS)


def _team(value: Mapping[str, Any], where: str, path: Path, guard: Guard) -> Found | None:
    items = value.get("messages")
    if not isinstance(items, list):
        return None
    if teams.is_discord(value):
        return teams.discord(value, where, path)
    if teams.is_slack(items):
        return teams.slack(value, where, path, guard)
    return teams.telegram(value, where, path) if teams.is_telegram(value, items) else None


def _key(item: Message, turn: int) -> str:
    """Return the key of a message; raises SourceError if its id is blank or the key too long."""
    conversation = _quoted(item.conversation)
    key = f"{conversation}/{item.session}:{turn}"
    if item.id:
        sessions = [_quoted(item.session)] if item.session and not item.exported else []
        key = "/".join([conversation, *sessions, _quoted(item.id)])
    if not (item.id or key).strip() or len(key) > LONGEST_NAME:
        said = (item.id or key)[:60]
        raise SourceError(f"{item.where} has the `id` {said!r}.", f"Give 1 to {LONGEST_NAME} characters.")
    return key


def _quoted(name: str) -> str:
    """Return a name without the separator, so that derived keys are unique."""
    return name.replace("%", "%25").replace("/", "%2F")
