"""Set fields of a note's front matter, and leave every other byte of it as it is."""

import json
import re
from collections.abc import Callable, Iterator, Mapping

import yaml

from pipeline.files.yaml import entries
from pipeline.ingest.sources.front_matter import TOML_LINE, block_in, mapping_in, split_front_matter

_COMMENT = re.compile(r"[^\s\"'\[{|>].*?((?<![ \t])[ \t]++#.*)")
_BLANK = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


def front_matter(fields: Mapping[str, object]) -> str:
    """Return front matter with the fields that have a value."""
    return f"---\n{_as_yaml({name: value for name, value in fields.items() if not _is_empty(value)})}---\n"


def with_fields(text: str, fields: Mapping[str, object]) -> str:
    """Return a note's text with these fields in its front matter; one without a value is removed from it.

    Front matter that is missing is made. What can't be set by itself, as in an entry within braces, makes the front
    matter be written anew, in YAML.
    """
    block = block_in(text)
    known = split_front_matter(text)
    if block is None or not known.lines:
        return front_matter(fields) + text
    source = text[block.start : block.end]
    for name, value in fields.items():
        source = _EDITS[block.form](source, name, value)
    wanted: dict[object, object] = known.mapping | dict[object, object](fields)
    for name in (name for name, value in fields.items() if _is_empty(value)):
        del wanted[name]
    edited = mapping_in(block.form, source)
    if edited is not None and dict(edited[0]) == wanted:
        return text[: block.start] + source + text[block.end :]
    return text[: block.opening] + front_matter({str(name): value for name, value in wanted.items()}) + known.text


def _is_empty(value: object) -> bool:
    return value is None or value in ("", [])


def _as_yaml(fields: Mapping[str, object]) -> str:
    return yaml.safe_dump(dict(fields), sort_keys=False, allow_unicode=True, width=float("inf")) if fields else ""


def _in_yaml(source: str, name: str, value: object) -> str:
    lines = source.split("\n")
    found = [entry for entry in entries(lines) if entry.name == name]
    new = [] if _is_empty(value) else _as_yaml({name: value}).rstrip("\n").split("\n")
    first, last = (found[-1].first, found[-1].last) if found else (len(lines) - 1, len(lines) - 1)
    if found and last == first + 1 == first + len(new) and (comment := _COMMENT.fullmatch(found[-1].value)):
        new[0] += comment[1]
    return "\n".join([*lines[:first], *new, *lines[last:]])


def _in_toml(source: str, name: str, value: object) -> str:
    lines = source.split("\n")
    starts = [(at, match) for at, line in enumerate(lines) if (match := TOML_LINE.match(line))]
    table = next((at for at, match in starts if match["table"]), len(lines) - 1)
    first = next((at for at, match in starts if at < table and match["name"].strip("\"'") == name), table)
    last = next((at for at, _ in starts if at > first), len(lines) - 1) if first < table else first
    if first == table:
        while first and not lines[first - 1].strip():
            first -= 1
        last = first
    while last > first + 1 and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
        last -= 1
    # a text of JSON is one of TOML, and so is a list of texts
    written = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "\n".join([*lines[:first], *([] if _is_empty(value) else [f"{name} = {written}"]), *lines[last:]])


def _in_json(source: str, name: str, value: object) -> str:
    try:
        members = list(_members(source))
    except (ValueError, IndexError, RecursionError):
        return ""
    written = json.dumps(value, ensure_ascii=False)
    for place, (key, begin, start, end) in enumerate(members):
        if key != name:
            continue
        if not _is_empty(value):
            return source[:start] + written + source[end:]
        if place + 1 < len(members):
            return source[:begin] + source[members[place + 1][1] :]
        return source[: members[place - 1][3] if place else begin] + source[end:]
    if _is_empty(value) or not members:
        return source
    gap, at = source[source.index("{") + 1 : members[0][1]], members[-1][3]
    return f"{source[:at]},{gap}{json.dumps(name, ensure_ascii=False)}: {written}{source[at:]}"


def _members(source: str) -> Iterator[tuple[str, int, int, int]]:
    """Yield the members of a JSON object: the name, where that begins, and the span of the value."""
    at = _after_blank(source, source.index("{") + 1)
    while source[at] != "}":
        begin = at
        name, at = _DECODER.raw_decode(source, at)
        start = _after_blank(source, source.index(":", at) + 1)
        _, end = _DECODER.raw_decode(source, start)
        yield name, begin, start, end
        at = _after_blank(source, end)
        at = _after_blank(source, at + 1) if source[at] == "," else at


def _after_blank(source: str, at: int) -> int:
    match = _BLANK.match(source, at)
    return match.end() if match else at


_EDITS: Mapping[str, Callable[[str, str, object], str]] = {
    "yaml": _in_yaml,
    "yml": _in_yaml,
    "toml": _in_toml,
    "json": _in_json,
}
