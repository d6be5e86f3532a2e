"""Convert metadata of any shape to properties that Neo4j can store."""

import json
import math
from collections.abc import Iterator, Mapping
from datetime import date, time
from typing import Any

from pipeline.files import well_formed
from pipeline.records import Metadata, Scalar

_INTEGERS = range(-(2**63), 2**63)  # those that Neo4j stores
_Items = list[str] | list[int] | list[float] | list[bool]


def flat(metadata: Mapping[Any, object]) -> Metadata:
    """Return ``metadata`` without nesting, in order: ``{"a": {"b": 1}}`` gives ``{"a.b": 1}``.

    None and numbers that aren't finite are dropped. Dates become ISO 8601 strings, integers beyond 64 bits decimal
    strings. Lists of mixed types, and lists of lists or mappings, become a string of JSON.
    Raises RecursionError if lists are nested some hundred levels deep.
    """
    result: dict[str, Scalar | _Items] = {}
    for name, value in _leaves(metadata):
        converted = _items(list(value)) if isinstance(value, list | tuple | set) else _scalar(value)
        if converted is not None:
            result[name] = converted
    return result


def scalar_title(value: object) -> str:
    """Return a title from metadata, which may be a number or a date; empty if it is missing or not a scalar."""
    if value is None or isinstance(value, Mapping | list | tuple | set):
        return ""
    return well_formed(str(value)).strip()


def _leaves(metadata: Mapping[Any, object]) -> Iterator[tuple[str, object]]:
    """Yield (name, value) of every value but mappings; an empty name, which Neo4j refuses, becomes ``_``."""
    pending = [("", iter(metadata.items()))]
    while pending:
        prefix, items = pending[-1]
        for key, value in items:
            name = prefix + (well_formed(str(key)) or "_")
            if isinstance(value, Mapping):
                pending.append((f"{name}.", iter(value.items())))
                break
            yield name, value
        else:
            pending.pop()


def _scalar(value: object) -> Scalar | None:
    match value:
        case None | bool():
            return value
        case int():
            return value if value in _INTEGERS else str(value)
        case float():
            return value if math.isfinite(value) else None
        case date() | time():
            return value.isoformat()
        case bytes():
            return value.hex()
        case _:
            return well_formed(str(value))


def _items(values: list[object]) -> Scalar | _Items:
    nested = any(isinstance(value, Mapping | list | tuple | set) for value in values)
    kept = [item for item in map(_scalar, values) if item is not None]
    kinds = {type(item) for item in kept}
    if not nested and kinds == {int, float}:
        return [float(item) for item in kept]
    if nested or len(kinds) > 1:
        return json.dumps(_plain(values if nested else kept), ensure_ascii=False)
    return kept  # type: ignore[return-value]  # a single type, as checked above


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item) for item in value]
    return _scalar(value)
