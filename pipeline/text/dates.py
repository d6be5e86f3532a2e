"""Dates in questions as soft evidence on the times of texts: intervals, and how close a time is to one."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from pipeline.text.date_intervals import Interval, resolve, shifted
from pipeline.text.date_phrases import COUNT, JOIN, Phrase, date_phrases

Relation = Literal["on", "before", "after", "between"]
"""How a text's time relates to a date of the question."""

_BEFORE = re.compile(r"\b(?P<word>before|prior to|earlier than|until|till|up to|by) (?:the )?$", re.IGNORECASE)
_AFTER = re.compile(r"\b(?P<word>after|following|later than|since|ever since|starting) (?:in |the )?$", re.IGNORECASE)
_ONWARDS = re.compile(r" (?:on|onwards?|forward)\b", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|from) (?:the )?$", re.IGNORECASE)
_SHIFTED = re.compile(
    rf"\b(?:the |last )?(?:(?P<count>{COUNT}|first|second|third|fourth|last) )?"
    r"(?P<unit>(?:day|week|weekend|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?)"
    r" (?P<direction>before|after|of|following) (?:the )?$",
    re.IGNORECASE,
)
_DAYS = frozenset(("day", "iso", "yearless"))
_YEARLESS = frozenset(("yearless", "bare_month", "bare_weekday", "bare_season", "bare_quarter"))
_RELATIVE = frozenset(("relative", "ago", "named", "past", "before_last"))
_AS_SAID_ON = re.compile(r",? ?(?:as (?:mentioned|told|said|discussed) )?on ", re.IGNORECASE)
_WHOLE = frozenset(("until", "till", "up to", "by"))
_FROM_START = frozenset(("since", "ever since", "starting"))
_ROLLING = re.compile(r"\b(?:the|this) $|\b(?:in|within|over|during) (?:the )?$", re.IGNORECASE)
_SHORTEST = timedelta(days=1).total_seconds()
_CONTEXT = 40  # characters before a date in which "the week before" may stand; chosen by hand


class TimeHint(NamedTuple):
    """A date in a question: the period that the texts asked for are likely from; canonical UTC, ``end`` excluded.

    ``start`` is None for ``before``, ``end`` for ``after``. ``slack`` is the length in seconds of the date itself (a
    day, a month, a year): the scale on which :func:`closeness` falls outside of the period.
    """

    phrase: str
    start: str | None
    end: str | None
    relation: Relation
    slack: float = _SHORTEST


def time_hints(question: str, now: datetime) -> tuple[TimeHint, ...]:
    """Return the dates in a question, in its order, each an interval of the calendar in the time zone of ``now``.

    "last May" and "on Monday" are in the past. A date of numbers that may be read in two ways gives two hints. Years
    and months need a preposition ("in May"), so that names, verbs and numbers aren't read as dates. ``now`` needs an
    offset, else ValueError is raised.
    """
    if now.tzinfo is None:
        raise ValueError("now has no offset: give an aware datetime")
    return tuple(_hints(question, list(date_phrases(question)), now))


def closeness(time: str, hint: TimeHint) -> float:
    """Return how close a time, ISO 8601 in UTC, is to a hint: 1 inside its period, falling smoothly to 0 outside.

    At a distance of the hint's ``slack`` it is 0.5. It is never 0: a hint excludes nothing.
    """
    at = datetime.fromisoformat(time)
    early = (datetime.fromisoformat(hint.start) - at).total_seconds() if hint.start else 0.0
    late = (at - datetime.fromisoformat(hint.end)).total_seconds() if hint.end else 0.0
    distance = max(0.0, early, late) / max(hint.slack, _SHORTEST)
    return 1 / (1 + distance * distance)


def _hints(question: str, phrases: Sequence[Phrase], now: datetime) -> Iterator[TimeHint]:
    local = now.replace(tzinfo=None)
    at = 0
    while at < len(phrases):
        first, second = phrases[at], phrases[at + 1] if at + 1 < len(phrases) else None
        before = question[max(0, first.start - _CONTEXT) : first.start]
        if second and (whole := _range(question, first, second, before, now)):
            yield _hint(question[first.start : second.end], whole, "between", now)
            at += 2
            continue
        base = _base(question, first, second, now) if second else local
        rolling = base == local and _ROLLING.search(before) is not None
        for interval in resolve(first, base, now.tzinfo, rolling=rolling) if base else ():
            yield _related(question, first, interval, before, now)
        at += 1


def _base(question: str, first: Phrase, second: Phrase, now: datetime) -> datetime | None:
    """Return the local time that the first of two dates is relative to: now, or the day of the second that it precedes.

    "last Friday on 23 January 2022" is relative to that day. "the Sunday before 9 May 2022" is a single date, which the
    second phrase gives: None.
    """
    local = now.replace(tzinfo=None)
    shift = _SHIFTED.search(question[max(0, second.start - _CONTEXT) : second.start])
    if shift and second.start - len(shift[0]) <= first.end:
        return None
    if (
        second.form not in _DAYS
        or first.form not in _RELATIVE
        or not _AS_SAID_ON.fullmatch(question, first.end, second.start)
    ):
        return local
    day = resolve(second, local, now.tzinfo)
    return day[0].start if day else local


def _range(question: str, first: Phrase, second: Phrase, before: str, now: datetime) -> Interval | None:
    """Return the interval from one date to another; the first takes its year from the second if it has none."""
    join = question[first.end : second.start]
    if not JOIN.fullmatch(join) or (join.strip().lower() == "and" and not _BETWEEN.search(before)):
        return None
    local = now.replace(tzinfo=None)
    until = resolve(second, local, now.tzinfo)
    base = until[0].end - timedelta(days=1) if until and first.form in _YEARLESS else local
    since = resolve(first, base, now.tzinfo)
    if not until or not since or since[0].start >= until[0].end:
        return None
    return Interval(since[0].start, until[0].end)


def _related(question: str, phrase: Phrase, interval: Interval, before: str, now: datetime) -> TimeHint:
    written = question[phrase.start : phrase.end]
    if phrase.form == "years":
        return _hint(written, interval, "between", now)
    if match := _SHIFTED.search(before):
        direction = match["direction"].lower().replace("following", "after")
        moved = shifted(interval, (match["count"] or "").lower(), match["unit"], direction)
        return _hint(match[0] + written, moved or interval, "on", now)
    if match := _BEFORE.search(before):
        end = interval.end if match["word"].lower() in _WHOLE else interval.start
        return _hint(written, interval, "before", now)._replace(start=None, end=_utc(end, now))
    match = _AFTER.search(before)
    if match or (_ONWARDS.match(question, phrase.end) and _BETWEEN.search(before)):
        start = interval.end if match and match["word"].lower() not in _FROM_START else interval.start
        return _hint(written, interval, "after", now)._replace(start=_utc(start, now), end=None)
    return _hint(written, interval, "on", now)


def _hint(phrase: str, interval: Interval, relation: Relation, now: datetime) -> TimeHint:
    slack = (interval.end - interval.start).total_seconds()
    return TimeHint(phrase, _utc(interval.start, now), _utc(interval.end, now), relation, max(slack, _SHORTEST))


def _utc(local: datetime, now: datetime) -> str:
    try:
        return local.replace(tzinfo=now.tzinfo).astimezone(UTC).isoformat()
    except OverflowError:  # the first or last hours of the calendar
        return local.replace(tzinfo=UTC).isoformat()
