"""Times of a memory and of messages: read in the memory's time zone, kept as UTC."""

import math
import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pipeline.domains.memory.records import When
from pipeline.errors import ConfigurationError, InputError, SourceError

_OUT_OF_RANGE = "Give a time from year 1 to 9999, in UTC."
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS = 1e11
"""From here on a number is milliseconds: as seconds it is in the year 5138, as milliseconds in 1973."""

_NUMBER = re.compile(r"-?\d{9,14}(?:\.\d+)?")


def zone_named(name: str) -> ZoneInfo:
    """Return the time zone of that name; raises ConfigurationError if there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # no such key, a path, or no such file
        raise ConfigurationError(
            f"{name!r} is no time zone.",
            "Give memory.timezone a name of the IANA database, such as Europe/Amsterdam or UTC.",
        ) from None


def read_time(text: str, zone: ZoneInfo, where: str) -> str:
    """Return what :func:`utc_of` does; raises InputError, naming ``where``, for a malformed or impossible time."""
    try:
        return utc_of(text, zone)
    except (TypeError, ValueError):
        raise InputError(f"{where}: {text!r} is no time.", "Write it in ISO 8601: 2026-01-31T12:00:00+01:00.") from None
    except OverflowError:
        raise InputError(f"{where}: {text!r} is out of range.", _OUT_OF_RANGE) from None


def utc_of(text: str, zone: ZoneInfo) -> str:
    """Return a time in ISO 8601 as UTC, in the form in which texts sort as times.

    A time without an offset is of ``zone``, a date alone its first moment. If clocks were set back and the time
    occurred twice, the first is meant; if they were set forward and it never occurred, the offset from before applies
    (PEP 495, fold 0): 02:30 becomes 03:30. Raises ValueError if ``text`` is no time, OverflowError if it is out of
    range.
    """
    time = datetime.fromisoformat(text)
    return (time if time.tzinfo else time.replace(tzinfo=zone)).astimezone(UTC).isoformat()


def time_of(value: object, zone: ZoneInfo, where: str) -> str:
    """Return the time of a message as UTC, in the form in which texts sort as times.

    Texts are read in ``zone`` as :func:`utc_of` does. Numbers are seconds since 1970, from 1e11 on milliseconds; they
    may be negative. Raises SourceError, naming ``where``, for anything else.
    """
    try:
        if isinstance(value, str):
            text = value.strip()
            return _since_1970(float(text)) if _NUMBER.fullmatch(text) else utc_of(text, zone)
        return _since_1970(value)
    except (TypeError, ValueError):
        raise SourceError(
            f"{where}: its date is {str(value)[:60]!r}, which is no time.",
            "Write it in ISO 8601, such as 2026-01-31T12:00:00+01:00, or as seconds since 1970.",
        ) from None
    except OverflowError:
        raise SourceError(f"{where}: its date {str(value)[:60]!r} is out of range.", _OUT_OF_RANGE) from None


def _since_1970(number: object) -> str:
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise ValueError(number)
    unit = "milliseconds" if abs(number) >= _MILLISECONDS else "seconds"
    return (_EPOCH + timedelta(**{unit: number})).isoformat()


def when(as_of: str | None, known_at: str | None, zone: ZoneInfo) -> When:
    """Return the time of a question as two texts give it; None means now. Raises InputError if one is no time."""
    given = ((as_of, "as of"), (known_at, "known at"))
    return When(*(read_time(text, zone, where) if text is not None else None for text, where in given))
