"""Types of data, read from JSON Schemas that nobody has checked."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import unquote

MAX_DEPTH = 8
"""Levels of a schema that are read; deeper parts are ``any``."""

MAX_TYPES = 400
"""Parts of a schema that are read; others are ``any``. Both bound the time that a hostile schema takes."""

MAX_NAME = 120
"""Longest name of a type, in characters, which people read; a digest replaces a longer one."""

_TITLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.\- ]{0,59}")
_FORMAT = re.compile(r"[a-z][a-z0-9-]{0,39}")
_KEY = re.compile(r"[A-Za-z_$@][\w$@.-]{0,59}", re.ASCII)
_MEANINGLESS = frozenset(
    "any args arguments boolean data input inputs integer item items null number object options output outputs params "
    "parameters payload properties request response result results return root schema string value "
    "_wrappedresult".split()
)


class Kind(StrEnum):
    """The kinds of data types."""

    SCALAR = "scalar"
    FORMAT = "format"
    ENUM = "enum"
    LIST = "list"
    MAP = "map"
    OBJECT = "object"
    UNION = "union"


@dataclass(frozen=True, slots=True)
class DataType:
    """A data type. Types with the same name are equal.

    ``parts`` are the item of a list, the value of a map, the members of a union, the base of an enum or format, and the
    parents of an object. ``fields`` are an object's properties, ``required`` the names of those it always has.
    """

    name: str
    kind: Kind = field(default=Kind.SCALAR, compare=False)
    parts: tuple[DataType, ...] = field(default=(), compare=False, repr=False)
    fields: Mapping[str, DataType] = field(default_factory=dict, compare=False, repr=False)
    required: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    @property
    def named(self) -> bool:
        """True for an object with a title."""
        return self.kind is Kind.OBJECT and self.name != "object" and not self.name.startswith(("{", "object:"))

    @property
    def element(self) -> DataType:
        """The type of the items of a list or of nested lists; any other type itself."""
        return self.parts[0].element if self.kind is Kind.LIST else self


@dataclass(frozen=True, slots=True)
class Property:
    """A property of an object: its schema as written and with references resolved, and whether it is required."""

    stated: object
    schema: Mapping[str, Any]
    required: bool


ANY, STRING, INTEGER, NUMBER = DataType("any"), DataType("string"), DataType("integer"), DataType("number")
BOOLEAN, NULL, OBJECT = DataType("boolean"), DataType("null"), DataType("object", Kind.OBJECT)
_NAMED = {each.name: each for each in (ANY, STRING, INTEGER, NUMBER, BOOLEAN, NULL, OBJECT)}
_OF_VALUES = {str: STRING, bool: BOOLEAN, int: INTEGER, float: NUMBER}


def read_type(schema: object, root: object = None) -> DataType:
    """Return the type that a JSON Schema describes; ``any`` if it is no schema.

    ``root`` is the document that its references point into; the default is the schema itself.
    """
    return _Reader(schema if root is None else root).read(schema)


def list_of(item: DataType) -> DataType:
    """Return the type of a list of items."""
    return DataType(list_name(item.name), Kind.LIST, (item,))


def list_name(item: str) -> str:
    """Return the name of the type of a list of items of a type."""
    return _bounded(f"list<{item}>", "list")


def union_of(members: Iterable[DataType]) -> DataType:
    """Return the union of types without null; a single type is returned as it is."""
    flat: dict[str, DataType] = {}
    for member in members:
        flat.update((each.name, each) for each in (member.parts if member.kind is Kind.UNION else (member,)))
    kept = [flat[name] for name in sorted(flat) if name != NULL.name]
    if not kept or ANY in kept:
        return ANY if kept or not flat else NULL
    if len(kept) == 1:
        return kept[0]
    return DataType(_bounded(" | ".join(each.name for each in kept), "union"), Kind.UNION, tuple(kept))


def properties(schema: object, root: object) -> dict[str, Property]:
    """Return the properties of an object, those of its ``allOf`` included; parts beyond ``MAX_TYPES`` are ignored."""
    parts: list[Mapping[str, Any]] = []
    pending = [(schema, MAX_DEPTH)]
    while pending and len(parts) < MAX_TYPES:
        part, depth = pending.pop()
        parts.append(plain := plain_schema(part, root))
        pending += [(inner, depth - 1) for inner in _items(plain.get("allOf")) if depth > 1]
    found: dict[str, Property] = {}
    for plain in reversed(parts):  # own properties after those of the parts, which they replace
        required = _strings(plain.get("required"))
        for name, inner in list(_mapping(plain.get("properties")).items())[:MAX_TYPES]:
            found[str(name)] = Property(inner, plain_schema(inner, root), name in required)
    return found


def plain_schema(schema: object, root: object) -> Mapping[str, Any]:
    """Return a schema with its reference resolved, and for an optional one the schema of its value.

    Descriptions and defaults beside a reference are kept. What isn't a schema is an empty one.
    """
    for _ in range(MAX_DEPTH):
        if not isinstance(schema, Mapping):
            return {}
        inner = _inner(schema, root)
        if inner is None:
            return schema
        schema = {**inner, **{key: value for key, value in schema.items() if key in ("description", "default")}}
    return {}


def _inner(schema: Mapping[str, Any], root: object) -> Mapping[str, Any] | None:
    if isinstance(schema.get("$ref"), str):
        found = _resolve(schema["$ref"], root)
        return found if isinstance(found, Mapping) else {}
    for key in ("anyOf", "oneOf", "allOf"):
        choices = [each for each in _items(schema.get(key)) if each != {"type": "null"}]
        if len(choices) == 1 and isinstance(choices[0], Mapping) and not schema.get("properties"):
            return choices[0]
    return None


@dataclass(slots=True)
class _Reader:
    """Reads the types of one document; ``active`` are the references being followed."""

    root: object
    active: list[str] = field(default_factory=list)
    read_before: dict[str, DataType] = field(default_factory=dict)
    count: int = 0

    def read(self, schema: object, depth: int = 0, name: str = "") -> DataType:
        self.count += 1
        if depth > MAX_DEPTH or self.count > MAX_TYPES or not isinstance(schema, Mapping):
            return ANY
        if isinstance(schema.get("$ref"), str):
            return self._follow(schema["$ref"], depth)
        if "enum" in schema or "const" in schema:
            return _enum(schema["enum"] if "enum" in schema else [schema["const"]])
        if schema.get("allOf"):
            return self._all_of(schema, depth, name)
        for key in ("anyOf", "oneOf"):
            if schema.get(key) and not schema.get("properties"):
                return union_of([self.read(each, depth + 1) for each in _items(schema[key])])
        kinds = _strings(stated if isinstance(stated := schema.get("type"), list) else [stated])
        if not kinds:
            kinds = [kind for kind, key in (("object", "properties"), ("array", "items")) if key in schema]
        return union_of([self._of_kind(kind, schema, depth, name) for kind in kinds])

    def _of_kind(self, kind: str, schema: Mapping[str, Any], depth: int, name: str) -> DataType:
        if kind == "array":
            return list_of(self.read(schema.get("items"), depth + 1))
        if kind == "object":
            return self._object(schema, depth, name)
        form = schema.get("format")
        if kind == "string" and isinstance(form, str) and _FORMAT.fullmatch(form.lower()):
            return DataType(f"string:{form.lower()}", Kind.FORMAT, (STRING,))
        return _NAMED.get(kind, ANY)

    def _object(self, schema: Mapping[str, Any], depth: int, name: str, bases: Sequence[DataType] = ()) -> DataType:
        fields = {key: inner for base in bases for key, inner in base.fields.items()}
        for key, inner in list(_mapping(schema.get("properties")).items())[:MAX_TYPES]:
            fields[str(key)] = self.read(inner, depth + 1)
        if not fields and bases:
            return bases[0]
        if not fields:
            values = _mapping(schema.get("additionalProperties"))
            value = self.read(values, depth + 1) if values else None
            return DataType(_bounded(f"map<{value.name}>", "map"), Kind.MAP, (value,)) if value else OBJECT
        required = {key for base in bases for key in base.required}
        required |= fields.keys() & set(_strings(schema.get("required")))
        name = name or _title(schema.get("title")) or _shape(fields, required)
        return DataType(name, Kind.OBJECT, tuple(bases), fields, frozenset(required))

    def _all_of(self, schema: Mapping[str, Any], depth: int, name: str) -> DataType:
        parts = [part for each in _items(schema["allOf"]) if (part := self.read(each, depth + 1)) != ANY]
        bases = [part for part in parts if part.kind is Kind.OBJECT]
        own = bool(schema.get("properties"))
        if len(parts) == 1 and not own and not name:
            return parts[0]
        return self._object(schema, depth, name, bases) if bases or own else next(iter(parts), ANY)

    def _follow(self, reference: str, depth: int) -> DataType:
        name = _title(reference.rpartition("/")[2])
        if reference in self.active:
            return DataType(name, Kind.OBJECT) if name else ANY
        if reference not in self.read_before:
            self.active.append(reference)
            self.read_before[reference] = self.read(_resolve(reference, self.root), depth + 1, name)
            self.active.pop()
        return self.read_before[reference]


def _enum(values: object) -> DataType:
    stated = [each for each in _items(values) if each is not None]
    kept = {json.dumps(each): each for each in stated if isinstance(each, str | int | float)}
    if not kept or any(isinstance(each, Mapping | list) for each in stated):
        return NULL if _items(values) and not stated else ANY
    base = union_of([_OF_VALUES.get(type(each), ANY) for each in kept.values()])
    if base == BOOLEAN:
        return BOOLEAN
    label = "|".join(sorted(each if isinstance(each, str) else text for text, each in kept.items()))
    plain = all(_KEY.fullmatch(str(each)) for each in kept.values()) if base == STRING else base in (INTEGER, NUMBER)
    if not plain or len(label) > MAX_NAME:
        label = _digest("|".join(sorted(kept)))
    return DataType(f"enum:{label}", Kind.ENUM, (base,))


def _shape(fields: Mapping[str, DataType], required: set[str]) -> str:
    keys = {key: key if _KEY.fullmatch(key) else json.dumps(key) for key in sorted(fields)}
    shown = (f"{text}{'' if key in required else '?'}: {fields[key].name}" for key, text in keys.items())
    return _bounded(f"{{{', '.join(shown)}}}", "object")


def _bounded(name: str, kind: str) -> str:
    return name if len(name) <= MAX_NAME else f"{kind}:{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _title(title: object) -> str:
    """Return a title or the name of a definition if it can name a type, else an empty text."""
    if not isinstance(title, str) or not _TITLE.fullmatch(title) or title.endswith(("Arguments", "Output")):
        return ""
    return "" if title.lower() in _MEANINGLESS else title.strip()


def _resolve(reference: str, root: object) -> object:
    """Return what a local reference points to, or None."""
    if not reference.startswith("#"):
        return None
    place = root
    for part in unquote(reference[1:]).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, Mapping) and key in place:
            place = place[key]
        elif isinstance(place, list) and key.isascii() and key.isdigit() and int(key[:9]) < len(place):
            place = place[int(key[:9])]
        else:
            return None
    return place


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> list[Any]:
    return value[:MAX_TYPES] if isinstance(value, list) else []


def _strings(value: object) -> list[str]:
    return [each for each in _items(value) if isinstance(each, str)]
