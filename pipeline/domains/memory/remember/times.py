"""Read the times of messages: ISO 8601, or seconds or milliseconds since 1970."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from pipeline.errors import ConfigurationError, SourceError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS = 1e11
"""From here on a number is milliseconds: as seconds it is in the year 5138, as milliseconds in 1973."""

_NUMBER = re.compile(r"-?\d{9,14}(?:\.\d+)?")
_FIX = "Write it in ISO 8601, such as 2026-01-31T12:00:00+01:00, or as seconds since 1970."


def zone(name: str) -> ZoneInfo:
    """Return the time zone of a name of the IANA database. Raises ConfigurationError if there is none."""
    try:
        return _zone(name)
    except (OSError, ValueError):  # no such file, no such key, or a path
        raise ConfigurationError(
            f"{name!r} is no time zone.", "Give a name of the IANA database, such as Europe/Berlin or UTC."
        ) from None


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    if not name or name.startswith("."):
        raise ValueError(name)
    try:
        return ZoneInfo(name)
    except KeyError as error:  # ZoneInfoNotFoundError
        raise ValueError(name) from error


def time_of(value: object, local: ZoneInfo, where: str) -> str:
    """Return a time as ISO 8601 in UTC, in the form in which texts sort as times.

    A time without an offset is read in ``local``. If clocks were set back and the time occurred twice, the first is
    meant; if they were set forward and it never occurred, the offset from before applies: 02:30 becomes 03:30. A date
    alone means its first moment. Numbers are seconds since 1970, from 1e11 on milliseconds; they may be negative.
    Raises SourceError, naming ``where``, for anything else.
    """
    try:
        time = _parsed(value, local).astimezone(UTC)
    except (TypeError, ValueError):
        raise SourceError(f"{where}: its date is {str(value)[:60]!r}, which is no time.", _FIX) from None
    except OverflowError:
        raise SourceError(
            f"{where}: its date {str(value)[:60]!r} is out of range.", "Give a time from year 1 to 9999, in UTC."
        ) from None
    return time.isoformat()


def _parsed(value: object, local: ZoneInfo) -> datetime:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return _since_1970(float(value))
    if isinstance(value, str):
        time = datetime.fromisoformat(value.strip())
        return time if time.tzinfo else time.replace(tzinfo=local)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    return _since_1970(value)


def _since_1970(number: float) -> datetime:
    if not math.isfinite(number):
        raise ValueError(number)
    if abs(number) >= _MILLISECONDS:
        return _EPOCH + timedelta(milliseconds=number)
    return _EPOCH + timedelta(seconds=number)
