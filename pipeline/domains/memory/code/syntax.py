"""Read source code: its symbols, imports and calls."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipeline.code.comments import first_sentence
from pipeline.code.languages import Language
from pipeline.code.parse import parse_code
from pipeline.code.records import Call, DefinitionKind, Import

UNKNOWN = "?"
"""The receiver of a call on the value of an expression."""

# Characters of a qualified name, a signature, a receiver and an import, and lines of an import: what is longer is
# generated or hostile. Chosen by hand, above anything that people write, so that the patterns below stay quick; not
# measured.
_LONGEST_NAME = 300
_LONGEST_SIGNATURE = 2000
_LONGEST_RECEIVER = 200
_LONGEST_IMPORT = 4000
_MOST_IMPORT_LINES = 200

_PARAMETER = re.compile(r"[(,|]\s{0,99}(?:\.\.\.|\*\*?)?(\w+)\s{0,9}(?=[,:=)?|])")
_ACCESS = re.compile(r"(?:\?\.|\.|::|->)\s*$")
_RECEIVER = re.compile(r"(?<![\w.)\]}\"'>])((?:[@$]?\w+(?:\.|::))*[@$]?\w+)\s*(?:\?\.|\.|::|->)\s*$")
_ARGUMENTS = re.compile(r"\s*(?:[(<!{`]|::<|$)")
_AS = re.compile(r"(?<![\w.$*])([\w.$*]++)\s++as\s+(\w+)")
_REQUIRED = re.compile(r"(?:const|let|var)\s+(\w+)\s*=\s*(?:await\s+)?(?:require|import)\b")


class Symbol(NamedTuple):
    """A class or function of a file: its entity type, the first sentence of its documentation, its parameters.

    Parameters are in order, those whose names stand before their types, or have none.
    """

    kind: str
    doc: str
    parameters: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Code:
    """The contents of a file of code: the first sentence about it, symbols by qualified name, imports and calls."""

    doc: str
    symbols: dict[str, Symbol]
    imports: tuple[ImportedModule, ...]
    references: tuple[Reference, ...]


def read_code(text: str, language: Language) -> Code:
    """Return what a file holds. Of several definitions with the same name the first documented one counts."""
    code, lines = parse_code(text, language), text.split("\n")
    symbols: dict[str, Symbol] = {}
    for one in code.definitions:
        former, doc = symbols.get(one.qualified), first_sentence(one.doc)
        if len(one.qualified) <= _LONGEST_NAME and (former is None or (doc and not former.doc)):
            kind = former.kind if former else "class" if one.kind is DefinitionKind.CLASS else "function"
            signature = text[one.start : one.body][-_LONGEST_SIGNATURE:] if kind == "function" else ""
            symbols[one.qualified] = Symbol(kind, doc, tuple(dict.fromkeys(_PARAMETER.findall(signature))))
    imports = tuple(_imported_modules(code.imports, lines))
    return Code(first_sentence(code.doc), symbols, imports, _references(code.calls, lines))


def _references(calls: Sequence[Call], lines: Sequence[str]) -> tuple[Reference, ...]:
    """Return the calls with their receivers, each once, in order; ``lines`` are those of the file."""
    ends: dict[tuple[int, str], int] = {}
    references: dict[Reference, None] = {}
    for call in calls:
        line = lines[call.line - 1] if call.line <= len(lines) else ""
        at = _next_call(line, call.name, ends.get((call.line, call.name), 0))
        ends[call.line, call.name] = at + len(call.name)
        before = line[max(0, at - _LONGEST_RECEIVER) : at]
        receiver = ""
        if not call.name.startswith(("@", "$")) and _ACCESS.search(before):
            named = _RECEIVER.search(before)
            receiver = named[1] if named else UNKNOWN
        references[Reference(call.caller, receiver, call.name)] = None
    return tuple(references)


def _next_call(line: str, name: str, begin: int) -> int:
    """Return the offset of the next call of ``name`` in a line, else of the next ``name``, else of the line's end."""
    first = at = line.find(name, begin)
    while at >= 0:
        end, before = at + len(name), line[max(0, at - 1) : at]
        if not (before.isalnum() or before == "_") and _ARGUMENTS.match(line, end):
            return at
        at = line.find(name, end)
    return first if first >= 0 else len(line)


def _imported_modules(imports: Sequence[Import], lines: Sequence[str]) -> Iterator[ImportedModule]:
    """Yield the imports with the local names of what they take."""
    for item in imports:
        statement = _statement(lines, item.line - 1)
        renamed = dict(_AS.findall(statement)) if " as " in statement else {}
        required = _REQUIRED.search(statement)
        whole = "" if item.names else required[1] if required else renamed.get(item.module, "")
        names = tuple((name, renamed.get(name, name)) for name in item.names)
        yield ImportedModule(item.module, names, renamed.get("*") or whole)


def _statement(lines: Sequence[str], first: int) -> str:
    """Return the statement of an import from its line on: to its closing bracket if one opens on that line."""
    text = lines[first] if first < len(lines) else ""
    opened = next((bracket for bracket in "({" if bracket in text), "")
    closing = {"(": ")", "{": "}"}.get(opened, "")
    if closing and closing not in text:
        for following in lines[first + 1 : first + _MOST_IMPORT_LINES]:
            text += "\n" + following
            if closing in following or len(text) > _LONGEST_IMPORT:
                break
    return text[:_LONGEST_IMPORT]
