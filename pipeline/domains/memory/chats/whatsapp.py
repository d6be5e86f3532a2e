"""Chats as WhatsApp exports them: text, in which each message begins with its time and speaker.

The form of the time is that of the phone that exported it. Messages have no ids: one is known by its time as written,
its speaker and its text, so that a later export of the chat adds only what is new.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from functools import partial
from itertools import pairwise
from pathlib import Path

from pipeline.domains.memory.chats.messages import GUARD, Found, Message, left_out_file, message
from pipeline.errors import SourceError
from pipeline.files import Guard, read_text
from pipeline.ids import digest
from pipeline.records import Skipped
from pipeline.resources import word_lists
from pipeline.text.prose import counted

_MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
"""Signs that say how a text runs; WhatsApp begins with one what it writes itself."""

_WORDS = word_lists(__file__)
_HALVES = {word: half for half in ("before_noon", "after_noon", "neither") for word in _WORDS[half]}
_SIGNS = {"،": ",", "年": "/", "月": "/", "년": "/", "월": "/", "日": " ", "일": " ", "\u202f": " ", "\u00a0": " "}
_LONGEST_WORD = 3  # letters of an unknown word at a time: a longer one is of a text that has a time. Chosen by hand
_HEAD_AT_MOST = 80  # characters of a line that are looked at for its time; the longest known head has 50

_DATE = r"(?P<d1>\d{1,4})\s?[./-]\s?(?P<d2>\d{1,2})\s?[./-]\s?(?P<d3>\d{1,4})\.?(?:\s?г\.)?"
_WORD = r"(?:[^\s\d!-/:-@\[-`{-~]\.?\s?){1,10}"
_TIME = rf"(?P<before>{_WORD})?(?P<hour>\d{{1,2}})[:.](?P<min>\d\d)(?:[:.](?P<sec>\d\d))?(?:\s?(?P<after>{_WORD}))?"
_TIME_FIRST = rf"{_TIME},?\s+{_DATE}".replace("P<", "P<v_")
_HEAD = re.compile(
    rf"[{_MARKS}]*(?P<bracket>\[)?[{_MARKS}]*(?:{_DATE},?\s+{_TIME}|{_TIME_FIRST})\s*"
    r"(?(bracket)\]\s?|(?:(?<=\s)[-\u2013]\s|(?P<comma>,\s)))"
)
"""The head of a line: its day and its time in either order, and what parts them from the text.

A comma does in Korean alone: in a text one may follow any time.
"""

_KOREAN = re.compile("오전|오후|년")
_QUOTES = '"\u201c\u201d\u201e«»「」'
_SPEAKER = re.compile(r"([^:]{1,100}?)\s?: ?(.*)", re.DOTALL)
_FILE = re.compile(
    r"\u200e?<[^<>:\n]{1,30}: ([^<>\n]+\.\w{2,5})>"
    r"|(?<![^\n])([^\n]+\.\w{2,5}) \((?:file attached|Datei angehängt|archivo adjunto|fichier joint|file allegato"
    r"|arquivo anexado|bestand bijgevoegd)\)"
)
_OMITTED = re.compile(r"<[^<>\n]+>")
"""The whole of a text that stands for what wasn't exported, in any language: <Media omitted>."""

_KINDS, _VERBS = ("|".join(map(re.escape, _WORDS[name])) for name in ("kinds", "omitted"))
_PLACEHOLDER = re.compile(rf"(?:^|\u200e)(?:{_KINDS}) (?:{_VERBS})\.?(?=\n|$)", re.IGNORECASE)
_EDITED = re.compile(rf"\u200e?<\u200e?(?:{'|'.join(_WORDS['edited'])})\.?>$|\u200e<[^<>\n]{{1,60}}>$", re.IGNORECASE)
_SINCE, _BUDDHIST = 1990, 543
"""The first year of a date that can be right, and the years by which the calendar of Thailand is ahead."""


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
    if entries and not entries[0].date[0]:
        before = entries.pop(0)
        lost = sum(map(bool, map(str.strip, before.lines)))
        yield Skipped(f"{path}, line 1", f"{counted(lost, 'line')} before the first message")
    if not entries:
        raise GUARD.fault(path, "isn't a chat of WhatsApp: no line begins with a date and a time", "")
    order, doubtful = _order(entries)
    if doubtful:
        yield Skipped(str(path), f"days such as {'/'.join(entries[0].date)} are read with the {order.split()[0]} first")
    for word in sorted({entry.time[3] for entry in entries if _half(entry.time[3]) is None}):
        yield Skipped(str(path), f"times with {word!r} are read as of 24 hours, since the word isn't known")
    name = path.absolute().parent.name if path.stem == "_chat" else ""
    counts: Counter[tuple[str, ...]] = Counter()
    for place, entry in enumerate(entries, 1):
        at = f"{path}, line {entry.number}"
        written = (*entry.date, *entry.time, entry.text)
        counts[written] += 1
        id_ = digest("whatsapp", *written, str(counts[written]))[:16]
        yield at, partial(_message, entry, order, id_, name or path.stem, place, at)


def _entries(text: str) -> Iterator[_Entry]:
    """Yield the messages; lines before the first are one without a date."""
    begun = _Entry(1, ("", "", ""), ("", "", "", ""), ())
    rest: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if (head := _head(line)) is None:
            rest.append(line)
            continue
        if begun.date[0] or any(map(str.strip, rest)):
            yield replace(begun, lines=(*begun.lines, *rest))
        date, time, first = head
        rest = [first]
        begun = _Entry(number, date, time, ())
    if begun.date[0]:
        yield replace(begun, lines=(*begun.lines, *rest))


def _head(line: str) -> tuple[tuple[str, str, str], tuple[str, str, str, str], str] | None:
    """Return the numbers of day and time that a line begins with, and the rest of it; None if it begins with none."""
    written = line[:_HEAD_AT_MOST]
    match = _HEAD.match(written if written.isascii() else "".join(map(_plain, written)))
    if match is None or (match["comma"] and not _KOREAN.search(written)):
        return None
    of = {name.removeprefix("v_"): value.strip() for name, value in match.groupdict(default="").items() if value}
    half = of.get("after") or of.get("before", "")
    known = _half(half)
    if known is None and half.isascii() and len(half) > _LONGEST_WORD:
        return None
    if re.fullmatch(r"([ap])\.?\s?m\.?", half, re.IGNORECASE):
        half = half[0]
    time = of["hour"], of["min"], of.get("sec", ""), "" if known == "neither" else half
    return (of["d1"], of["d2"], of["d3"]), time, line[match.end() :]


def _plain(char: str) -> str:
    """Return a digit of any script as one of ours, and a sign of a date as that of ours."""
    return str(unicodedata.digit(char, char)) if char.isdigit() else _SIGNS.get(char, char)


def _half(word: str) -> str | None:
    """Return the name of the half of the day that a word tells, ``neither`` for none; None if it isn't known."""
    return _HALVES.get("".join(word.lower().replace(".", " ").split()))


_ORDERS = {"year first": (0, 1, 2), "day first": (2, 1, 0), "month first": (2, 0, 1)}
"""The places of year, month and day in a date."""


def _order(entries: Sequence[_Entry]) -> tuple[str, bool]:
    """Return the order of the numbers of a date, and whether another is as likely."""
    faults = {order: _faults(entries, order) for order in _ORDERS}
    fewest = min(faults.values())
    likely = [order for order in _ORDERS if faults[order] == fewest]
    american = any(entry.time[3].lower() in ("a", "p") for entry in entries)  # most of them put the month first
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
    number = int(year) + (2000 if len(year) == 2 else 0)
    number -= _BUDDHIST if number > _SINCE + _BUDDHIST else 0
    try:
        return date(number, int(month), int(day)) if number >= _SINCE else None
    except ValueError:
        return None


def _message(entry: _Entry, order: str, id_: str, conversation: str, place: int, where: str) -> Message:
    spoken = _SPEAKER.fullmatch(entry.text)
    # a quote that is open at the colon is of WhatsApp's own notes: Ada changed the subject to "Trip: Rome"
    if spoken is None or sum(map(spoken[1].count, _QUOTES)) % 2:
        return _left_out(where, "it is a note of the system")
    speaker, said = spoken[1].strip(_MARKS + "~ \u202f"), spoken[2]
    files = [left_out_file(match[1] or match[2]) for match in _FILE.finditer(said)]
    text = _FILE.sub("", said).strip("\n") if files else said
    if edited := _EDITED.search(text):
        text = text[: edited.start()].rstrip()
    if not (bare := text.strip(_MARKS + " \n")) and files:
        return _left_out(where, *files)
    if (folded := bare.rstrip(".").lower()) in _WORDS["deleted"]:
        return _left_out(where, "it was deleted")
    if not files and (_OMITTED.fullmatch(bare) or folded in _WORDS["absent"]):
        return _left_out(where, f"its content isn't in the export: {bare:.40}")
    absent = [match[0].strip(_MARKS + " ") for match in _PLACEHOLDER.finditer(text)]
    if text.startswith("\u200e") and "\n" not in bare:
        wrote = "its content isn't in the export" if absent else "WhatsApp wrote it"
        return _left_out(where, *files, f"{wrote}: {bare:.80}")
    text = _PLACEHOLDER.sub("", text).strip("\n ") if absent else text
    fields = {"id": id_, "speaker": speaker, "date": _time(entry, order, where)}
    inherited = {"conversation": conversation, "title": conversation}
    left_out = [*files, *(f"its content isn't in the export: {one:.40}" for one in absent)]
    shown = text.translate(_ISOLATES) if text.strip(_MARKS + " \n") else ""
    return message(fields, where, inherited, place, read=(shown, left_out), exported=True)


_ISOLATES = dict.fromkeys(map(ord, "\u2066\u2067\u2068\u2069"))
"""Signs around the name of a person who is mentioned."""


def _left_out(where: str, *reasons: str) -> Message:
    return message({}, where, read=("", list(reasons)))


def _time(entry: _Entry, order: str, where: str) -> str:
    day = _day(entry, order)
    hour, minute, second, half = entry.time
    known = _half(half)
    hours = int(hour) if known in (None, "neither") else int(hour) % 12 + 12 * (known == "after_noon")
    try:
        if day is not None:
            return datetime.combine(day, time(hours, int(minute), int(second or 0))).isoformat()
    except ValueError:
        pass
    written = f"{'/'.join(entry.date)} {hour}:{minute}"
    raise SourceError(f"{where}: its date is {written!r}, which is no time.", "Export the chat again.")
