"""Periods of the calendar: days, months, and the week, season or year at, before or after a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import NamedTuple

from pipeline.domains.memory.search.phrases import MONTHS, WEEKDAYS

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First months of the seasons, of the northern half of the earth."""

UNIT_DAYS = {
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


class Interval(NamedTuple):
    """A period of local time without an offset, ``end`` excluded."""

    start: datetime
    end: datetime


def days(start: date | datetime, count: int = 1) -> Interval:
    """Return the interval of ``count`` whole days from a day on."""
    first = datetime(start.year, start.month, start.day)  # noqa: DTZ001  # local time, see Interval
    return Interval(first, first + timedelta(days=count))


def month(year: int, number: int, count: int = 1) -> Interval:
    """Return the interval of ``count`` months from a month on; ``number`` may lie outside 1 to 12."""
    first, last = (divmod(year * 12 + number - 1 + months, 12) for months in (0, count))
    start, end = (datetime(of, index + 1, 1) for of, index in (first, last))  # noqa: DTZ001
    return Interval(start, end)


def around(unit: str, steps: int, now: datetime) -> Interval:
    """Return the unit of the calendar that is ``steps`` after the one at now: -1 is the last, 0 this, 1 the next."""
    if unit in WEEKDAYS:
        return _weekday(WEEKDAYS.index(unit), steps, now)
    if unit in SEASONS or unit in MONTHS or unit == "sept":
        first = SEASONS.get(unit) or _month_number(unit)
        return _recurring(first, 3 if unit in SEASONS else 1, steps, now)
    monday = now - timedelta(days=now.weekday())
    units: dict[str, Callable[[], Interval]] = {
        "week": lambda: days(monday + timedelta(days=7 * steps), 7),
        "weekend": lambda: days(monday + timedelta(days=7 * steps + 5), 2),
        "month": lambda: month(now.year, now.month + steps),
        "quarter": lambda: month(now.year, (now.month - 1) // 3 * 3 + 1 + 3 * steps, 3),
        "year": lambda: month(now.year + steps, 1, 12),
        "decade": lambda: month(now.year // 10 * 10 + 10 * steps, 1, 120),
    }
    return units[unit]()


def _recurring(first: int, length: int, steps: int, now: datetime) -> Interval:
    """Return a month or season by its first month: this year's, or the last that has ended, or the next to begin."""
    years = [month(year, first, length) for year in range(now.year - 3, now.year + 3)]
    if steps < 0:
        return [interval for interval in years if interval.end <= now][steps]
    if steps > 0:
        return next(interval for interval in years if interval.start > now)
    current = [interval for interval in years if interval.start <= now < interval.end]
    return current[0] if current else month(now.year, first, length)


def _weekday(wanted: int, steps: int, now: datetime) -> Interval:
    monday = now - timedelta(days=now.weekday())
    if steps >= 0:
        return days(monday + timedelta(days=wanted + 7 * steps))
    last = now - timedelta(days=(now.weekday() - wanted - 1) % 7 + 1)
    return days(last + timedelta(days=7 * (steps + 1)))


def _month_number(name: str) -> int:
    return next(number for number, month_name in enumerate(MONTHS, 1) if month_name.startswith(name))
