"""Check the JSON Schemas of tools, which strangers write: size, depth, form and references."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
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


def _is_type(value: object) -> bool:
    names = value if isinstance(value, list) and value else [value]
    return all(isinstance(name, str) and name in _TYPES for name in names)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and value == int(value)


_RULES: tuple[tuple[Iterable[str], Callable[[object], bool], str], ...] = (
    (["type"], _is_type, "a type"),
    (_SCHEMA_MAPS | {"dependencies", "dependentRequired"}, lambda value: isinstance(value, Mapping), "an object"),
    (_SCHEMA_LISTS, lambda value: isinstance(value, list) and bool(value), "a list of schemas"),
    (["required"], _are_texts, "a list of names"),
    (["enum", "examples"], lambda value: isinstance(value, list), "a list"),
    (
        "$anchor $comment $dynamicAnchor $id $schema contentEncoding contentMediaType description format pattern"
        " title".split(),
        lambda value: isinstance(value, str),
        "a text",
    ),
    ("deprecated readOnly uniqueItems writeOnly".split(), lambda value: isinstance(value, bool), "true or false"),
    (
        "exclusiveMaximum exclusiveMinimum maximum minimum multipleOf".split(),
        lambda value: isinstance(value, int | float),  # draft 4 has true and false for the exclusive ones
        "a number",
    ),
    (
        "maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties".split(),
        _is_count,
        "a count",
    ),
)
_EXPECTED = {keyword: (fits, expected) for keywords, fits, expected in _RULES for keyword in keywords}


_Place: TypeAlias = "tuple[()] | tuple[_Place, str]"
"""The place of a schema in another: the place of the enclosing schema, and the name in that."""


class Checked(NamedTuple):
    """A usable schema, or None; ``fault`` says why a given schema is unusable."""

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
    if size > LARGEST:
        return f"is larger than {LARGEST // 1000} kB"
    return next(_faults(schema), "")


def _faults(root: object) -> Iterator[str]:
    """Yield the faults of a schema and of those in it, each with its place."""
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
    """Return the fault of a keyword's own value; empty if it has none, or if the keyword is unknown."""
    if keyword in _REFERENCES:
        if not isinstance(value, str):
            return f"has {_kind(value)} in place of a reference"
        return "" if value.startswith("#") else f"refers to another file, {_shortened(value)!r},"
    fits, expected = _EXPECTED.get(keyword, (None, ""))
    return f"has {_kind(value)} in place of {expected}" if fits and not fits(value) else ""


def _below(place: _Place, name: str) -> _Place:
    return (place, name) if name else place


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
