"""Filters over the metadata of documents and chunks: parsed from JSON values and checked.

    {"year": {"$gte": 1990, "$lt": 2000}, "$or": [{"author": "Amsel"}, {"tags": {"$in": ["tides", "moon"]}}]}

A field belongs to the chunk or its document (``CHUNK_FIELDS``, ``DOCUMENT_FIELDS``), or else to the metadata; the
prefix ``metadata.`` always means the latter. A chunk has its own metadata and its document's; where both have a field,
the chunk's own value counts. Conditions side by side must all hold. A bare value means ``$eq``. The operators have the
names of neo4j-graphrag; :mod:`pipeline.retrieve.filters.conditions` defines them.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, time
from enum import StrEnum
from typing import TypeAlias

from pipeline.db.filterable import check_filterable
from pipeline.errors import FilterError, InputError
from pipeline.records import METADATA, Scalar

CHUNK_FIELDS = ("heading", "ordinal", "start", "end", "line_start", "line_end", "tokens")
"""The fields of a chunk, named as in a hit's metadata."""

DOCUMENT_FIELDS = ("document", "title", "path")
"""The fields of its document besides the metadata, likewise."""

DEEPEST = 16
"""Maximum number of nested ``$and`` and ``$or``. Chosen by hand."""

MOST_VALUES = 10_000
"""Maximum number of values in a filter, counting each operand of ``$in``; a longer list is a join."""

LONGEST = 1_000
"""Maximum number of characters of a field's name or a text. Chosen by hand."""


class Operator(StrEnum):
    """A comparison of a field's value."""

    EQ = "$eq"
    NE = "$ne"
    LT = "$lt"
    LTE = "$lte"
    GT = "$gt"
    GTE = "$gte"
    BETWEEN = "$between"
    IN = "$in"
    NIN = "$nin"
    LIKE = "$like"
    ILIKE = "$ilike"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one field; ``operands`` are one value, the two bounds of ``$between``, or the list of ``$in``."""

    field: str
    operator: Operator
    operands: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Every:
    """A conjunction: all parts must hold. Without parts it always holds."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """A disjunction: one part must hold."""

    parts: tuple[Filter, ...]


Filter: TypeAlias = Condition | Every | Either

_LISTED = (Operator.IN, Operator.NIN)
_ORDERED = (Operator.LT, Operator.LTE, Operator.GT, Operator.GTE)
_JOINS: Mapping[str, type[Every | Either]] = {"$and": Every, "$or": Either}
_KNOWN = (*Operator, *_JOINS)
_EXAMPLE = 'For example {"year": {"$gte": 1990}}.'


def parse_filter(document: object) -> Filter:
    """Return the filter that ``document``, plain JSON values, describes; dates become ISO 8601 text.

    Raises FilterError naming the wrong place, key or value, and a right one.
    """
    filter_ = _parse(document, "the filter", 1)
    if _size(filter_) > MOST_VALUES:
        raise FilterError(
            f"The filter holds more than {MOST_VALUES:,} values.",
            "Filter by a field that these have in common, or search for them in parts.",
        )
    return filter_


def metadata_field(field: str) -> str | None:
    """Return the name of the metadata that a filter's field means; None of one that a chunk or document has itself."""
    return None if field in (*CHUNK_FIELDS, *DOCUMENT_FIELDS) else field.removeprefix(METADATA)


def declared_fields(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of the metadata, as a corpus declares the fields that it filters by: each once, in order.

    Raises InputError for a name that can't be one, or that means what every chunk or document has.
    """
    names = list(names)
    for name in names:
        if metadata_field(name.strip()) is None:
            raise InputError(
                f"{name!r} is a field that every chunk or document has, and can't be declared.",
                f"Name fields of the metadata; if it has one of that name, write {METADATA}{name}.",
            )
    return check_filterable(names)


def _size(filter_: Filter) -> int:
    if isinstance(filter_, Condition):
        return len(filter_.operands) if filter_.operator in _LISTED else 1
    return sum(map(_size, filter_.parts))


def _parse(document: object, where: str, depth: int) -> Filter:
    if not isinstance(document, Mapping):
        raise FilterError(f"{_capital(where)} is {_shown(document)}, not an object of fields.", _EXAMPLE)
    if depth > DEEPEST:
        raise FilterError(f"The filter is nested more than {DEEPEST} levels deep.", "Flatten its $and and $or.")
    parts = [_entry(key, value, where, depth) for key, value in document.items()]
    return parts[0] if len(parts) == 1 else Every(tuple(parts))


def _entry(key: object, value: object, where: str, depth: int) -> Filter:
    # JSON can hold half of a surrogate pair, which the server refuses in names.
    if not isinstance(key, str) or not key.strip() or len(key) > LONGEST or not key.isprintable():
        raise FilterError(f"{_capital(where)} has a field named {_shown(key)}.", "Name a field by a short text.")
    if key in _JOINS:
        if not isinstance(value, list | tuple) or not value:
            raise FilterError(f"{key} has {_shown(value)}.", f"Give it a list of filters: {{{key!r}: [..., ...]}}.")
        parts = [_parse(part, f"part {n} of {key}", depth + 1) for n, part in enumerate(value, 1)]
        return _JOINS[key](tuple(parts))
    if key.startswith("$"):
        fix = "Put it below a field: " + f'{{"field": {{"{key}": ...}}}}.' if key in _KNOWN else _nearest(key)
        raise FilterError(f"{_capital(where)} has {key!r} where a field's name, $and or $or is expected.", fix)
    return _field(key, value)


def _field(field: str, value: object) -> Filter:
    if not isinstance(value, Mapping):
        return _condition(field, Operator.EQ, value)
    if not value:
        raise FilterError(f"{field!r} has no operator.", _EXAMPLE)
    parts = []
    for name, operand in value.items():
        if name in _JOINS:
            fix = f'{name} joins filters: {{"{name}": [{{"{field}": ...}}, ...]}}.'
            raise FilterError(f"{field!r} has {name!r} below it.", fix)
        if name not in set(Operator):
            raise FilterError(f"{field!r} has {_shown(name)} where an operator is expected.", _nearest(name))
        parts.append(_condition(field, Operator(name), operand))
    return parts[0] if len(parts) == 1 else Every(tuple(parts))


def _condition(field: str, operator: Operator, operand: object) -> Condition:
    where = f"{operator} of {field!r}"
    if operator in _LISTED:
        return Condition(field, operator, tuple(_value(value, where) for value in _listed(operand, where)))
    if operator is Operator.BETWEEN:
        values = _listed(operand, where)
        if len(values) != 2:
            raise FilterError(f"{where} has {len(values)} values.", "Give the lowest and the highest: [1990, 1999].")
        low, high = (_value(value, where) for value in values)
        if isinstance(low, bool) or isinstance(high, bool) or isinstance(low, str) is not isinstance(high, str):
            raise FilterError(f"{where} has bounds {low!r} and {high!r}.", "Give two numbers, or two texts.")
        return Condition(field, operator, (low, high))
    value = _value(operand, where)
    if operator in _ORDERED and isinstance(value, bool):
        raise FilterError(f"{where} is {value!r}, which comes neither before nor after.", "Use $eq or $ne.")
    if operator in (Operator.LIKE, Operator.ILIKE) and not isinstance(value, str):
        raise FilterError(f"{where} is {value!r}, not a text.", f"Use $eq, or a text: {{{operator.value!r}: 'tide'}}.")
    return Condition(field, operator, (value,))


def _listed(operand: object, where: str) -> list[object] | tuple[object, ...]:
    if not isinstance(operand, list | tuple):
        raise FilterError(f"{where} is {_shown(operand)}, not a list.", 'Write the values in brackets: ["a", "b"].')
    return operand


def _value(value: object, where: str) -> Scalar:
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, str) and len(value) > LONGEST:
        raise FilterError(f"{where} has {len(value):,} characters.", f"{LONGEST:,} are the most.")
    if isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    fix = "Use $in for several values." if isinstance(value, list | tuple) else "Give a text, a number, true or false."
    raise FilterError(f"{where} is {_shown(value)}.", fix)


def _nearest(name: object) -> str:
    near = difflib.get_close_matches(str(name), _KNOWN, n=1)
    return f"Did you mean {near[0]}?" if near else f"The operators are {' '.join(_KNOWN)}."


def _shown(value: object) -> str:
    if value is None:
        return "null"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
