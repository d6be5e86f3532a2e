"""Checks of the values of nodes and edges: texts, times and properties must read back as they were written."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pipeline.errors import GraphError

_MAX_DEPTH = 50  # far below the limits of Python's own recursion; chosen by hand


def check_text(value: object, what: str, longest: int) -> None:
    """Raise GraphError unless ``value``, named ``what``, has 1 to ``longest`` characters that UTF-8 can encode."""
    if not isinstance(value, str) or not value:
        raise GraphError(f"{what} is {value!r}.", f"Give a text of 1 to {longest:,} characters.")
    if len(value) > longest:
        raise GraphError(f"{what} has {len(value):,} characters ({value[:40]!r}...).", f"{longest:,} are the most.")
    _check_unicode(value, what)


def canonical_time(value: object, where: str) -> str | None:
    """Return a time in ISO 8601 as UTC, in the form in which texts sort as times; None stays None.

    A time without an offset is taken for UTC. Raises GraphError if ``value`` is no time.
    """
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value)  # type: ignore[arg-type]  # TypeError is caught below
    except (TypeError, ValueError):
        raise GraphError(
            f"{where}: {value!r} is no time.", "Write it in ISO 8601: 2026-01-31T12:00:00+00:00."
        ) from None
    try:
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except OverflowError:
        raise GraphError(f"{where}: {value!r} is out of range.", "Give a time from year 1 to 9999, in UTC.") from None


def check_period(start: str | None, end: str | None, names: str, where: str) -> None:
    """Raise GraphError if a period ends before it starts; both are canonical times. ``names`` names the fields."""
    if start is not None and end is not None and end < start:
        raise GraphError(f"{where}: {names} are {start} and {end}.", "Let a period end after it starts.")


def check_properties(properties: object, where: str, longest: int) -> dict[str, Any]:
    """Return a copy of ``properties`` with tuples as lists; raise GraphError naming any value that isn't JSON.

    ``where`` names the node or edge in the message; ``longest`` limits the characters of a name.
    """
    if not isinstance(properties, Mapping):
        raise GraphError(f"{where}: its properties are {properties!r}.", "Give a mapping of names to values.")
    for name in properties:
        if not isinstance(name, str) or len(name) > longest:
            raise GraphError(
                f"{where}: a property is named {str(name)[:50]!r}.",
                f"Names are texts of at most {longest:,} characters.",
            )
        _check_unicode(name, f"{where}: a property's name")
        if "\x00" in name:
            raise GraphError(f"{where}: the name of the property {name[:50]!r} holds a NUL.", "Neo4j takes none there.")
    return {name: _json(value, f"{where}: the property {name[:50]!r}", 0) for name, value in properties.items()}


def _json(value: object, what: str, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise GraphError(f"{what} is nested more than {_MAX_DEPTH} levels deep.", "Flatten it.")
    match value:
        case None | bool() | int():
            return value
        case float() if math.isfinite(value):
            return value
        case str():
            _check_unicode(value, what)
            return value
        case list() | tuple():
            return [_json(item, what, depth + 1) for item in value]
        case Mapping():
            if not all(isinstance(key, str) for key in value):
                raise GraphError(f"{what} holds a mapping whose keys aren't all texts.", "Make them texts.")
            return {_json(key, what, depth): _json(item, what, depth + 1) for key, item in value.items()}
        case _:
            raise GraphError(
                f"{what} holds {str(value)[:50]!r} ({type(value).__name__}), which JSON can't say.",
                "Give texts, finite numbers, True, False, None, lists or mappings; times as ISO 8601 texts.",
            )


def _check_unicode(value: str, what: str) -> None:
    if value.isascii():  # a cheap test that most texts pass
        return
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise GraphError(f"{what} holds half a surrogate pair.", "Decode the text as UTF-8 first.") from None
