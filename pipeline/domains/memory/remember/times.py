"""Read the times of messages: ISO 8601, or seconds or milliseconds since 1970."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from pipeline.domains.memory.times import OUT_OF_RANGE, utc_of
from pipeline.errors import SourceError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS = 1e11
"""From here on a number is milliseconds: as seconds it is in the year 5138, as milliseconds in 1973."""

_NUMBER = re.compile(r"-?\d{9,14}(?:\.\d+)?")
_FIX = "Write it in ISO 8601, such as 2026-01-31T12:00:00+01:00, or as seconds since 1970."


def time_of(value: object, local: ZoneInfo, where: str) -> str:
    """Return a time as ISO 8601 in UTC, in the form in which texts sort as times.

    Texts are read in ``local`` by :func:`pipeline.domains.memory.times.utc_of`. Numbers are seconds since 1970, from
    1e11 on milliseconds; they may be negative. Raises SourceError, naming ``where``, for anything else.
    """
    try:
        return _utc(value, local)
    except (TypeError, ValueError):
        raise SourceError(f"{where}: its date is {str(value)[:60]!r}, which is no time.", _FIX) from None
    except OverflowError:
        raise SourceError(f"{where}: its date {str(value)[:60]!r} is out of range.", OUT_OF_RANGE) from None


def _utc(value: object, local: ZoneInfo) -> str:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return _since_1970(float(value)).isoformat()
    if isinstance(value, str):
        return utc_of(value.strip(), local)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    return _since_1970(value).isoformat()


def _since_1970(number: float) -> datetime:
    if not math.isfinite(number):
        raise ValueError(number)
    if abs(number) >= _MILLISECONDS:
        return _EPOCH + timedelta(milliseconds=number)
    return _EPOCH + timedelta(seconds=number)
