"""Times of a memory: read in the memory's time zone, kept as UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pipeline.domains.memory.records import When
from pipeline.errors import ConfigurationError, InputError

OUT_OF_RANGE = "Give a time from year 1 to 9999, in UTC."
"""The fix of the error about a time that is out of range."""


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
    """Return a time in ISO 8601 as UTC, as :func:`utc_of` does; raises InputError, naming ``where``, if it is none."""
    try:
        return utc_of(text, zone)
    except (TypeError, ValueError):
        raise InputError(f"{where}: {text!r} is no time.", "Write it in ISO 8601: 2026-01-31T12:00:00+01:00.") from None
    except OverflowError:
        raise InputError(f"{where}: {text!r} is out of range.", OUT_OF_RANGE) from None


def utc_of(text: str, zone: ZoneInfo) -> str:
    """Return a time in ISO 8601 as UTC, in the form in which texts sort as times.

    A time without an offset is of ``zone``, a date alone its first moment. If clocks were set back and the time
    occurred twice, the first is meant; if they were set forward and it never occurred, the offset from before applies
    (PEP 495, fold 0): 02:30 becomes 03:30. Raises ValueError if ``text`` is no time, OverflowError if it is out of
    range.
    """
    time = datetime.fromisoformat(text)
    return (time if time.tzinfo else time.replace(tzinfo=zone)).astimezone(UTC).isoformat()


def when(as_of: str | None, known_at: str | None, zone: ZoneInfo) -> When:
    """Return the time of a question as two texts give it; None means now. Raises InputError if one is no time."""
    return When(
        read_time(as_of, zone, "as of") if as_of is not None else None,
        read_time(known_at, zone, "known at") if known_at is not None else None,
    )
