"""Resolve phrases that are dates to periods of the calendar, relative to a now."""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from typing import NamedTuple

from pipeline.text.date_phrases import MONTHS, WEEKDAYS, Phrase

_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First months of the seasons, of the northern half of the earth."""

_UNIT_DAYS = {
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1,
    "week": 7,
    "weekend": 7,
    "month": 30,
    "year": 365,
    "decade": 3652,
}
"""Lengths of units in days; of months and years about."""

_STEPS = {"tomorrow": 1, "yesterday": -1, "last night": -1, "the day before yesterday": -2, "the day after tomorrow": 2}
_PARTS = {
    "": (0, 1),
    "first half of": (0, 1 / 2),
    "second half of": (1 / 2, 1),
    **dict.fromkeys(("early", "start of", "beginning of"), (0, 1 / 3)),
    **dict.fromkeys(("mid", "middle of"), (1 / 3, 2 / 3)),
    **dict.fromkeys(("late", "end of"), (2 / 3, 1)),
}
"""Where the named part of a date begins and ends, as shares of its length."""

_TENS = "twenties thirties forties fifties sixties seventies eighties nineties".split()
_ORDINALS = "first second third fourth last".split()
_WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
# Least and greatest; chosen by hand.
_VAGUE = {"a couple": (2, 3), "a couple of": (2, 3), "a few": (2, 5), "few": (2, 5), "several": (3, 8), "some": (2, 6)}
_PAST, _HERE, _NEXT = -1, 0, 1
_DIRECTIONS = {"the": 2 * _PAST, "last": _PAST, "past": _PAST, "previous": _PAST, "this past": _PAST, "this": _HERE}
"""Steps of the calendar by the words before a unit; "the" stands in "the week before last"."""


class Interval(NamedTuple):
    """A period of local time without an offset, ``end`` excluded."""

    start: datetime
    end: datetime


def resolve(phrase: Phrase, now: datetime, zone: tzinfo | None = None, *, rolling: bool = False) -> list[Interval]:
    """Return the intervals that a phrase may mean at ``now``, a local time without an offset; none if it is no date.

    A date of numbers such as 05/07/2023 has two readings. ``rolling``: "the last month" is the time up to now, not the
    calendar's month. Dates without a year are in the past. ``zone`` is that of ``now``: a time with an offset, as ISO
    8601 has it, is converted to it.
    """
    text = " ".join(phrase.text.lower().split())
    match = re.fullmatch(r"(?:last|past|this past|previous) (\w+)", text) if rolling else None
    try:
        if phrase.form == "numeric":
            intervals = _numeric(text)
        elif phrase.form == "iso":
            intervals = [_iso(text, zone)]
        elif match and (length := _UNIT_DAYS.get(match[1])):
            intervals = [Interval(now - timedelta(days=length), now)]
        else:
            intervals = [_RESOLVERS[phrase.form.removeprefix("bare_")](text, now)]
        return [_part(interval, phrase.part) for interval in intervals]
    except (ValueError, OverflowError):  # the 31st of June, the year 0
        return []


def shifted(interval: Interval, count: str, unit: str, direction: str) -> Interval | None:
    """Return the period that lies ``count`` units ``before`` or ``after`` an interval, or the unit ``of`` it.

    ``count`` may be empty for one; with ``of`` it is an ordinal, or empty. None if there is no such period.
    """
    unit = unit.lower().removesuffix("s")
    with suppress(ValueError, OverflowError):  # an ordinal before a date, or a time outside of the calendar
        if unit in WEEKDAYS or unit == "weekend":
            wanted, days = (5, 2) if unit == "weekend" else (WEEKDAYS.index(unit), 1)
            if direction == "before":
                last = interval.start - timedelta(days=days)
                return _days(last - timedelta(days=(last.weekday() - wanted) % 7), days)
            first = interval.end if direction == "after" else interval.start
            return _days(first + timedelta(days=(wanted - first.weekday()) % 7), days)
        length = timedelta(days=_UNIT_DAYS[unit])
        if direction == "of":
            return _unit_of(interval, count, length)
        number = _count(count or "a")[1]
        if direction == "before":
            return Interval(interval.start - number * length, interval.start - (number - 1) * length)
        return Interval(interval.end + (number - 1) * length, interval.end + number * length)
    return None


def _unit_of(interval: Interval, ordinal: str, length: timedelta) -> Interval:
    """Return the time around a day ("the week of 7 May"), or a unit of a longer interval ("the second week of May")."""
    if interval.end - interval.start <= length:
        return Interval(interval.start - length / 2, interval.end + length / 2)
    if ordinal not in _ORDINALS:
        return interval
    if ordinal == "last":
        return Interval(interval.end - length, interval.end)
    start = interval.start + _ORDINALS.index(ordinal) * length
    return Interval(start, start + length)


def _parsed(text: str, now: datetime) -> datetime:
    """Return the date that dateparser reads. Raises ValueError if it reads none.

    The base is the day's noon: older versions of dateparser keep the settings of each base that they were given.
    """
    from dateparser.date import DateDataParser  # type: ignore[import-untyped]

    noon = now.replace(hour=12, minute=0, second=0, microsecond=0)
    settings = {"RELATIVE_BASE": noon, "PREFER_DATES_FROM": "past", "TIMEZONE": "UTC", "DATE_ORDER": "DMY"}
    parsed: datetime | None = DateDataParser(languages=["en"], settings=settings).get_date_data(text).date_obj
    if parsed is None:
        raise ValueError(text)
    return parsed.replace(tzinfo=None)


def _iso(text: str, zone: tzinfo | None) -> Interval:
    time = datetime.fromisoformat(text.upper().replace("/", "-"))
    if time.tzinfo:
        time = time.astimezone(zone).replace(tzinfo=None)
    return _days(time) if len(text) <= len("2026-01-31") else Interval(time, time + timedelta(minutes=1))


def _numeric(text: str) -> list[Interval]:
    first, second, year = map(int, re.split(r"[./]", text))
    readings = {(second, first), (first, second)} if "/" in text else {(second, first)}
    return [_days(date(year, number, day)) for number, day in sorted(readings) if number <= 12 and day <= 31]


def _years(text: str, _: datetime) -> Interval:
    first, last = (int(year) for year in re.findall(r"\d{4}", text))
    if first > last:
        raise ValueError(text)
    return Interval(_months(first, 1).start, _months(last, 1, 12).end)


def _day(text: str, now: datetime) -> Interval:
    return _days(_parsed(text.replace(" of ", " "), now))


def _month(text: str, now: datetime) -> Interval:
    day = _parsed(text.replace(" of ", " ").replace(",", ""), now)
    return _months(day.year, day.month)


def _year_or_month(text: str, _: datetime) -> Interval:
    year, *month = map(int, text.split("-"))
    return _months(year, *month) if month else _months(year, 1, 12)


def _quarter(text: str, now: datetime) -> Interval:
    number = int(text[1]) if text[0] == "q" and text[1].isdigit() else min(3, _ORDINALS.index(text.split()[0])) + 1
    return _three_months(text, 3 * number - 2, now)


def _season(text: str, now: datetime) -> Interval:
    return _three_months(text, _SEASONS[text.split()[0].rstrip(",")], now)


def _three_months(text: str, first: int, now: datetime) -> Interval:
    """Return three months of the year at the end of ``text``, else the latest that have begun."""
    if text[-4:].isdigit():
        return _months(int(text[-4:]), first, 3)
    latest = _months(now.year, first, 3)
    return latest if latest.start <= now else _months(now.year - 1, first, 3)


def _ago(text: str, now: datetime) -> Interval:
    count, _, unit = text.removesuffix(" ago").rpartition(" ")
    few, many = _count(count)
    unit = unit.removesuffix("s")
    if unit in ("minute", "hour", "day") and few >= 1:
        length = timedelta(days=_UNIT_DAYS[unit])
        return Interval(_days(now - many * length).start, _days(now - few * length).end)
    half = timedelta(days=_UNIT_DAYS[unit] / 2) * min(1, few)
    return Interval(_back(many, unit, now) - half, _back(few, unit, now) + half)


def _back(count: float, unit: str, now: datetime) -> datetime:
    """Return the time ``count`` units before now, by the calendar."""
    if count != int(count):
        return now - timedelta(days=count * _UNIT_DAYS[unit])
    number, unit = (10 * int(count), "year") if unit == "decade" else (int(count), unit)
    return _parsed(f"{number} {unit.replace('weekend', 'week')}s ago", now) if number else now


def _past(text: str, now: datetime) -> Interval:
    count, _, unit = text.partition(" ")[2].rpartition(" ")
    return Interval(now - timedelta(days=_count(count)[1] * _UNIT_DAYS[unit.removesuffix("s")]), now)


def _count(text: str) -> tuple[float, float]:
    """Return the least and greatest number that a count means."""
    if text in _VAGUE:
        return _VAGUE[text]
    if text.startswith("half"):
        return 0.5, 0.5
    number = int(text) if text.isdigit() else 1 if text in ("a", "an") else _WORDS.index(text) + 1
    return number, number


def _named(text: str, now: datetime) -> Interval:
    return _days(now + timedelta(days=_STEPS.get(text, 0)))


def _relative(text: str, now: datetime) -> Interval:
    word, _, unit = text.removesuffix(" before last").rpartition(" ")
    return _around(unit, _DIRECTIONS.get(word, _NEXT), now)


def _decade(text: str, now: datetime) -> Interval:
    word = text.removeprefix("the ").lstrip("'’")
    tens = 20 + 10 * _TENS.index(word) if word in _TENS else int(word.rstrip("s"))
    if tens >= 1000:
        return _months(tens, 1, 120)
    century = now.year // 100 * 100
    first = century + tens if century + tens <= now.year else century - 100 + tens
    return _months(first, 1, 120)


def _part(interval: Interval, part: str) -> Interval:
    start, end = (share * (interval.end - interval.start) for share in _PARTS[part])
    return Interval(interval.start + start, interval.start + end)


def _days(start: date | datetime, count: int = 1) -> Interval:
    """Return the interval of ``count`` whole days from a day on."""
    first = datetime(start.year, start.month, start.day)  # noqa: DTZ001  # local time, see Interval
    return Interval(first, first + timedelta(days=count))


def _months(year: int, number: int, count: int = 1) -> Interval:
    """Return the interval of ``count`` months from a month on; ``number`` may lie outside 1 to 12."""
    first, last = (divmod(year * 12 + number - 1 + months, 12) for months in (0, count))
    start, end = (datetime(year_, index + 1, 1) for year_, index in (first, last))  # noqa: DTZ001
    return Interval(start, end)


def _around(unit: str, steps: int, now: datetime) -> Interval:
    """Return the unit of the calendar that is ``steps`` after the one at now: -1 is the last, 0 this, 1 the next."""
    if unit in WEEKDAYS:
        return _weekday(WEEKDAYS.index(unit), steps, now)
    if unit in _SEASONS or unit in MONTHS or unit == "sept":
        month = next((number for number, name in enumerate(MONTHS, 1) if name.startswith(unit)), 0)
        return _recurring(_SEASONS.get(unit, month), 3 if unit in _SEASONS else 1, steps, now)
    monday = now - timedelta(days=now.weekday())
    units: dict[str, Callable[[], Interval]] = {
        "week": lambda: _days(monday + timedelta(days=7 * steps), 7),
        "weekend": lambda: _days(monday + timedelta(days=7 * steps + 5), 2),
        "month": lambda: _months(now.year, now.month + steps),
        "quarter": lambda: _months(now.year, (now.month - 1) // 3 * 3 + 1 + 3 * steps, 3),
        "year": lambda: _months(now.year + steps, 1, 12),
        "decade": lambda: _months(now.year // 10 * 10 + 10 * steps, 1, 120),
    }
    return units[unit]()


def _recurring(first: int, length: int, steps: int, now: datetime) -> Interval:
    """Return a month or season by its first month: this year's, or the last that has ended, or the next to begin."""
    years = [_months(year, first, length) for year in range(now.year - 3, now.year + 3)]
    if steps < 0:
        return [interval for interval in years if interval.end <= now][steps]
    if steps > 0:
        return next(interval for interval in years if interval.start > now)
    current = [interval for interval in years if interval.start <= now < interval.end]
    return current[0] if current else _months(now.year, first, length)


def _weekday(wanted: int, steps: int, now: datetime) -> Interval:
    monday = now - timedelta(days=now.weekday())
    if steps >= 0:
        return _days(monday + timedelta(days=wanted + 7 * steps))
    last = now - timedelta(days=(now.weekday() - wanted - 1) % 7 + 1)
    return _days(last + timedelta(days=7 * (steps + 1)))


_RESOLVERS: dict[str, Callable[[str, datetime], Interval]] = {
    "years": _years,
    "month": _month,
    "quarter": _quarter,
    "season": _season,
    "ago": _ago,
    "past": _past,
    "decade": _decade,
    **dict.fromkeys(("day", "yearless", "weekday"), _day),
    **dict.fromkeys(("iso_month", "year"), _year_or_month),
    **dict.fromkeys(("named", "part_of_day"), _named),
    **dict.fromkeys(("before_last", "relative"), _relative),
}
"""Resolvers by the form of a phrase, without ``bare_``."""
