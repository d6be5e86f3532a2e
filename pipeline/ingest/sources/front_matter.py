"""Front matter: the metadata at the top of a Markdown file, in YAML, TOML or JSON.

YAML stands between two lines of three dashes, TOML between two of three plus signs, JSON in braces or, as TOML too,
between dashes that name it (``---json``). A comment of HTML, MDX, Obsidian or a template may stand above, and lines of
a licence that begin with ``#``.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from pipeline.files import Guard, Unreadable, parse_json
from pipeline.files.guard import check_depth, storable
from pipeline.files.yaml import Fault, key_of, parse_mapping, parse_yaml

_FENCE = re.compile(r"(---|\+\+\+)[ \t]*(yaml|yml|toml|json)?[ \t]*\n")
_CLOSING = {
    "---": re.compile(r"^(?:-{3,}|\.\.\.)[ \t]*$", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE),
}
_COMMENTS = (("<!--", "-->"), ("{/*", "*/}"), ("{#", "#}"), ("/*", "*/"), ("%%", "%%"))
_EMPTY_LINES = re.compile(r"\ufeff?(?:[ \t]*\n)*")
_HASH_LINES = re.compile(r"(?:#[^\n]*\n)+(?=---|\+\+\+)")
_LICENCE = re.compile(r"SPDX-|copyright|licen[cs]e|©", re.IGNORECASE)
_OBJECT = re.compile(r'\{\s*"')
_OBJECT_END = re.compile(r"^\}[ \t]*$", re.MULTILINE)
TOML_LINE = re.compile(
    r"""[ \t]*(?:\[+(?P<table>[^\[\]\n]+)\]+|(?P<name>[\w.-]+|"[^"\n]*"|'[^'\n]*')[ \t]*=(?P<value>.*))"""
)
_WIKILINKS = re.compile(r"^([ \t]*(?:- +)?[^\s#:-][^:\n]*:[ \t]+|[ \t]*- +)(\[\[.*\]\])[ \t]*$", re.MULTILINE)
_MOST_NAMED = 5
"""Warnings of a file that are given one by one; chosen by hand."""
_GUARD = Guard(mend=True)

Parsed: TypeAlias = tuple[Mapping[Any, Any], list[Fault]]
"""A mapping, and what couldn't be read of it."""


class FrontMatter(NamedTuple):
    """The mapping at the top of a file, the text after it, the number of lines that it takes, and what is wrong."""

    mapping: dict[object, object]
    text: str
    lines: int
    faults: tuple[Fault, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings, each the rest of a sentence that begins with the file's name; of many the first few."""
        named = [f"has malformed front matter (line {at}: {name!r}: {problem})" for name, at, problem in self.faults]
        more = len(named) - _MOST_NAMED
        return (*named[:_MOST_NAMED], *([f"has malformed front matter ({more:,} more)"] if more > 0 else ()))


class Block(NamedTuple):
    """Front matter in a text: its format, where it opens, the span of its source, and where the text goes on."""

    form: str
    opening: int
    start: int
    end: int
    after: int


def split_front_matter(text: str) -> FrontMatter:
    """Split ``text`` into front matter and the rest; the mapping is empty if there is no front matter.

    Wikilinks stay as written (``up: [[Home]]``), and so does what is invalid YAML only by its syntax (``globs: *.ts``,
    ``title: Graphs: a primer``). Any other value that can't be read is kept as text, and named among the faults, with
    its line in the file.
    """
    block = block_in(text)
    parsed = mapping_in(block.form, text[block.start : block.end]) if block else None
    if block is None or parsed is None:
        return FrontMatter({}, text, 0)
    above = text.count("\n", 0, block.start)
    faults = tuple(fault._replace(line=fault.line + above) for fault in parsed[1])
    return FrontMatter(dict(parsed[0]), text[block.after :], text.count("\n", 0, block.after), faults)


def is_well_formed(text: str) -> bool:
    """Return whether the front matter of a text is valid in its format, but for wikilinks, or there is none."""
    if (block := block_in(text)) is None:
        return True
    source = text[block.start : block.end]
    if _FORMS[block.form] is not _of_yaml:
        return not (mapping_in(block.form, source) or ({}, []))[1]
    try:
        parse_yaml(_with_wikilinks(source), _GUARD, aliases=True)
    except Unreadable:
        return False
    return True


def mapping_in(form: str, source: str) -> Parsed | None:
    """Return the mapping in the source of front matter, and its faults by the lines of that; None if it is prose."""
    return _FORMS[form](source)


def block_in(text: str) -> Block | None:
    """Return the place of what may be front matter."""
    start = _after_comments(text)
    if (opening := _FENCE.match(text, start)) is None:
        return _object_in(text, start)
    closing = _CLOSING[opening[1]].search(text, opening.end())
    if closing is None:
        return None
    form = opening[2] or ("yaml" if opening[1] == "---" else "toml")
    return Block(form, start, opening.end(), closing.start(), min(len(text), closing.end() + 1))


def _after_comments(text: str) -> int:
    """Return where a text begins after empty lines and comments; where it begins if what follows is no front matter."""
    at = _end(_EMPTY_LINES, text, 0)
    while pair := next((pair for pair in _COMMENTS if text.startswith(pair[0], at)), None):
        end = text.find(pair[1], at + len(pair[0]))
        if end < 0:
            return 0
        at = _end(_EMPTY_LINES, text, end + len(pair[1]))
    hashes = _HASH_LINES.match(text, at)
    return hashes.end() if hashes and _LICENCE.search(hashes[0]) else at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _object_in(text: str, start: int) -> Block | None:
    """Return the JSON object that a text begins with, if more than that is in it."""
    if not _OBJECT.match(text, start):
        return None
    try:
        end = json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        closing = _OBJECT_END.search(text, start)
        end = closing.end() if closing else start
    after = text.find("\n", end) + 1
    is_front = end > start and after and not text[end:after].strip() and text[after:].strip()
    return Block("json", start, start, end, after) if is_front else None


def _of_yaml(source: str) -> Parsed | None:
    """Return the mapping in ``source``, or None if it is prose between two rules and not front matter."""
    if not source.strip():
        return {}, []
    if not _is_mapping(source):
        return None
    return parse_mapping(_with_wikilinks(source), _GUARD)


def _with_wikilinks(source: str) -> str:
    """Return YAML with the values that wikilinks are as texts: to YAML they are lists of lists."""
    return _WIKILINKS.sub(lambda match: match[1] + json.dumps(match[2], ensure_ascii=False), source)


def _is_mapping(source: str) -> bool:
    """Return whether the first line, but for comments, is a key, and the others mostly are keys or belong to one."""
    lines = [line for line in source.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    if not lines or (source.lstrip(" \t").startswith("\n") and source.lstrip().startswith("#")):
        return False  # nothing but a rule and a heading
    if lines[0].startswith("{") and not lines[0].startswith("{{"):
        return lines[-1].rstrip().endswith("}")
    base = len(lines[0]) - len(lines[0].lstrip())
    outer = [line for line in lines if not line[: base + 1].isspace() and line.lstrip()[0] not in "-]}"]
    keys = sum(key_of(line) is not None for line in outer)
    needed = len(outer) if source.lstrip().startswith("#") else (len(outer) + 1) // 2
    return key_of(lines[0]) is not None and keys >= needed


def _of_toml(source: str) -> Parsed | None:
    first = next((line for line in source.split("\n") if line.strip() and not line.lstrip().startswith("#")), "")
    if source.strip() and not TOML_LINE.match(first):
        return None
    try:
        return _toml(source), []
    except Unreadable:
        pass
    values, faults, table = dict[str, Any](), list[Fault](), ""
    lines = source.split("\n")
    starts = [number for number, line in enumerate(lines) if TOML_LINE.match(line)]
    for first_line, last in pairwise([*starts, len(lines)]):
        match = TOML_LINE.match(lines[first_line])
        if match is None or match["table"]:
            table = f"{match['table'].strip()}." if match else table
            continue
        text, name = "\n".join(lines[first_line:last]), match["name"].strip("\"'")
        try:
            (value,) = _toml(text).values()
        except Unreadable as error:
            value = text.partition("=")[2].strip()
            faults.append(Fault(table + name, first_line + 1, f"{error.problem}, so it is kept as text"))
        if table + name in values:
            faults.append(Fault(table + name, first_line + 1, "is there twice, and the last counts"))
        values[table + name] = value
    return values, faults


def _toml(source: str) -> Mapping[str, Any]:
    try:
        if len(source) > (longest := _GUARD.limits.characters_of_yaml):
            raise Unreadable(f"has {len(source):,} characters", f"Keep it under {longest:,}.")
        value = tomllib.loads(source)
        check_depth(value, _GUARD)
        return storable(value, _GUARD)  # type: ignore[no-any-return]
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"isn't TOML: {error}", problem=str(error)[:200]) from None


def _of_json(source: str) -> Parsed | None:
    try:
        value = parse_json(source, _GUARD)
    except Unreadable:
        lines = source.strip().removeprefix("{").removesuffix("}").split("\n")
        return parse_mapping(source, _GUARD) or parse_mapping(
            "\n".join(line.rstrip().rstrip(",") for line in lines), _GUARD
        )
    return (value, []) if isinstance(value, dict) else None


_FORMS: Mapping[str, Callable[[str], Parsed | None]] = {
    "yaml": _of_yaml,
    "yml": _of_yaml,
    "toml": _of_toml,
    "json": _of_json,
}
