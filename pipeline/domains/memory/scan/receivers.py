"""The parts of calls and imports that the parser leaves out: receivers, and names given by ``as``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.code.records import Call, Import

UNKNOWN = "?"
"""The receiver of a call on the value of an expression."""

_LONGEST_RECEIVER = 200
_ACCESS = re.compile(r"(?:\?\.|\.|::|->)\s*$")
_RECEIVER = re.compile(r"(?<![\w.)\]}\"'>])((?:[@$]?\w+(?:\.|::))*[@$]?\w+)\s*(?:\?\.|\.|::|->)\s*$")
_HEAD = re.compile(r"\s*(?:[(<!{`]|::<|$)")
_AS = re.compile(r"([\w.$*]+)\s+as\s+(\w+)")
_REQUIRED = re.compile(r"(?:const|let|var)\s+(\w+)\s*=\s*(?:await\s+)?(?:require|import)\b")
_LONGEST_IMPORT = 4000


class Reference(NamedTuple):
    """A call of ``name`` in the definition ``caller``; ``receiver`` is the name or dotted path before it, or empty."""

    caller: str
    receiver: str
    name: str


class ImportedModule(NamedTuple):
    """An import: the module as written, the names that it takes, each with its local one, and the module's alias."""

    module: str
    names: tuple[tuple[str, str], ...]
    alias: str = ""


def references(calls: Sequence[Call], lines: Sequence[str]) -> tuple[Reference, ...]:
    """Return the calls with their receivers, each once, in order; ``lines`` are those of the file."""
    seen: dict[tuple[int, str], int] = {}
    found: dict[Reference, None] = {}
    for call in calls:
        line = lines[call.line - 1] if call.line <= len(lines) else ""
        at = _next(line, call.name, seen.get((call.line, call.name), 0))
        seen[call.line, call.name] = at + len(call.name)
        found[Reference(call.caller, _receiver(line, at, call.name), call.name)] = None
    return tuple(found)


def imported_modules(imports: Sequence[Import], lines: Sequence[str]) -> Iterator[ImportedModule]:
    """Yield the imports with the local names of what they take."""
    for item in imports:
        statement = _statement(lines, item.line - 1)
        renamed = dict(_AS.findall(statement)) if " as " in statement else {}
        required = _REQUIRED.search(statement)
        alias = renamed.get("*") or (required[1] if required and not item.names else "")
        yield ImportedModule(
            item.module,
            tuple((name, renamed.get(name, name)) for name in item.names),
            alias or (renamed.get(item.module, "") if not item.names else ""),
        )


def _next(line: str, name: str, begin: int) -> int:
    """Return the offset of the next call of ``name`` in a line; that of the end if there is none."""
    at = line.find(name, begin)
    while at >= 0:
        end = at + len(name)
        alone = not (line[at - 1 : at].isalnum() or line[at - 1 : at] == "_") if at else True
        if alone and _HEAD.match(line, end):
            return at
        at = line.find(name, end)
    first = line.find(name, begin)
    return first if first >= 0 else len(line)


def _receiver(line: str, at: int, name: str) -> str:
    before = line[max(0, at - _LONGEST_RECEIVER) : at]
    if name.startswith(("@", "$")) or not _ACCESS.search(before):
        return ""
    found = _RECEIVER.search(before)
    return found[1] if found else UNKNOWN


def _statement(lines: Sequence[str], first: int) -> str:
    """Return the statement of an import from its line on: to its closing bracket if one opens on that line."""
    line = lines[first] if first < len(lines) else ""
    opened = next((bracket for bracket in "({" if bracket in line), "")
    closing = {"(": ")", "{": "}"}.get(opened, "")
    if not closing or closing in line:
        return line[:_LONGEST_IMPORT]
    text = line
    for following in lines[first + 1 : first + 200]:
        text += "\n" + following
        if closing in following or len(text) > _LONGEST_IMPORT:
            break
    return text[:_LONGEST_IMPORT]
