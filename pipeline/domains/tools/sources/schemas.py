"""Check the JSON Schemas of tools, which strangers write: size, depth, form and references."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from pipeline.domains.tools.catalogue import JsonSchema
from pipeline.files import Guard, Limits, Unreadable
from pipeline.files.guard import check_depth

LARGEST = 200_000
"""Largest schema, in bytes of JSON: a node of the graph holds it. Chosen by hand."""

DEEPEST = 50
"""Deepest nesting of objects and lists in a schema. Chosen by hand."""

# check_depth doesn't count the innermost level
_SHALLOW = Guard(limits=Limits(depth=DEEPEST - 1))
_TYPES = frozenset("array boolean integer null number object string".split())
_REFERENCES = frozenset("$ref $dynamicRef $recursiveRef".split())
_SCHEMA_MAPS = frozenset("$defs definitions dependentSchemas patternProperties properties".split())
_SCHEMA_LISTS = frozenset("allOf anyOf oneOf prefixItems".split())
_SCHEMAS = frozenset(
    "additionalItems additionalProperties contains contentSchema else if items not propertyNames then"
    " unevaluatedItems unevaluatedProperties".split()
)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_type(value: object) -> bool:
    names = value if isinstance(value, list) and value else [value]
    return _are_texts(names) and _TYPES.issuperset(names)


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and value == int(value)


_TEXTS = frozenset(
    "$anchor $comment $dynamicAnchor $id $schema contentEncoding contentMediaType description format pattern "
    "title".split()
)
_NUMBERS = frozenset("exclusiveMaximum exclusiveMinimum maximum minimum multipleOf".split())
_COUNTS = frozenset("maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties".split())
_RULES: tuple[tuple[Collection[str], Callable[[object], bool], str], ...] = (
    ({"type"}, _is_type, "a type"),
    (_SCHEMA_MAPS | {"dependencies", "dependentRequired"}, lambda value: isinstance(value, Mapping), "an object"),
    (_SCHEMA_LISTS, lambda value: isinstance(value, list) and bool(value), "a list of schemas"),
    ({"required"}, _are_texts, "a list of names"),
    ({"enum", "examples"}, lambda value: isinstance(value, list), "a list"),
    (_TEXTS, lambda value: isinstance(value, str), "a text"),
    ({"deprecated", "readOnly", "uniqueItems", "writeOnly"}, lambda value: isinstance(value, bool), "true or false"),
    (_NUMBERS, lambda value: isinstance(value, int | float), "a number"),  # draft 4: bools for the exclusive ones
    (_COUNTS, _is_count, "a count"),
)
_EXPECTED = {keyword: (fits, expected) for keywords, fits, expected in _RULES for keyword in keywords}

_Place: TypeAlias = "tuple[()] | tuple[_Place, str]"
"""The place of a schema in another: the place of the enclosing schema, and the name in that."""


class Checked(NamedTuple):
    """A usable schema, or None; ``fault`` says why a schema is unusable."""

    schema: JsonSchema | None
    fault: str = ""


def checked_schema(value: object) -> Checked:
    """Return the JSON Schema ``value``, an object or a bool, if it is usable; None is neither a schema nor a fault.

    It may follow any draft from 4 to 2020-12. References may be recursive, but must stay inside the schema.
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
    try:
        check_depth(schema, _SHALLOW)
        size = len(json.dumps(schema, ensure_ascii=False, allow_nan=False).encode(errors="replace"))
    except Unreadable:
        return f"is nested more than {DEEPEST} deep"
    except ValueError:
        return "has a number that JSON can't hold"
    return _first_fault(schema) if size <= LARGEST else f"is larger than {LARGEST // 1000} kB"


def _first_fault(root: object) -> str:
    """Return the fault of a schema or of one in it, with its place; empty if there is none."""
    pending: list[tuple[_Place, object]] = [((), root)]
    while pending:
        place, schema = pending.pop()
        if not isinstance(schema, Mapping | bool):
            return f"has {_kind(schema)} for a schema at {_path(place)}"
        for keyword, value in schema.items() if isinstance(schema, Mapping) else ():
            at = place, keyword
            if problem := _problem(keyword, value):
                return f"{problem} at {_path(at)}"
            pending.extend(((at, name) if name else at, part) for name, part in _parts(keyword, value))
    return ""


def _problem(keyword: str, value: object) -> str:
    """Return the fault of a keyword's own value; empty if it has none, or if the keyword is unknown."""
    if keyword in _REFERENCES:
        if not isinstance(value, str):
            return f"has {_kind(value)} in place of a reference"
        return "" if value.startswith("#") else f"refers to another file, {_shortened(value)!r},"
    fits, expected = _EXPECTED.get(keyword, (None, ""))
    return f"has {_kind(value)} in place of {expected}" if fits and not fits(value) else ""


def _path(place: _Place) -> str:
    names = []
    while place:
        place, name = place
        names.append(_shortened(name))
    return "/" + "/".join(reversed(names))


def _parts(keyword: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield the schemas in the value of a keyword, with their names in it; none in data such as ``default``."""
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
