"""The plan of a filter: what of it the indexes of a corpus evaluate, and what is compared with values.

A filter becomes a Lucene query over the terms of declared fields, and boxes over their keys, one vector search each.
Both admit at least what the filter does; they are exact if all of it can be said in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from pipeline.db.filterable import (
    DECLARED,
    is_sharp,
    key_of,
    kind_bounds,
    lower,
    same,
    slot,
    term,
    term_of_any,
    term_of_several,
    upper,
)
from pipeline.records import METADATA
from pipeline.retrieve.filters.parse import CHUNK_FIELDS, Condition, Every, Filter, Operator, metadata_field

MOST_SIDES = 3
"""Maximum number of declared fields that one vector search compares; there is a query for each number."""

_MOST_BOXES = 16  # vector searches for one filter; chosen by hand, not measured
_MOST_TERMS = 500  # of a list in a Lucene query, which may have 1,024 clauses in all; chosen by hand
_NOTHING = "filterable:70"  # a term that no chunk has

_IN_INDEXES, _IN_FULLTEXT, _STREAMED = "index", "full-text index", "streamed"
_EQUAL = (Operator.EQ, Operator.IN)
_UNEQUAL = (Operator.NE, Operator.NIN)
_RANGES = (Operator.LT, Operator.LTE, Operator.GT, Operator.GTE, Operator.BETWEEN)

Bounds = tuple[str, str]
"""The first key of a range, and the first one after it."""


class Side(NamedTuple):
    """A side of a box: the property with the key, its bounds, and the term of those chunks that have a list instead."""

    property: str
    first: str
    after: str
    several: str


Box = tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a filter for a corpus.

    ``terms`` is the Lucene query of its declared conditions, empty if there is none, and ``boxes`` are the boxes of the
    keys, None if it has none. Each says whether it is exact. ``fields`` are the properties, of a chunk and of its
    document, whose values ``names``, the fields of the filter, compare.
    """

    filter: Filter
    terms: str
    terms_exact: bool
    boxes: tuple[Box, ...] | None
    boxes_exact: bool
    names: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    declared: tuple[str, ...]
    evaluated: tuple[Mapping[str, str], ...]

    @property
    def exact(self) -> bool:
        """Return whether the full-text index alone tells what the filter admits."""
        return self.terms_exact and bool(self.terms)

    @property
    def listed(self) -> list[list[list[str]]]:
        """Return the boxes as lists, which queries take; none if it has none."""
        return [[list(side) for side in box] for box in self.boxes or ()]

    @property
    def several(self) -> str:
        """Return the Lucene query of the chunks with a list of several values in a field of the boxes."""
        return " ".join(dict.fromkeys(f"filterable:{side.several}" for box in self.boxes or () for side in box))


def make_plan(filter_: Filter, declared: Sequence[str]) -> Plan:
    """Plan a filter for a corpus that declares these fields."""
    places = {field: place for place, field in enumerate(declared)}
    conditions = list(_conditions(filter_))
    names = tuple(dict.fromkeys(condition.field for condition in conditions))
    terms, terms_exact = _terms(filter_, places)
    boxes, boxed = _boxes(filter_, places)
    return Plan(
        filter_,
        terms or "",
        terms_exact,
        boxes,
        len(boxed) == len(conditions) and all(map(_is_exact, boxed)) and boxes is not None,
        names,
        tuple(_properties(name, places) for name in names),
        tuple(declared),
        tuple(_told(condition, places, boxed) for condition in conditions),
    )


def _conditions(filter_: Filter) -> Iterator[Condition]:
    if isinstance(filter_, Condition):
        yield filter_
    else:
        for part in filter_.parts:
            yield from _conditions(part)


def _place(condition: Condition, places: Mapping[str, int]) -> int | None:
    name = metadata_field(condition.field)
    return None if name is None else places.get(name)


def _properties(field: str, places: Mapping[str, int]) -> tuple[str, str]:
    """Return the properties of a chunk and of its document that have a field's value."""
    name = metadata_field(field)
    if name is None:
        # Filters and hits call the key of a document ``document``.
        return (field, "") if field in CHUNK_FIELDS else ("", "key" if field == "document" else field)
    return (DECLARED + name, "") if name in places else (METADATA + name, METADATA + name)


def _told(condition: Condition, places: Mapping[str, int], boxed: Sequence[Condition]) -> Mapping[str, str]:
    by = _STREAMED
    if any(condition is one for one in boxed):
        by = _IN_INDEXES
    elif _term(condition, places)[1]:
        by = _IN_FULLTEXT
    return {"field": condition.field, "operator": condition.operator.value, "by": by}


def _is_exact(condition: Condition) -> bool:
    """Return whether keys tell exactly what meets a condition."""
    equality = condition.operator in (*_EQUAL, *_UNEQUAL)
    return all(is_sharp(operand, equality=equality) for operand in condition.operands)


def _terms(filter_: Filter, places: Mapping[str, int]) -> tuple[str | None, bool]:
    """Return a Lucene query that admits at least what a filter does, None for all, and whether it admits no more."""
    if isinstance(filter_, Condition):
        return _term(filter_, places)
    parts = [_terms(part, places) for part in filter_.parts]
    exact = all(one for _, one in parts)
    said = [text for text, _ in parts if text is not None]
    if isinstance(filter_, Every):
        return " ".join(f"+({text})" for text in said) or None, exact
    # One part that can't be said may admit anything.
    return (" ".join(f"({text})" for text in said), exact) if len(said) == len(parts) else (None, False)


def _term(condition: Condition, places: Mapping[str, int]) -> tuple[str | None, bool]:
    place = _place(condition, places)
    if place is None:
        return None, False
    any_, exact = f"filterable:{term_of_any(place)}", _is_exact(condition)
    if condition.operator in _RANGES:
        return _range(place, _bounds(condition)), exact
    if condition.operator not in (*_EQUAL, *_UNEQUAL) or len(condition.operands) > _MOST_TERMS:
        return any_, False
    keys = dict.fromkeys(filter(None, map(key_of, condition.operands)))
    said = " ".join(f"filterable:{term(place, key)}" for key in keys)
    if condition.operator in _EQUAL:
        return said or _NOTHING, exact
    if not exact:
        return any_, False  # a key of others too may not be left out
    return (f"+{any_} -({said})" if said else any_), True


def _range(place: int, bounds: Bounds) -> str:
    first, after = bounds
    return f"filterable:[{term(place, first)} TO {term(place, after)}}}" if first < after else _NOTHING


def _bounds(condition: Condition) -> Bounds:
    low, high = condition.operands[0], condition.operands[-1]
    start, end = kind_bounds(low)
    match condition.operator:
        case Operator.LT:
            return start, upper(high, included=False)
        case Operator.LTE:
            return start, upper(high, included=True)
        case Operator.GT:
            return lower(low, included=False), end
        case Operator.GTE:
            return lower(low, included=True), end
    return lower(low, included=True), upper(high, included=True)


def _boxes(filter_: Filter, places: Mapping[str, int]) -> tuple[tuple[Box, ...] | None, list[Condition]]:
    """Return boxes outside of which the filter admits nothing with single values, and the conditions in them."""
    by_place: dict[int, list[Condition]] = {}
    for condition in _joined(filter_):
        place = _place(condition, places)
        if place is not None and condition.operator in (*_EQUAL, *_RANGES):
            by_place.setdefault(place, []).append(condition)
    ranges = {place: _intersection(conditions) for place, conditions in by_place.items()}
    # The fewest ranges first, as they are probably the narrowest.
    chosen: list[int] = []
    count = 1
    for place in sorted(ranges, key=lambda place: len(ranges[place])):
        if len(chosen) < MOST_SIDES and count * len(ranges[place]) <= _MOST_BOXES:
            chosen.append(place)
            count *= len(ranges[place])
    if not chosen or not count:
        return None, []
    chosen.sort()
    sides = ([Side(slot(place), *bounds, term_of_several(place)) for bounds in ranges[place]] for place in chosen)
    return tuple(product(*sides)), [condition for place in chosen for condition in by_place[place]]


def _joined(filter_: Filter) -> Iterator[Condition]:
    """Yield the conditions that must hold in any case."""
    if isinstance(filter_, Condition):
        yield filter_
    elif isinstance(filter_, Every):
        for part in filter_.parts:
            yield from _joined(part)


def _intersection(conditions: Sequence[Condition]) -> list[Bounds]:
    ranges: list[Bounds] = [("", "9")]
    for condition in conditions:
        equal = condition.operator in _EQUAL
        others = list(dict.fromkeys(map(same, condition.operands))) if equal else [_bounds(condition)]
        pairs = ((max(a[0], b[0]), min(a[1], b[1])) for a in ranges for b in others)
        ranges = list(dict.fromkeys(pair for pair in pairs if pair[0] < pair[1]))
    return ranges
