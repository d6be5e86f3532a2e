"""Texts of source files and definitions: their summaries, by which their words and their meaning are found."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from pipeline.code.records import Definition, DefinitionKind, SourceCode
from pipeline.domains.memory.code.parse import ParsedFile
from pipeline.domains.memory.code.pieces import Symbol
from pipeline.ingest.sources.parsers.code import summary_of, words_of

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
