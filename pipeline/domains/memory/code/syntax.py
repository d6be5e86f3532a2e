"""Read source code: its symbols, imports and calls. What stays as it is from version to version is parsed once.

Between two commits most of a file is the same. So a file of Python is read by pieces, which begin where a definition at
its top level does; a piece that was read before isn't parsed again.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from pipeline.code.comments import first_sentence
from pipeline.code.languages import Language
from pipeline.code.parse import parse_code
from pipeline.code.records import Call, Definition, DefinitionKind, Import

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

_APART = {"python": re.compile(r"\n[ \t]*\n(?=(?:#.*\n)*(?:@|(?:async |class |def )))")}
"""The text before a definition at the top level, by language: a blank line, for a comment above belongs to it.

It may be within a string or brackets. Then the piece before has an unclosed one, and the file is parsed as a whole.
"""

_LARGEST_KEPT = 50_000  # characters of a piece: these bounds keep a hostile repository's pieces to 200 MB
_MOST_KEPT = 4_000  # pieces: those of three trees like httpx; the next version of a file comes soon. Chosen by hand

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


class _Defined(NamedTuple):
    """A definition: its own kind, and its parameters, which it has if its symbol is a function."""

    qualified: str
    kind: str
    doc: str
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """The contents of a piece of a file, in order; lines count from its own. ``broken``: alone it isn't what it is."""

    doc: str
    defined: tuple[_Defined, ...]
    imports: tuple[Import, ...]
    references: tuple[Reference, ...]
    broken: bool


def read_code(text: str, language: Language) -> Code:
    """Return what a file holds, the same as if all of it were parsed anew."""
    texts = _texts(text, language)
    pieces = [(_kept if len(part) <= _LARGEST_KEPT else _piece)(part, language) for part in texts]
    if len(pieces) > 1 and any(piece.broken for piece in pieces):
        texts, pieces = [text], [_piece(text, language)]
    lines = text.split("\n") if any(piece.imports for piece in pieces) else []
    imports: list[ImportedModule] = []
    above = 0
    for part, piece in zip(texts, pieces, strict=True):
        imports += _imported_modules(piece.imports, lines, above)
        above += part.count("\n")
    references = dict.fromkeys(reference for piece in pieces for reference in piece.references)
    return Code(pieces[0].doc, _symbols(pieces), tuple(imports), tuple(references))


def _texts(text: str, language: Language) -> list[str]:
    """Return the pieces of a text, in order, which together are the text."""
    apart = _APART.get(language.name)
    ends = [0, *(match.end() for match in apart.finditer(text)), len(text)] if apart else [0, len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


def _piece(text: str, language: Language) -> _Piece:
    code = parse_code(text, language)
    defined = tuple(_defined(one, text) for one in code.definitions if len(one.qualified) <= _LONGEST_NAME)
    references = _references(code.calls, text.split("\n"))
    return _Piece(first_sentence(code.doc), defined, code.imports, references, code.broken)


_kept = lru_cache(maxsize=_MOST_KEPT)(_piece)


def _defined(definition: Definition, text: str) -> _Defined:
    kind = "class" if definition.kind is DefinitionKind.CLASS else "function"
    signature = text[definition.start : definition.body][-_LONGEST_SIGNATURE:]
    parameters = tuple(dict.fromkeys(_PARAMETER.findall(signature)))
    return _Defined(definition.qualified, kind, first_sentence(definition.doc), parameters)


def _symbols(pieces: Sequence[_Piece]) -> dict[str, Symbol]:
    """Return the definitions by qualified name; of several with the same name the first documented one."""
    symbols: dict[str, Symbol] = {}
    for qualified, own_kind, doc, parameters in (defined for piece in pieces for defined in piece.defined):
        former = symbols.get(qualified)
        if former is None or (doc and not former.doc):
            kind = former.kind if former else own_kind
            symbols[qualified] = Symbol(kind, doc, parameters if kind == "function" else ())
    return symbols


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


def _imported_modules(imports: Sequence[Import], lines: Sequence[str], above: int) -> Iterator[ImportedModule]:
    """Yield the imports with the local names of what they take; ``above`` are the lines above those of the imports."""
    for item in imports:
        statement = _statement(lines, above + item.line - 1)
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
