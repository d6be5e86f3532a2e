"""The time of writes and reads."""

from datetime import UTC, datetime


def now(*, whole_seconds: bool = False) -> str:
    """Return the time in ISO 8601 as UTC, to the microsecond, or in ``whole_seconds`` where people read it."""
    return datetime.now(UTC).isoformat(timespec="seconds" if whole_seconds else "auto")
