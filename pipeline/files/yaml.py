"""YAML as plain data: no objects, no aliases that expand beyond measure, no key twice.

:func:`parse_yaml` refuses what isn't YAML; :func:`parse_mapping` reads what people write instead, value by value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import yaml
from yaml.constructor import ConstructorError
from yaml.events import AliasEvent
from yaml.nodes import MappingNode, Node, ScalarNode
from yaml.reader import ReaderError

from pipeline.files.guard import (
    GUARD,
    MEND,
    Guard,
    Unreadable,
    check_depth,
    read_text,
    storable,
    too_deep,
    well_formed,
)

_LARGEST = 100_000
"""Values of a text whose aliases are written out (chosen by hand; a text of the longest permitted has no more)."""


_NESTED = 4
"""Levels of a malformed mapping that are read key by key (chosen by hand: services, service, environment, variable)."""

_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_KEY = r"""(?P<name>"[^"\n]*"|'[^'\n]*'|<<|[\w@$+\x80-\U0010ffff][\w .@/$()+:'\x80-\U0010ffff-]*?)(?<![ \t])[ \t]*+:"""
_ENTRY = re.compile(_KEY + r"(?:[ \t]+(?P<value>(?:.*[^ \t])?))?[ \t]*")
_NO_BLANK = re.compile(r"(?P<name>[^\W\d][\w-]*):(?P<value>[^\s:/](?:.*[^ \t])?)[ \t]*")
_LINE = re.compile(r"(?P<lead>(?:-(?:[ \t]+|$))*)(?:" + _KEY + r"(?:[ \t]+|$))?(?P<value>(?:.*[^ \t])?)[ \t]*")
_BLOCK = re.compile(r"[|>][-+\d]*(?:[ \t]+#.*)?")
_TEXT_MARKS = re.compile(r"\{\{|\{%|^\[\[.*\]\]")  # of templates and wikilinks
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")
_CLOSED = {"[": "]", "{": "}", '"': '"', "'": "'"}


class _TooDeep(Exception):
    pass


# A mixin, since PyYAML has no loader that is both typed and not.
class _Rules(yaml.SafeLoader if TYPE_CHECKING else object):  # type: ignore[misc]
    """The rules of :func:`parse_yaml`, for a loader of PyYAML."""

    unique = True
    aliases = False
    levels = 0

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._size = 0
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        if self.check_event(AliasEvent):
            return self._aliased(parent, index)
        if self.levels == 0:
            raise _TooDeep
        before, self.levels, self._size = self._size, self.levels - 1, self._size + 1
        node: Node | None = super().compose_node(parent, index)
        self.levels += 1
        self._sizes[id(node)] = self._size - before
        return node

    def _aliased(self, parent: Node | None, index: Any) -> Node | None:
        mark = self.peek_event().start_mark
        if not self.aliases:
            raise ConstructorError(None, None, "it has an alias (*name)", mark)
        node: Node | None = super().compose_node(parent, index)
        if id(node) not in self._sizes:  # it isn't complete, so it holds itself
            raise ConstructorError(None, None, "it has an alias of what it is in", mark)
        self._size += self._sizes[id(node)]
        if self._size > _LARGEST:
            raise ConstructorError(None, None, f"its aliases make more than {_LARGEST:,} values of it", mark)
        return node

    def compose_mapping_node(self, anchor: Any) -> MappingNode:
        node: MappingNode = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if self.unique and isinstance(key, ScalarNode):
                if key.value in seen:
                    raise ConstructorError(None, None, f"{key.value!r} is there twice", key.start_mark)
                seen.add(key.value)
        return node

    def construct_object(self, node: Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (yaml.YAMLError, RecursionError):
            raise
        except Exception as error:
            # broad: a constructor lets any error of what it calls through; here its line is known
            raise ConstructorError(None, None, str(error) or "malformed", node.start_mark) from None


class _Typed(_Rules, yaml.SafeLoader):
    def resolve(self, kind: type[Node], value: str, implicit: Any) -> Any:
        tag = super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]
        # YAML 1.1 reads 12:30 as 750, in base 60; YAML 1.2 as what it is, a text
        return self.DEFAULT_SCALAR_TAG if tag in _NUMBERS and ":" in value else tag


class _Untyped(_Rules, yaml.BaseLoader):
    pass


def read_yaml(path: Path, guard: Guard = GUARD) -> Any:
    """Return the value of a YAML file; raises the guard's error, naming the file and the place in it."""
    text = read_text(path, guard)
    with guard.naming(path):
        return parse_yaml(text, guard)


def parse_yaml(
    text: str, guard: Guard = GUARD, *, typed: bool = True, unique: bool = True, aliases: bool = False
) -> Any:
    """Return the value of a YAML text, of one document.

    Without ``typed`` all scalars are texts: what looks like a date may be none. Without ``unique`` the last value of a
    repeated key counts. Aliases (``*name``) are refused unless permitted, since a few lines of them can expand to
    gigabytes; even then a value that contains itself, or expands to more than 100,000 values, is refused. Raises
    Unreadable.
    """
    if len(text) > guard.limits.characters_of_yaml:
        raise Unreadable(f"has {len(text):,} characters", f"Keep it under {guard.limits.characters_of_yaml:,}.")
    try:
        loader = (_Typed if typed else _Untyped)(text)
        loader.unique, loader.aliases, loader.levels = unique, aliases, guard.limits.depth
        value = loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        problem = error.problem or "malformed"
        where = f" at line {line}, column {error.problem_mark.column + 1}" if error.problem_mark else ""
        raise Unreadable(f"isn't YAML: {problem}{where}", MEND, problem=problem, line=line) from None
    except ReaderError as error:
        line, problem = text.count("\n", 0, error.position) + 1, str(error).split("\n")[0]
        raise Unreadable(f"isn't YAML: {problem} at line {line}", MEND, problem=problem, line=line) from None
    except (RecursionError, _TooDeep):
        raise too_deep(guard) from None
    except Exception as error:
        # broad: PyYAML lets the errors of what it calls through, such as ValueError of chr
        problem = str(error).split("\n")[0][:200] or "malformed"
        raise Unreadable(f"isn't YAML: {problem}", MEND, problem=problem) from None
    check_depth(value, guard)
    return storable(value, guard)


_Read: TypeAlias = "tuple[Any, Any, list[Fault]]"


class Fault(NamedTuple):
    """A fault: what couldn't be read of the key ``name`` of a mapping, on a line of its text, counted from 1."""

    name: str
    line: int
    problem: str


class Entry(NamedTuple):
    """The lines ``[first:last]``, counted from 0, of a key of a mapping; ``value`` is the rest of the first line."""

    name: str
    first: int
    last: int
    value: str


def parse_mapping(
    text: str, guard: Guard = GUARD, *, typed: bool = True, levels: int = _NESTED
) -> tuple[dict[Any, Any], list[Fault]] | None:
    """Return the mapping in a YAML text however malformed, and its faults; None if the text is no mapping.

    Where the text isn't YAML, its keys are read one by one. A value that only YAML's syntax takes for something else is
    the text that its author wrote: ``globs: *.ts``, ``title: Graphs: a primer``, ``{{title}}``. Any other value that
    can't be read is kept as text too, and is a fault; so is a key that is there twice, whose last value counts.
    """
    if len(text) <= guard.limits.characters_of_yaml:
        try:
            value = parse_yaml(text, guard, typed=typed, aliases=True)
        except Unreadable:
            pass
        else:
            if value is None or isinstance(value, dict):
                return value or {}, []
    lines = text.split("\n")
    found = list(entries(lines))
    values, faults = dict[Any, Any](), list[Fault]()
    room = guard.limits.characters_of_yaml
    for entry in found:
        size = sum(len(line) + 1 for line in lines[entry.first : entry.last])
        read = _Entry(entry, lines[entry.first : entry.last], guard, typed, levels)
        key, value, inner = read.kept(f"the mapping has {len(text):,} characters") if size > room else read.read()
        room -= size if size <= room else 0
        if key in values:
            faults.append(Fault(entry.name, entry.first + 1, "is there twice, and the last counts"))
        values[key] = value
        faults += [fault._replace(line=fault.line + entry.first) for fault in inner]
    return (values, faults) if found else None


def entries(lines: Sequence[str]) -> Iterator[Entry]:
    """Yield the keys of a mapping in YAML, as far as the lines tell; what precedes the first is left out."""
    base = next((_indent(line) for line in lines if line.strip() and not line.lstrip().startswith("#")), 0)
    begun: Entry | None = None
    for number, line in enumerate([*lines, "-: end"]):
        match = key_of(line) if _indent(line) == base else None
        if match is None and number < len(lines):
            continue
        if begun:
            yield begun._replace(last=_without_gap(lines, begun.first, number, base))
        if match:
            name = match["name"]
            begun = Entry(name.strip("\"'") if name[0] in "\"'" else name, number, number + 1, match["value"] or "")


def key_of(line: str) -> re.Match[str] | None:
    """Match a line that begins with a key, with the groups ``name`` and ``value``; also ``key:value``."""
    return _ENTRY.fullmatch(line.strip()) or _NO_BLANK.fullmatch(line.strip())


def _without_gap(lines: Sequence[str], first: int, last: int, base: int) -> int:
    """Return the end of an entry without the empty lines and comments that precede the next one."""
    while last > first + 1 and (not (bare := lines[last - 1].strip()) or bare[0] == "#"):
        if bare and _indent(lines[last - 1]) > base:
            break
        last -= 1
    return last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _goes_on(value: str, opening: str, closing: str) -> bool:
    """Return whether a value goes on after the bracket or quote that it begins with is closed."""
    depth = 0
    for at, letter in enumerate(value):
        depth += (letter == opening and (opening != closing or at == 0)) - (letter == closing and at > 0)
        if depth == 0:
            return at < len(value) - 1
    return False


def _unquoted(value: str) -> str:
    """Return a text without the quotes around it, if they are clearly a pair: 'It's', "C:\\Users"."""
    quote, inner = value[:1], value[1:-1]
    is_pair = quote in ("'", '"') and len(value) > 1 and value.endswith(quote)
    return inner if is_pair and quote not in _APOSTROPHE.sub("", inner) else value


class _Entry:
    """Reads an entry of a malformed mapping: as it is, with its texts quoted, key by key, or as text."""

    def __init__(self, entry: Entry, lines: Sequence[str], guard: Guard, typed: bool, levels: int) -> None:
        self._entry = entry
        self._lines = lines
        self._guard = guard
        self._typed = typed
        self._levels = levels
        self._faults: list[Fault] = []

    def read(self) -> _Read:
        """Return the key, the value and the faults, whose lines are those of the entry."""
        text = "\n".join(self._lines)
        try:
            return *self._parsed(text), []
        except Unreadable as error:
            fault = error
        if fault.problem.endswith("is there twice"):
            with suppress(Unreadable):
                return *self._parsed(text, unique=False), [
                    self._fault(f"{fault.problem}, and the last counts", fault.line)
                ]
        try:
            return *self._parsed("\n".join(self._mended())), self._faults
        except Unreadable:
            value = self._entry.value
            return self._nested() or self.kept("" if value and self._is_text(value) else fault.problem, fault.line)

    def kept(self, problem: str, line: int = 1) -> _Read:
        """Return the entry with its value as text; without a ``problem`` that is no fault."""
        value, rest = self._entry.value, dedent("\n".join(self._lines[1:]))
        text = _unquoted(" ".join([value, *rest.split()])) if value and not _BLOCK.fullmatch(value) else rest
        faults = [self._fault(f"{problem}, so it is kept as text", line)] if problem else []
        return self._entry.name, well_formed(text), faults

    def _fault(self, problem: str, line: int) -> Fault:
        return Fault(self._entry.name, max(line, 1), problem)

    def _parsed(self, text: str, *, unique: bool = True) -> tuple[Any, Any]:
        value = parse_yaml(text, self._guard, typed=self._typed, unique=unique, aliases=True)
        if not isinstance(value, dict) or len(value) != 1:
            raise Unreadable("isn't a key with its value", MEND)
        return next(iter(value.items()))

    def _nested(self) -> _Read | None:
        """Return the entry with its nested mapping read key by key; None if there is none."""
        first = next((line for line in self._lines[1:] if line.strip()), "")
        if self._entry.value or not self._levels or not key_of(first):
            return None
        text = "\n".join(self._lines[1:]).expandtabs(2)
        if (inner := parse_mapping(text, self._guard, typed=self._typed, levels=self._levels - 1)) is None:
            return None
        faults = [Fault(f"{self._entry.name}.{fault.name}", fault.line + 1, fault.problem) for fault in inner[1]]
        return self._entry.name, inner[0], faults

    def _mended(self) -> Iterator[str]:
        """Yield the lines with blanks for tabs, and with values that can't be read by themselves as quoted texts."""
        block = -1  # the indentation of the key whose block of text this is
        for at, line in enumerate(self._lines):
            bare = line.strip() if at else f"{json.dumps(self._entry.name)}: {self._entry.value}"
            indent = len(line[: _indent(line)].expandtabs(2))
            match = _LINE.fullmatch(bare) if bare and bare[0] not in "#" else None
            if match and not indent > block >= 0:
                block = indent if _BLOCK.fullmatch(match["value"]) else -1
                bare = self._quoted(at, match, indent) if match["value"] and block < 0 else bare
            yield " " * indent + bare

    def _quoted(self, at: int, match: re.Match[str], indent: int) -> str:
        """Return a line with its value, quoted if it can't be read by itself and isn't continued."""
        value, start = match["value"], match[0][: match.start("value")].replace("\t", " ")
        following = next((line for line in self._lines[at + 1 :] if line.strip()), "")
        if following and len(following[: _indent(following)].expandtabs(2)) > indent + len(match["lead"]):
            return start + value
        try:
            self._parsed(f"k: {value}")
        except Unreadable as error:
            if not self._is_text(value):
                self._faults.append(self._fault(f"{error.problem}, so it is kept as text", at + 1))
            return start + json.dumps(well_formed(_unquoted(value)), ensure_ascii=False)
        return start + value

    def _is_text(self, value: str) -> bool:
        """Return whether a value that YAML can't read is clearly a text: it leaves nothing open and has no type."""
        if _TEXT_MARKS.search(value):
            return True
        if closing := _CLOSED.get(value[0]):
            return _goes_on(value, value[0], closing)
        try:
            parse_yaml(f"k: {value}", self._guard, typed=False)
        except Unreadable:
            return True
        return False
