"""Check the JSON Schemas of tools, which strangers write: size, depth, shape and references."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

from pipeline.domains.tools.catalogue import JsonSchema

LARGEST = 200_000
"""Largest schema, in bytes as JSON."""

DEEPEST = 50
"""Deepest nesting of objects and lists in a schema."""

_TYPES = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
_REFERENCES = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))
_SCHEMA_MAPS = frozenset(("$defs", "definitions", "dependentSchemas", "patternProperties", "properties"))
_SCHEMA_LISTS = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_SCHEMAS = frozenset(
    "additionalItems additionalProperties contains contentSchema else if items not propertyNames then"
    " unevaluatedItems unevaluatedProperties".split()
)
_TEXTS = frozenset(
    "$anchor $comment $dynamicAnchor $id $schema contentEncoding contentMediaType description format pattern"
    " title".split()
)
_FLAGS = frozenset(("deprecated", "readOnly", "uniqueItems", "writeOnly"))
_NUMBERS = frozenset(("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"))
_COUNTS = frozenset(
    ("maxContains", "maxItems", "maxLength", "maxProperties", "minContains", "minItems", "minLength", "minProperties")
)


_Place: TypeAlias = "tuple[()] | tuple[_Place, str]"
"""The place of a schema in another: the place that it is in, and its name there."""


class Checked(NamedTuple):
    """A schema that can be used, or None; ``fault`` says why it can't be, if a tool has one that can't."""

    schema: JsonSchema | None
    fault: str = ""


def checked_schema(value: object) -> Checked:
    """Return the JSON Schema ``value``, an object or a bool, if it can be used; None is no schema, and no fault.

    Its shape is what the drafts 4 to 2020-12 have. References may be recursive, but must stay in the schema.
    """
    match value:
        case None:
            return Checked(None)
        case bool():
            return Checked({} if value else {"not": {}})
        case Mapping():
            fault = _fault(value)
            return Checked(None, fault) if fault else Checked(value)
    return Checked(None, f"is {_kind(value)}, not an object")


def _fault(schema: JsonSchema) -> str:
    if _is_deeper(schema, DEEPEST):
        return f"is nested more than {DEEPEST} deep"
    try:
        size = len(json.dumps(schema, ensure_ascii=False, allow_nan=False).encode(errors="replace"))
    except ValueError:
        return "has a number that JSON can't hold"
    if size > LARGEST:
        return f"is larger than {LARGEST // 1000} kB"
    return next(_faults(schema), "")


def _is_deeper(value: object, most: int) -> bool:
    """Return whether objects and lists are nested more than ``most`` deep."""
    level = [value]
    for _ in range(most + 1):
        containers = [item for item in level if isinstance(item, Mapping | list)]
        if not containers:
            return False
        level = [inner for item in containers for inner in (item.values() if isinstance(item, Mapping) else item)]
    return True


def _faults(root: object) -> Iterator[str]:
    """Yield what is wrong in a schema and the schemas in it, each with its place."""
    pending: list[tuple[_Place, object]] = [((), root)]
    while pending:
        place, schema = pending.pop()
        if isinstance(schema, bool):
            continue
        if not isinstance(schema, Mapping):
            yield f"has {_kind(schema)} for a schema at {_path(place)}"
            continue
        for keyword, value in schema.items():
            problem = _problem(keyword, value)
            if problem:
                yield f"{problem} at {_path((place, keyword))}"
            else:
                pending.extend((_below((place, keyword), name), part) for name, part in _parts(keyword, value))


def _problem(keyword: str, value: object) -> str:
    """Return what is wrong with the value of a keyword itself; empty if nothing, or if the keyword is unknown."""
    if keyword in _REFERENCES:
        return _problem_of_reference(value)
    expected = _expected(keyword, value)
    return f"has {_kind(value)} in place of {expected}" if expected else ""


def _problem_of_reference(value: object) -> str:
    if not isinstance(value, str):
        return f"has {_kind(value)} in place of a reference"
    return "" if value.startswith("#") else f"refers to another file, {_shortened(value)!r},"


def _expected(keyword: str, value: object) -> str:
    """Return what a keyword needs and ``value`` isn't; empty if it is."""
    for keywords, fits, expected in _RULES:
        if keyword in keywords:
            return "" if fits(value) else expected
    return ""


def _is_type(value: object) -> bool:
    names = value if isinstance(value, list) and value else [value]
    return all(isinstance(name, str) and name in _TYPES for name in names)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)  # and so a bool, which draft 4 has for exclusiveMinimum


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and value == int(value)


_RULES = (
    (frozenset(("type",)), _is_type, "a type"),
    (_SCHEMA_MAPS | {"dependencies", "dependentRequired"}, lambda value: isinstance(value, Mapping), "an object"),
    (_SCHEMA_LISTS, lambda value: isinstance(value, list) and bool(value), "a list of schemas"),
    (frozenset(("required",)), _are_texts, "a list of names"),
    (frozenset(("enum", "examples")), lambda value: isinstance(value, list), "a list"),
    (_TEXTS, lambda value: isinstance(value, str), "a text"),
    (_FLAGS, lambda value: isinstance(value, bool), "true or false"),
    (_NUMBERS, _is_number, "a number"),
    (_COUNTS, _is_count, "a count"),
)


def _below(place: _Place, name: str) -> _Place:
    return (place, name) if name else place


def _path(place: _Place) -> str:
    names = []
    while place:
        place, name = place
        names.append(_shortened(name))
    return "/" + "/".join(reversed(names))


def _parts(keyword: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield the schemas in the value of a keyword, each with its name in it; none of data such as ``default``."""
    if keyword in _SCHEMA_MAPS and isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list) and (keyword in _SCHEMA_LISTS or keyword == "items"):
        yield from ((str(index), part) for index, part in enumerate(value))
    elif keyword == "dependencies" and isinstance(value, Mapping):
        yield from ((name, part) for name, part in value.items() if not _are_texts(part))
    elif keyword in _SCHEMAS:
        yield "", value


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return "an empty text" if not value else repr(_shortened(value))
        case int() | float():
            return "a number"
        case list():
            return "a list" if value else "an empty list"
    return "an object"


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"
