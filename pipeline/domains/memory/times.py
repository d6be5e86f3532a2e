"""Times of a memory: read in the memory's time zone, kept as UTC."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pipeline.domains.memory.records import When
from pipeline.errors import ConfigurationError, InputError
from pipeline.knowledge.check import canonical_time
from pipeline.knowledge.clock import now


def zone_named(name: str) -> ZoneInfo:
    """Return the time zone of that name; raises ConfigurationError if there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigurationError(
            f"memory.timezone is {name!r}.", "Give a name of the IANA database, such as Europe/Amsterdam."
        ) from None


def read_time(text: str, zone: ZoneInfo, where: str) -> str:
    """Return a time in ISO 8601 as UTC; one without an offset is of ``zone``, a day alone its first instant.

    A local time that a change of clocks skips or repeats is read with the offset before the change (PEP 495, fold 0).
    Raises InputError, naming ``where``, if ``text`` is no time.
    """
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise InputError(f"{where}: {text!r} is no time.", "Write it in ISO 8601: 2026-01-31T12:00:00+01:00.") from None
    return str(canonical_time((time if time.tzinfo else time.replace(tzinfo=zone)).isoformat(), where))


def present() -> str:
    """Return the present as a time of the world."""
    return now()


def when(as_of: str | None, known_at: str | None, zone: ZoneInfo) -> When:
    """Return the time of a question as two texts give it; None means now. Raises InputError if one is no time."""
    return When(
        read_time(as_of, zone, "as of") if as_of is not None else None,
        read_time(known_at, zone, "known at") if known_at is not None else None,
    )
