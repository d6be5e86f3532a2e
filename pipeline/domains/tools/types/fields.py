"""The inputs and outputs of a tool: from its schemas, or without them from its name and description."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pipeline.domains.tools.catalogue import Tool
from pipeline.domains.tools.types.datatypes import (
    ANY,
    BOOLEAN,
    OBJECT,
    STRING,
    DataType,
    Kind,
    Property,
    plain_schema,
    properties,
    read_type,
)
from pipeline.domains.tools.types.words import GENERIC, split, stem, stems, subject

Evidence = Literal["schema", "text"]

_LEVELS = 2
"""Levels of objects and lists whose fields are read. Chosen by hand; not measured."""

_MOST_FIELDS, _MOST_PHRASES = 200, 8
"""Bounds against endless schemas and texts. Chosen by hand; not measured."""

_CONTAINERS = frozenset("data item items list result results value values response records entries output".split())
_SETTINGS = frozenset(
    "limit offset page pages format language lang locale sort order width height timeout verbose encoding cursor count "
    "fields color background theme style font mode unit units debug size depth level direction query search pattern "
    "filter filters option options prompt reason thought max min headers method precision quality seed retries include "
    "exclude overwrite recursive raw pretty compatibility detail details scale opacity interval period".split()
)
_SETTINGS_FIRST = frozenset(
    "max min num number include exclude is has use enable disable show sort filter with page allow".split()
)
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
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_']*")
_SAYS_LITTLE = frozenset(
    "a an the its their it this all any each list str string int integer float bool dict dictionary json object array "
    "objects true false none null result results response success successfully successful message messages error "
    "errors formatted structured detailed information info details detail data new current available complete user's "
    "one more no number numbers value values text output content format only both up your you can be has have than "
    "also markdown html csv xml comprehensive full summary status operation confirmation specific relevant various "
    "other first last top back unique default after before same metadata configuration ordered order body user found "
    "following example examples path tool function call created updated deleted item items".split()
)


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
    about = subject(tool.name, tool.service).words
    found: list[Field] = []
    for name, inner in properties(tool.input, tool.input).items():
        path, schema, _ = _through_lists(inner.schema, name, tool.input)
        nested = properties(schema, tool.input)
        found.append(_field(name, path, inner, tool.input, about))
        for key, part in nested.items():
            required = inner.required and part.required
            part_path, _, _ = _through_lists(part.schema, f"{path}.{key}", tool.input)
            container = split(name) if name not in _CONTAINERS else about
            found.append(_field(key, part_path, Property(part.stated, part.schema, required), tool.input, container))
    return found[:_MOST_FIELDS]


def outputs(tool: Tool) -> list[Field]:
    """Return the outputs of a tool: those of its output schema, else those inferred from its texts."""
    schema, path = _unwrapped(tool.output)
    about = subject(tool.name, tool.service).words
    if properties(schema, tool.output):
        return list(_returned(schema, path, tool.output, about, _LEVELS))[:_MOST_FIELDS]
    inner_path, inner, lists = _through_lists(schema, path, tool.output)
    if lists and properties(inner, tool.output):
        return list(_returned(inner, inner_path, tool.output, about, _LEVELS))[:_MOST_FIELDS]
    data_type = read_type(schema, tool.output)
    if (about and data_type.element not in (ANY, STRING, OBJECT) and data_type.element.kind is not Kind.MAP) or (
        about and lists and data_type.element == STRING
    ):
        name = "_".join(about)
        return [Field(name, inner_path, data_type, True, "", stems(about), "schema", stem(about[-1]))]
    return told(tool)


def told(tool: Tool) -> list[Field]:
    """Return the outputs inferred from the name and the description of a tool."""
    named = subject(tool.name, tool.service)
    phrases = [named.words] if named.returned else []
    phrases += _phrases(tool.description)
    found: dict[frozenset[str], Field] = {}
    for words in phrases:
        meant = stems(_meaning(words, named.words))
        name = "_".join(words)
        found.setdefault(meant, Field(name, name, ANY, False, "", meant, "text", stem(words[-1])))
    return list(found.values())


def required_inputs(tool: Tool) -> list[Field]:
    """Return the required inputs of a tool, without those inside objects."""
    return [each for each in inputs(tool) if each.required and "." not in each.path]


def missing_inputs(tool: Tool, mapped: Collection[str]) -> list[Field]:
    """Return the required inputs whose name or path isn't among ``mapped``."""
    return [each for each in required_inputs(tool) if each.name not in mapped and each.path not in mapped]


def _returned(schema: object, path: str, root: object, about: Sequence[str], levels: int) -> Iterator[Field]:
    """Yield the fields of an object, and after each those of the object that it holds."""
    for name, inner in properties(schema, root).items():
        at, below, _ = _through_lists(inner.schema, f"{path}.{name}" if path else name, root)
        nested = properties(below, root)
        if not nested or read_type(inner.stated, root).element.named:
            yield _field(name, at, inner, root, about)
        if nested and levels > 1:
            container = split(name) if name.lower() not in _CONTAINERS else about
            yield from _returned(below, at, root, container, levels - 1)


def _field(name: str, path: str, inner: Property, root: object, about: Sequence[str]) -> Field:
    words = split(name) or (name,)
    data_type = read_type(inner.stated, root)
    description = inner.schema.get("description")
    return Field(
        name,
        path,
        data_type,
        inner.required,
        description if isinstance(description, str) else "",
        stems(_meaning(words, about)),
        "schema",
        stem(words[-1]),
        _thing(_meaning(words, about)),
        _configures(words, inner, data_type),
    )


def _meaning(words: Sequence[str], about: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a name, after those of what it belongs to if it is generic (``id``) or repeats them."""
    belongs = all(word in GENERIC for word in words) or (about and words[:-1] == tuple(about[-1:]))
    return tuple(dict.fromkeys((*about, *words))) if belongs else tuple(words)


def _thing(words: Sequence[str]) -> str:
    named = [word for word in words if word not in GENERIC]
    return stem(named[-1]) if named else ""


def _configures(words: Sequence[str], inner: Property, data_type: DataType) -> bool:
    default = inner.schema.get("default")
    return (
        data_type == BOOLEAN
        or (not inner.required and default not in (None, "", [], {}))
        or words[-1] in _SETTINGS
        or (len(words) > 1 and words[0] in _SETTINGS_FIRST)
    )


def _unwrapped(schema: object) -> tuple[object, str]:
    """Return the schema of an output and its path; an object with ``result`` alone is unwrapped."""
    own = properties(schema, schema)
    return (own["result"].stated, "result") if own.keys() == {"result"} else (schema, "")


def _through_lists(schema: object, path: str, root: object) -> tuple[str, Mapping[str, Any], int]:
    """Return the path and the schema of the items of nested lists, and the number of lists."""
    plain, lists = plain_schema(schema, root), 0
    while isinstance(plain.get("items"), Mapping) and lists < _LEVELS:
        plain, path, lists = plain_schema(plain["items"], root), f"{path}[]", lists + 1
    return path, plain, lists


def _phrases(description: str) -> list[tuple[str, ...]]:
    """Return the noun phrases of a description for what the tool returns ("Returns the ...")."""
    found: list[tuple[str, ...]] = []
    if opening := _OPENING.match(description):
        found += _cut(description[opening.end() :])[:1]
    for told_of in list(_RETURNS.finditer(description))[:3]:
        rest = _TYPE_HINT.sub("", description[told_of.end() :].lstrip())
        found += _cut(rest)
    return list(dict.fromkeys(found))[:_MOST_PHRASES]


def _cut(text: str) -> list[tuple[str, ...]]:
    sentence = re.split(r"\.\s|\.\Z|\n\s*\n|,? (?:which|where|who|so that)\b", text[:300], maxsplit=1)[0]
    phrases = (
        [word for word in _WORD.findall(part) if word.lower() not in _SAYS_LITTLE] for part in _BETWEEN.split(sentence)
    )
    return [words for phrase in phrases if 0 < len(words := split(" ".join(phrase))) <= 4]
