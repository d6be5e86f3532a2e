"""Read a file into what facts are made of: its symbols, imports, calls, variables and manifest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline.code.comments import first_sentence
from pipeline.code.languages import Language, language_of
from pipeline.code.manifests import is_manifest, read_manifest
from pipeline.code.parse import parse_code
from pipeline.code.records import Definition, DefinitionKind, Manifest, SourceCode
from pipeline.domains.memory.scan.owners import PLACES
from pipeline.domains.memory.scan.paths import is_compose, is_environment
from pipeline.domains.memory.scan.receivers import ImportedModule, Reference, imported_modules, references
from pipeline.domains.memory.scan.variables import variables_of_services, variables_read, variables_set
from pipeline.ingest.sources.code import check_handwritten
from pipeline.ingest.sources.decode import UTF_16_MARKS, decode
from pipeline.ingest.sources.source import Source, Unreadable

MAILMAP = ".mailmap"

LARGEST = 1_000_000
"""Bytes: larger source code is generated, or data."""

_LONGEST_NAME = 300
_HEAD = 8000
_MODULE_OF_RUST = re.compile(r"^[ \t]{0,40}(?:pub(?:\([^)\n]{0,40}\))?[ \t]+)?mod[ \t]+(\w+)[ \t]*;", re.MULTILINE)
_PARAMETER = re.compile(r"[(,|]\s{0,99}(?:\.\.\.|\*\*?)?(\w+)\s{0,9}(?=[,:=)?|])")
_LONGEST_SIGNATURE = 2000
_NO_NAMES: frozenset[str] = frozenset()


class Symbol(NamedTuple):
    """A class or function of a file: its entity type, the first sentence of its documentation, its parameters.

    Parameters are those whose names stand before their types, or have none.
    """

    kind: str
    doc: str
    parameters: frozenset[str] = _NO_NAMES


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
    def interface(self) -> tuple[object, ...]:
        """The part that facts about other files depend on."""
        kinds = tuple((name, symbol.kind) for name, symbol in self.symbols.items())
        return self.language, kinds, self.imports


def is_binary(data: bytes) -> bool:
    """Return whether a file is binary: as Git says, by a NUL in its first 8,000 bytes, unless it is UTF-16."""
    return b"\x00" in data[:_HEAD] and not data.startswith(UTF_16_MARKS)


def is_parsed(path: str) -> bool:
    """Return whether the content of a file is read: of source code, manifests, and what sets variables or owners."""
    if language_of(path) or path in PLACES or path == MAILMAP:
        return True
    return is_manifest(path) or is_environment(path) or is_compose(path)


def parse_file(path: str, data: bytes) -> ParsedFile:
    """Return the file ``path`` with the content ``data``. Nothing is raised, whatever the content."""
    language = language_of(path)
    keeps_text = path in PLACES or path == MAILMAP
    if not is_parsed(path):
        return ParsedFile(path)
    text = _text(path, data, language)
    if not text:
        return ParsedFile(path, language.name if language and not data.strip() else "")
    if language:
        return _source_code(path, text, language)
    variables = variables_set(text) if is_environment(path) else frozenset()
    if is_compose(path):
        variables = variables_of_services(text)
    manifest = _manifest(path, text)
    doc = manifest.description if manifest else ""
    return ParsedFile(path, doc=doc, variables=variables, manifest=manifest, text=text if keeps_text else "")


def _text(path: str, data: bytes, language: Language | None) -> str:
    if len(data) > LARGEST:
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
    imports = list(imported_modules(code.imports, lines))
    if language.name == "rust":
        imports += (ImportedModule(f"self::{name}", ()) for name in _MODULE_OF_RUST.findall(text))
    return ParsedFile(
        path,
        language.name,
        first_sentence(code.doc),
        _symbols(code, text),
        tuple(dict.fromkeys(imports)),
        references(code.calls, lines),
        variables_read(text, language.name),
        _manifest(path, text),
    )


def _symbols(code: SourceCode, text: str) -> dict[str, Symbol]:
    """Return the definitions by qualified name; of several with the same name the first documented one."""
    found: dict[str, Symbol] = {}
    for definition in code.definitions:
        known = found.get(definition.qualified)
        if len(definition.qualified) <= _LONGEST_NAME and (known is None or (definition.doc and not known.doc)):
            kind = known.kind if known else _kind(definition)
            parameters = _parameters(text[definition.start : definition.body]) if kind == "function" else _NO_NAMES
            found[definition.qualified] = Symbol(kind, first_sentence(definition.doc), parameters)
    return found


def _parameters(signature: str) -> frozenset[str]:
    return frozenset(_PARAMETER.findall(signature[-_LONGEST_SIGNATURE:]))


def _kind(definition: Definition) -> str:
    return "class" if definition.kind is DefinitionKind.CLASS else "function"
