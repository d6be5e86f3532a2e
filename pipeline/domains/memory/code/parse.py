"""Read a file into what facts are made of: its symbols, imports, calls, variables and manifest; and texts of code."""

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath

from pydantic import TypeAdapter

from pipeline.bounded import BoundedProcess, Bounds, Ended
from pipeline.code.languages import NAMES, Language, language_of
from pipeline.code.manifests import is_manifest, read_manifest, table
from pipeline.code.parse import CPU_SECONDS, SMALL
from pipeline.code.records import Definition, DefinitionKind, Manifest, SourceCode
from pipeline.domains.memory.code.paths import MAILMAP, OWNERS, is_compose, is_environment
from pipeline.domains.memory.code.syntax import ImportedModule, Reference, Symbol, read_code
from pipeline.files import Limits, Unreadable, decode
from pipeline.files.guard import UTF_16_MARKS
from pipeline.files.yaml import parse_mapping
from pipeline.grouping import grouped
from pipeline.ingest.sources.parsers.code import check_handwritten, summary_of, words_of
from pipeline.ingest.sources.source import Source

_LARGEST = 1_000_000  # bytes: larger source code is generated, or data
_HEAD = 8000  # bytes in which a NUL marks a binary file, as in Git

_MODULE_OF_RUST = re.compile(r"^[ \t]{0,40}(?:pub(?:\([^)\n]{0,40}\))?[ \t]+)?mod[ \t]+(\w+)[ \t]*;", re.MULTILINE)
_COMMENT = ("#", "//", "*", "/*", "--")
_COMMENT_BEHIND = re.compile(r"\s(?://|#\s)")
_VARIABLE = re.compile(r"[A-Za-z_]\w{0,99}")
_ASSIGNMENT = re.compile(rf"^[ \t]*(?:export[ \t]+)?({_VARIABLE.pattern})[ \t]*=", re.MULTILINE)


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
    code = read_code(text, language)
    imports = code.imports
    if language.name == "rust":
        imports += tuple(ImportedModule(f"self::{name}", ()) for name in _MODULE_OF_RUST.findall(text))
    variables, manifest = _variables_read(text, language.name), _manifest(path, text)
    imported = tuple(dict.fromkeys(imports))
    return ParsedFile(path, language.name, code.doc, code.symbols, imported, code.references, variables, manifest)


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


_OWN = frozenset(("self", "cls", "this"))  # parameters that every method has


def texts_of(file: ParsedFile) -> Iterator[tuple[str, str, str]]:
    """Yield type, name and text of a source file and of its definitions.

    The text of a file is the summary that an ingest of it begins with. That of a definition has its name, also in
    words, its parameters, and the first sentence of its documentation.
    """
    definitions = tuple(_definition(file, qualified, symbol) for qualified, symbol in file.symbols.items())
    yield "file", file.path, summary_of(file.path, SourceCode(file.language, file.doc, definitions, (), ()))
    place = words_of(PurePosixPath(file.path).stem)
    for qualified, symbol in file.symbols.items():
        parameters = ", ".join(name for name in symbol.parameters if name not in _OWN)
        head = f"{place}: {qualified.replace('.', ' ')} ({words_of(qualified)}; {parameters})".replace("; )", ")")
        yield symbol.kind, f"{file.path}::{qualified}", f"{head}: {symbol.doc}" if symbol.doc else head


def _definition(file: ParsedFile, qualified: str, symbol: Symbol) -> Definition:
    """Return a symbol as a definition, whose offsets a summary doesn't need."""
    outer, _, name = qualified.rpartition(".")
    kind = DefinitionKind.CLASS if symbol.kind == "class" else DefinitionKind.FUNCTION
    if kind is DefinitionKind.FUNCTION and outer and _is_class(file, outer):
        kind = DefinitionKind.METHOD
    return Definition(kind, name, qualified, 0, 0, 0, 0, symbol.doc)


def _is_class(file: ParsedFile, qualified: str) -> bool:
    """Return whether a name is that of a class: one of this file, or of another, for which a method is defined here."""
    return qualified not in file.symbols or file.symbols[qualified].kind == "class"
