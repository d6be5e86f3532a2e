"""The time of writes and reads."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """Return the time in ISO 8601 as UTC, to the microsecond."""
    return datetime.now(UTC).isoformat()
