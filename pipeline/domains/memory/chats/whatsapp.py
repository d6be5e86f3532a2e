"""Chats as WhatsApp exports them: text, in which each message begins with its time and speaker.

The form of the time is that of the phone that exported it. Messages have no ids: one is known by its time as written,
its speaker and its text, so that a later export of the chat adds only what is new.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import partial
from itertools import pairwise
from pathlib import Path

from pipeline.domains.memory.chats.messages import GUARD, Found, Message, left_out_file, message
from pipeline.errors import SourceError
from pipeline.files import Guard, read_text
from pipeline.ids import digest
from pipeline.records import Skipped

_MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\ufeff"
"""Signs that say how a text runs; WhatsApp begins with one what it writes itself."""

_TIME = r"(\d{1,2})[:.](\d\d)(?:[:.](\d\d))?(?:\s?([AaPp])\.?\s?[Mm]\b\.?)?"
_HEAD = re.compile(
    rf"[{_MARKS}]*(\[)?(\d{{1,4}})[./-]\s?(\d{{1,2}})[./-]\s?(\d{{1,4}})\.?,?\s+(?:\w{{1,3}}\s+)?{_TIME}"
    r"(?(1)\]\s?|\s+[-\u2013]\s)(.*)"
)
_SPEAKER = re.compile(r"([^:\"\u201c\u201d]{1,100}): ?(.*)", re.DOTALL)
"""A speaker and a text. Quotes are of WhatsApp's own notes: Ada changed the subject to "Trip: Rome"."""

_EDITED = "<This message was edited>"
_FILE = re.compile(
    r"<[^<>:\n]{1,30}: ([^<>\n]+\.\w{2,5})>"
    r"|(?<![^\n])([^\n]+\.\w{2,5}) \((?:file attached|Datei angehängt|archivo adjunto|fichier joint|file allegato"
    r"|arquivo anexado|bestand bijgevoegd)\)"
)
_OMITTED = re.compile(r"<[^<>\n]+>")
"""The whole of a text that stands for what wasn't exported, in any language: <Media omitted>."""

_DELETED = ("This message was deleted", "You deleted this message", "Diese Nachricht wurde gelöscht.")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A message: the number of its line, its numbers of day and time as written, and its lines."""

    number: int
    date: tuple[str, str, str]
    time: tuple[str, str, str, str]
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).rstrip("\n")  # so that the last message of an export has the same in a later one


def whatsapp(path: Path, guard: Guard) -> Found:
    """Yield the messages of a chat; the conversation is named as the file, or as its folder if that is ``_chat``.

    Whether a day or its month comes first is what makes all days possible, and none of them before an earlier one's;
    what can be read either way is said to be.
    """
    entries = list(_entries(read_text(path, guard)))
    if not entries:
        raise GUARD.fault(path, "isn't a chat of WhatsApp: no line begins with a date and a time", "")
    order, doubtful = _order(entries)
    if doubtful:
        yield Skipped(str(path), f"days such as {'/'.join(entries[0].date)} are read with the {order.split()[0]} first")
    name = path.absolute().parent.name if path.stem == "_chat" else ""
    counts: Counter[tuple[str, ...]] = Counter()
    for place, entry in enumerate(entries, 1):
        at = f"{path}, line {entry.number}"
        written = (*entry.date, *entry.time, entry.text)
        counts[written] += 1
        id_ = digest("whatsapp", *written, str(counts[written]))[:16]
        yield at, partial(_message, entry, order, id_, name or path.stem, place, at)


def _entries(text: str) -> Iterator[_Entry]:
    begun: _Entry | None = None
    rest: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if (match := _HEAD.fullmatch(line)) is None:
            rest.append(line)
            continue
        if begun:
            yield _Entry(begun.number, begun.date, begun.time, (*begun.lines, *rest))
        _, *numbers, first = match.groups(default="")
        rest = [first]
        begun = _Entry(
            number, (numbers[0], numbers[1], numbers[2]), (numbers[3], numbers[4], numbers[5], numbers[6]), ()
        )
    if begun:
        yield _Entry(begun.number, begun.date, begun.time, (*begun.lines, *rest))


_ORDERS = {"year first": (0, 1, 2), "day first": (2, 1, 0), "month first": (2, 0, 1)}
"""The places of year, month and day in a date."""


def _order(entries: Sequence[_Entry]) -> tuple[str, bool]:
    """Return the order of the numbers of a date, and whether another is as likely."""
    faults = {order: _faults(entries, order) for order in _ORDERS}
    fewest = min(faults.values())
    likely = [order for order in _ORDERS if faults[order] == fewest]
    american = any(entry.time[3] for entry in entries)  # of those who write a.m., most put the month first
    preferred = "month first" if american and "month first" in likely else likely[0]
    return preferred, len(likely) > 1


def _faults(entries: Sequence[_Entry], order: str) -> tuple[int, int]:
    """Return how many dates are impossible in an order, and how many before an earlier one."""
    days = [_day(entry, order) for entry in entries]
    known = [day for day in days if day is not None]
    return len(days) - len(known), sum(later < earlier for earlier, later in pairwise(known))


def _day(entry: _Entry, order: str) -> date | None:
    year, month, day = (entry.date[place] for place in _ORDERS[order])
    if len(year) != 4 and (order == "year first" or len(year) != 2):
        return None
    try:
        return date(int(year) + (2000 if len(year) == 2 else 0), int(month), int(day))
    except ValueError:
        return None


def _message(entry: _Entry, order: str, id_: str, conversation: str, place: int, where: str) -> Message:
    spoken = _SPEAKER.fullmatch(entry.text)
    if spoken is None:
        return _left_out(where, "it is a note of the system")
    speaker, said = spoken[1].strip(_MARKS + "~ \u202f"), spoken[2]
    if said.endswith(_EDITED):
        said = said.removesuffix(_EDITED).rstrip(f"{_MARKS} ")
    files = [match[1] or match[2] for match in _FILE.finditer(said)]
    text = _FILE.sub("", said).strip("\n") if files else said
    bare = text.strip(_MARKS + " \n")
    if not files and (_OMITTED.fullmatch(bare) or (text.startswith("\u200e") and "\n" not in bare)):
        return _left_out(where, f"its content isn't in the export: {bare:.40}")
    if bare.rstrip(".") in {one.rstrip(".") for one in _DELETED}:
        return _left_out(where, "it was deleted")
    fields = {"id": id_, "speaker": speaker, "date": _time(entry, order, where)}
    inherited = {"conversation": conversation, "title": conversation}
    read = text if bare else "", [left_out_file(name) for name in files]
    return message(fields, where, inherited, place, read=read, exported=True)


def _left_out(where: str, reason: str) -> Message:
    return message({}, where, read=("", [reason]))


def _time(entry: _Entry, order: str, where: str) -> str:
    day = _day(entry, order)
    hour, minute, second, half = entry.time
    hours = int(hour) % 12 + 12 * (half.lower() == "p") if half else int(hour)
    try:
        if day is not None:
            return datetime.combine(day, time(hours, int(minute), int(second or 0))).isoformat()
    except ValueError:
        pass
    written = f"{'/'.join(entry.date)} {hour}:{minute}"
    raise SourceError(f"{where}: its date is {written!r}, which is no time.", "Export the chat again.")
