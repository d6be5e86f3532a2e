"""The inputs and outputs of a tool: from its schemas, or without them from its name and description."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from pipeline.domains.tools.catalogue import Tool
from pipeline.domains.tools.types import datatypes
from pipeline.domains.tools.types.datatypes import ANY, BOOLEAN, OBJECT, STRING, DataType, Kind, Property
from pipeline.domains.tools.types.words import GENERIC, split, stem, stems, subject
from pipeline.resources import word_lists

Evidence = Literal["schema", "text"]

_LEVELS = 4  # levels of objects whose fields are read; chosen by hand, as the next, not measured
_LISTS = 2  # levels of lists in lists

_MOST_FIELDS, _MOST_PHRASES = 200, 8
"""Bounds against endless schemas and texts. Chosen by hand; not measured."""

_WORDS = word_lists(__file__)
_CONTAINERS = frozenset(_WORDS["containers"].split())
_SETTINGS = frozenset(_WORDS["settings"].split())
_SETTINGS_FIRST = frozenset(_WORDS["settings_first"].split())
_RETURNS = re.compile(r"\b(?:returns?|output|outputs|yields)\b(?: value)?\s*[:\-]?\s*", re.IGNORECASE)
_OPENING = re.compile(
    r"\s*(?:retrieves?|fetch(?:es)?|gets?|lists?|obtains?|provides?|generates?|creates?|computes?|calculates?|finds?)\s+"
    r"(?:a list of\s+|information about\s+)?",
    re.IGNORECASE,
)
_TYPE_HINT = re.compile(r"\A(?:[A-Z]\w*\[[^\]]*\]|[a-z]+(?:\[[^\]]*\])?)\s*:\s*")
_BETWEEN = re.compile(
    r"[,;:()\n]|\b(?:and|or|of|for|from|with|including|containing|in|on|to|by|that|which|as|about|at|if|is|are|was|per|"
    r"along|based|using|when|whether|mapping|used|matching|via|within|between|given|specified|such|where|not)\b",
    re.IGNORECASE,
)
_SAYS_LITTLE = frozenset(_WORDS["says_little"].split())


@dataclass(frozen=True, slots=True)
class Field:
    """An input or output of a tool.

    ``path`` is its place (``users[].id``), ``words`` the stems of its meaning, ``head`` the stem of its last word,
    ``thing`` the stem of what it belongs to (``domain`` of ``email_domain_id``), or empty. A ``setting`` configures the
    tool rather than supplies data. Evidence "text": inferred from texts, not declared.
    """

    name: str
    path: str
    type: DataType
    required: bool
    description: str
    words: frozenset[str]
    evidence: Evidence = "schema"
    head: str = ""
    thing: str = ""
    setting: bool = False


def inputs(tool: Tool) -> list[Field]:
    """Return the inputs of a tool: the properties of its input schema, and those of objects in it."""
    root, about = tool.input, _about(tool)
    return list(islice(_taken(root, "", root, about, _LEVELS), _MOST_FIELDS))


def outputs(tool: Tool) -> list[Field]:
    """Return the outputs of a tool: those of its output schema, else those inferred from its texts."""
    root, about = tool.output, _about(tool)
    own = datatypes.properties(root, root)
    schema, path = (own["result"].stated, "result") if own.keys() == {"result"} else (root, "")
    inner_path, inner, lists = _through_lists(schema, path, root)
    for at, fields in ((path, schema), (inner_path, inner if lists else None)):
        if datatypes.properties(fields, root):
            return list(_returned(fields, at, root, about, _LEVELS))[:_MOST_FIELDS]
    data_type = datatypes.read_type(schema, root)
    item = data_type.element
    means = item not in (ANY, STRING, OBJECT) and item.kind is not Kind.MAP
    if about and (means or (lists and item == STRING)):
        return [Field("_".join(about), inner_path, data_type, True, "", stems(about), "schema", stem(about[-1]))]
    return inferred(tool)


def _about(tool: Tool) -> Sequence[str]:
    """Return the words of what a tool is about; of a name without a known verb the last, as the first may be one."""
    named = subject(tool.name, tool.service)
    return named.words if named.verb else named.words[-1:]


def containers(tool: Tool) -> list[Field]:
    """Return the outputs of a tool that are objects or lists of objects, whose fields are outputs, too."""
    every = islice(_taken(tool.output, "", tool.output, _about(tool), _LEVELS), _MOST_FIELDS)
    return [each for each in every if each.type.element.kind is Kind.OBJECT]


def inferred(tool: Tool) -> list[Field]:
    """Return the outputs inferred from the name and the description of a tool."""
    named = subject(tool.name, tool.service)
    found: dict[frozenset[str], Field] = {}
    for words in (*([named.words] if named.returned else []), *_phrases(tool.description)):
        meant = stems(_meaning(words, named.words))
        name = "_".join(words)
        found.setdefault(meant, Field(name, name, ANY, False, "", meant, "text", stem(words[-1])))
    return list(found.values())


def required_inputs(fields: Sequence[Field]) -> list[Field]:
    """Return the inputs of a tool that are required, without those inside objects."""
    return [each for each in fields if each.required and "." not in each.path]


def ways_to_fill(fields: Sequence[Field], path: str) -> list[list[Field]]:
    """Return the ways to fill an object by its parts: all that it requires, or one of any if it requires none."""
    parts = [each for each in fields if each.path.rpartition(".")[0] == path]
    required = [each for each in parts if each.required]
    return [required] if required else [[each] for each in parts]


def missing_inputs(fields: Sequence[Field], mapped: Collection[str]) -> list[Field]:
    """Return the required inputs of a tool that ``mapped`` doesn't fill, by their name or path or those of their parts.

    In place of an object that is filled in part stand the parts that are missing.
    """
    unnamed = (each for each in required_inputs(fields) if each.name not in mapped)
    return [one for each in unnamed for one in _missing(fields, each, mapped)]


def _missing(fields: Sequence[Field], each: Field, mapped: Collection[str]) -> list[Field]:
    if each.path in mapped:
        return []
    ways = ways_to_fill(fields, each.path)
    missing = [[one for part in way for one in _missing(fields, part, mapped)] for way in ways]
    fewest = min(missing, key=len, default=[each])
    return [each] if fewest in ways else fewest


def _taken(
    schema: object, prefix: str, root: object, about: Sequence[str], levels: int, required: bool = True
) -> Iterator[Field]:
    """Yield the fields of an object, each before those of the object that it is; ``prefix`` is that of their paths."""
    for name, inner in datatypes.properties(schema, root).items():
        path, below, _ = _through_lists(inner.schema, prefix + name, root)
        own = replace(inner, required=required and inner.required)
        yield _field(name, path, own, root, about)
        if levels > 1:
            container = split(name) if name not in _CONTAINERS else about
            yield from _taken(below, f"{path}.", root, container, levels - 1, own.required)


def _returned(schema: object, path: str, root: object, about: Sequence[str], levels: int) -> Iterator[Field]:
    """Yield the fields of an object, and after each those of the object that it holds."""
    for name, inner in datatypes.properties(schema, root).items():
        at, below, _ = _through_lists(inner.schema, f"{path}.{name}" if path else name, root)
        nested = datatypes.properties(below, root)
        if not nested or datatypes.read_type(inner.stated, root).element.named:
            yield _field(name, at, inner, root, about)
        if nested and levels > 1:
            container = split(name) if name.lower() not in _CONTAINERS else about
            yield from _returned(below, at, root, container, levels - 1)


def _field(name: str, path: str, inner: Property, root: object, about: Sequence[str]) -> Field:
    words = split(name) or (name,)
    data_type = datatypes.read_type(inner.stated, root)
    meaning = words if data_type.element.named else _meaning(words, about)  # a Position is no index in a list
    named = [word for word in meaning if word not in GENERIC]
    description = inner.schema.get("description")
    return Field(
        name,
        path,
        data_type,
        inner.required,
        description if isinstance(description, str) else "",
        words=stems(meaning),
        head=stem(words[-1]),
        thing=stem(named[-1]) if named else "",
        setting=data_type == BOOLEAN
        or (not inner.required and inner.schema.get("default") not in (None, "", [], {}))
        or words[-1] in _SETTINGS
        or (len(words) > 1 and words[0] in _SETTINGS_FIRST),
    )


def _meaning(words: Sequence[str], about: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a name, after those of what it belongs to if it is generic (``id``) or repeats them."""
    belongs = all(word in GENERIC for word in words) or (about and words[:-1] == tuple(about[-1:]))
    return tuple(dict.fromkeys((*about, *words))) if belongs else tuple(words)


def _through_lists(schema: object, path: str, root: object) -> tuple[str, Mapping[str, Any], int]:
    """Return the path and the schema of the items of nested lists, and the number of lists."""
    plain, lists = datatypes.plain_schema(schema, root), 0
    while isinstance(plain.get("items"), Mapping) and lists < _LISTS:
        plain, path, lists = datatypes.plain_schema(plain["items"], root), f"{path}[]", lists + 1
    return path, plain, lists


def _phrases(description: str) -> list[tuple[str, ...]]:
    """Return the noun phrases of a description for what the tool returns ("Returns the ...")."""
    opening = _OPENING.match(description)
    found = _cut(description[opening.end() :])[:1] if opening else []
    for verb in islice(_RETURNS.finditer(description), 3):  # chosen by hand: what is returned stands first
        found += _cut(_TYPE_HINT.sub("", description[verb.end() :].lstrip()))
    return list(dict.fromkeys(found))[:_MOST_PHRASES]


def _cut(text: str) -> list[tuple[str, ...]]:
    """Return the noun phrases of at most four words in the first sentence of a text."""
    sentence = re.split(r"\.\s|\.\Z|\n\s*\n|,? (?:which|where|who|so that)\b", text[:300], maxsplit=1)[0]
    parts = (re.findall(r"[A-Za-z][A-Za-z0-9_']*", part) for part in _BETWEEN.split(sentence))
    phrases = (split(" ".join(word for word in part if word.lower() not in _SAYS_LITTLE)) for part in parts)
    return [words for words in phrases if 0 < len(words) <= 4]  # longer ones are clauses; chosen by hand
