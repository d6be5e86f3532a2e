"""Read a file into what facts are made of: its symbols, imports, calls, variables and manifest."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from pydantic import TypeAdapter

from pipeline.bounded import BoundedProcess, Bounds, Ended
from pipeline.code.comments import first_sentence
from pipeline.code.languages import NAMES, Language, language_of
from pipeline.code.manifests import is_manifest, read_manifest, table
from pipeline.code.parse import CPU_SECONDS, SMALL, parse_code
from pipeline.code.records import Call, DefinitionKind, Import, Manifest, SourceCode
from pipeline.domains.memory.code.paths import MAILMAP, OWNERS, is_compose, is_environment
from pipeline.files import Limits, Unreadable, decode
from pipeline.files.guard import UTF_16_MARKS
from pipeline.files.yaml import parse_mapping
from pipeline.grouping import grouped
from pipeline.ingest.sources.parsers.code import check_handwritten
from pipeline.ingest.sources.source import Source

UNKNOWN = "?"
"""The receiver of a call on the value of an expression."""

_LARGEST = 1_000_000  # bytes: larger source code is generated, or data
_HEAD = 8000  # bytes in which a NUL marks a binary file, as in Git

# Characters of a qualified name, a signature, a receiver and an import, and lines of an import: what is longer is
# generated or hostile. Chosen by hand, above anything that people write, so that the patterns below stay quick; not
# measured.
_LONGEST_NAME = 300
_LONGEST_SIGNATURE = 2000
_LONGEST_RECEIVER = 200
_LONGEST_IMPORT = 4000
_MOST_IMPORT_LINES = 200

_MODULE_OF_RUST = re.compile(r"^[ \t]{0,40}(?:pub(?:\([^)\n]{0,40}\))?[ \t]+)?mod[ \t]+(\w+)[ \t]*;", re.MULTILINE)
_PARAMETER = re.compile(r"[(,|]\s{0,99}(?:\.\.\.|\*\*?)?(\w+)\s{0,9}(?=[,:=)?|])")
_ACCESS = re.compile(r"(?:\?\.|\.|::|->)\s*$")
_RECEIVER = re.compile(r"(?<![\w.)\]}\"'>])((?:[@$]?\w+(?:\.|::))*[@$]?\w+)\s*(?:\?\.|\.|::|->)\s*$")
_ARGUMENTS = re.compile(r"\s*(?:[(<!{`]|::<|$)")
_AS = re.compile(r"(?<![\w.$*])([\w.$*]++)\s++as\s+(\w+)")
_REQUIRED = re.compile(r"(?:const|let|var)\s+(\w+)\s*=\s*(?:await\s+)?(?:require|import)\b")
_COMMENT = ("#", "//", "*", "/*", "--")
_COMMENT_BEHIND = re.compile(r"\s(?://|#\s)")
_VARIABLE = re.compile(r"[A-Za-z_]\w{0,99}")
_ASSIGNMENT = re.compile(rf"^[ \t]*(?:export[ \t]+)?({_VARIABLE.pattern})[ \t]*=", re.MULTILINE)


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
class ParsedFile:
    """A file of a tree. Without ``language`` it is no source code, or none that people wrote.

    ``symbols`` are by qualified name. ``variables`` are the environment variables that it reads or sets; ``text`` is
    kept of CODEOWNERS and .mailmap alone.
    """

    path: str
    language: str = ""
    doc: str = ""
    symbols: Mapping[str, Symbol] = field(default_factory=dict)
    imports: tuple[ImportedModule, ...] = ()
    calls: tuple[Reference, ...] = ()
    variables: frozenset[str] = frozenset()
    manifest: Manifest | None = None
    text: str = ""

    @property
    def kinds(self) -> dict[str, str]:
        """The kinds of the symbols, by qualified name."""
        return {name: symbol.kind for name, symbol in self.symbols.items()}

    @property
    def imported(self) -> dict[str, list[ImportedModule]]:
        """The imports that give the file a name, by the local name, in order."""
        return grouped((local, item) for item in self.imports for _, local in item.names)


class FileParser(AbstractContextManager["FileParser"]):
    """Parses files, larger ones in a process: hostile code may take a parser any time and memory, or crash it.

    Not thread-safe. A file that exceeds its limits counts as one without syntax.
    """

    def __init__(self, limits: Limits) -> None:
        self._bounds = Bounds(limits.seconds, limits.bytes_of_memory, CPU_SECONDS)
        self._process = BoundedProcess(f"{__name__}:{answer.__name__}")

    def __exit__(self, *raised: object) -> None:
        self._process.__exit__(*raised)

    def parse(self, path: str, data: bytes) -> ParsedFile:
        """Return the file ``path`` with the content ``data``."""
        if len(data) <= SMALL or len(data) > _LARGEST or not _is_parsed(path):
            return parse_file(path, data)
        try:
            return _files().validate_json(self._process.call((path, data), self._bounds))
        except Ended:
            return ParsedFile(path)


def answer(request: tuple[str, bytes]) -> bytes:
    """Answer a request within the process."""
    return _files().dump_json(parse_file(*request))


@cache
def _files() -> TypeAdapter[ParsedFile]:
    return TypeAdapter(ParsedFile)


def is_binary(data: bytes) -> bool:
    """Return whether a file is binary: as Git says, by a NUL in its first 8,000 bytes, unless it is UTF-16."""
    return b"\x00" in data[:_HEAD] and not data.startswith(UTF_16_MARKS)


def parse_file(path: str, data: bytes) -> ParsedFile:
    """Return the file ``path`` with the content ``data``. Nothing is raised, whatever the content."""
    if not _is_parsed(path):
        return ParsedFile(path)
    language = language_of(path)
    text = _text(path, data, language)
    if not text:
        return ParsedFile(path, language.name if language and not data.strip() else "")
    if language:
        return _source_code(path, text, language)
    assigned = _ASSIGNMENT.findall(text) if is_environment(path) else ()
    variables = frozenset(_variables_of_services(text) if is_compose(path) else assigned)
    manifest = _manifest(path, text)
    doc = manifest.description if manifest else ""
    kept = text if path in OWNERS or path == MAILMAP else ""
    return ParsedFile(path, doc=doc, variables=variables, manifest=manifest, text=kept)


def _is_parsed(path: str) -> bool:
    """Return whether the content of a file is read: of source code, manifests, and what sets variables or owners."""
    if language_of(path) or path in OWNERS or path == MAILMAP:
        return True
    return is_manifest(path) or is_environment(path) or is_compose(path)


def _text(path: str, data: bytes, language: Language | None) -> str:
    if len(data) > _LARGEST:
        return ""
    try:
        if language:
            check_handwritten(Source(path, path, data))
        return decode(data)
    except Unreadable:
        return ""


def _manifest(path: str, text: str) -> Manifest | None:
    try:
        return read_manifest(path, text) if is_manifest(path) else None
    except MemoryError:  # the parser of Python at an expression that is nested too deep
        return None


def _source_code(path: str, text: str, language: Language) -> ParsedFile:
    code = parse_code(text, language)
    lines = text.split("\n")
    imports = list(_imported_modules(code.imports, lines))
    if language.name == "rust":
        imports += (ImportedModule(f"self::{name}", ()) for name in _MODULE_OF_RUST.findall(text))
    return ParsedFile(
        path,
        language.name,
        first_sentence(code.doc),
        _symbols(code, text),
        tuple(dict.fromkeys(imports)),
        _references(code.calls, lines),
        _variables_read(text, language.name),
        _manifest(path, text),
    )


def _symbols(code: SourceCode, text: str) -> dict[str, Symbol]:
    """Return the definitions by qualified name; of several with the same name the first documented one."""
    symbols: dict[str, Symbol] = {}
    for definition in code.definitions:
        former = symbols.get(definition.qualified)
        if len(definition.qualified) <= _LONGEST_NAME and (former is None or (definition.doc and not former.doc)):
            own_kind = "class" if definition.kind is DefinitionKind.CLASS else "function"
            kind = former.kind if former else own_kind
            signature = text[definition.start : definition.body][-_LONGEST_SIGNATURE:] if kind == "function" else ""
            parameters = tuple(dict.fromkeys(_PARAMETER.findall(signature)))
            symbols[definition.qualified] = Symbol(kind, first_sentence(definition.doc), parameters)
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


def _variables_read(text: str, language: str) -> frozenset[str]:
    """Return the environment variables that code reads by a literal name, without those in comments and strings."""
    pattern = NAMES[language].environment
    # each of the patterns has these letters, and looks at every word for them
    matches = pattern.finditer(text) if pattern and "env" in text.lower() else ()
    return frozenset(next(filter(None, match.groups())) for match in matches if _is_code(text, match.start()))


def _is_code(text: str, at: int) -> bool:
    """Return whether an offset is in code, as far as its line tells: in no comment and no string."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    if before.lstrip().startswith(_COMMENT) or _COMMENT_BEHIND.search(before):
        return False
    return all(before.count(quote) % 2 == 0 for quote in "\"'`")


def _variables_of_services(text: str) -> Iterator[str]:
    """Yield the variables in the ``environment`` of the services of a Docker Compose file."""
    # no types: a value that looks like a date may be no date
    content, _ = parse_mapping(text, typed=False) or ({}, [])
    for service in table(content, "services").values():
        listed = table(service).get("environment")
        names = (
            str(item).partition("=")[0].strip() for item in (listed if isinstance(listed, list) else table(listed))
        )
        yield from filter(_VARIABLE.fullmatch, names)
