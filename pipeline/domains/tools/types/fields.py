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

_LEVELS = 2  # levels of objects and lists whose fields are read; chosen by hand, not measured

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
    root, about = tool.input, subject(tool.name, tool.service).words
    found: list[Field] = []
    for name, inner in datatypes.properties(root, root).items():
        path, schema, _ = _through_lists(inner.schema, name, root)
        found.append(_field(name, path, inner, root, about))
        container = split(name) if name not in _CONTAINERS else about
        for key, part in datatypes.properties(schema, root).items():
            part_path, _, _ = _through_lists(part.schema, f"{path}.{key}", root)
            required = inner.required and part.required
            found.append(_field(key, part_path, replace(part, required=required), root, container))
    return found[:_MOST_FIELDS]


def outputs(tool: Tool) -> list[Field]:
    """Return the outputs of a tool: those of its output schema, else those inferred from its texts."""
    root, about = tool.output, subject(tool.name, tool.service).words
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


def inferred(tool: Tool) -> list[Field]:
    """Return the outputs inferred from the name and the description of a tool."""
    named = subject(tool.name, tool.service)
    found: dict[frozenset[str], Field] = {}
    for words in (*([named.words] if named.returned else []), *_phrases(tool.description)):
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
    meaning = _meaning(words, about)
    named = [word for word in meaning if word not in GENERIC]
    data_type = datatypes.read_type(inner.stated, root)
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
    while isinstance(plain.get("items"), Mapping) and lists < _LEVELS:
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
