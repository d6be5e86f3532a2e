"""Records of source code: definitions, imports and calls."""

from dataclasses import dataclass
from enum import StrEnum


class DefinitionKind(StrEnum):
    """Kind of a definition; interfaces, structs, traits, enums and modules of Ruby are classes."""

    CLASS = "class"
    FUNCTION = "function"
    METHOD = "method"


@dataclass(frozen=True, slots=True)
class Definition:
    """A class, function or method at ``text[start:end]``, with the decorators and comments right above it.

    ``qualified`` is its name within the file (``Session.request``), ``body`` the character at which its body begins
    (``end`` without a body), ``line`` the line of its name, counted from 1. ``doc`` is its docstring, or the comment
    right above it, without marks.
    """

    kind: DefinitionKind
    name: str
    qualified: str
    start: int
    end: int
    body: int
    line: int
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Import:
    """An import of ``module``, as written: ``requests.adapters``, ``.models``, ``react``; ``names`` are those it takes.

    ``line`` counts from 1.
    """

    module: str
    names: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Call:
    """A call of ``name`` in the definition with the qualified name ``caller``; empty outside all definitions."""

    caller: str
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class SourceCode:
    """The syntax of a file: its own docstring or first comment, and its definitions, imports and calls in order.

    ``broken`` says that a part of it is no code of the language, or that it is nested too deep.
    """

    language: str
    doc: str
    definitions: tuple[Definition, ...]
    imports: tuple[Import, ...]
    calls: tuple[Call, ...]
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of a package at ``path``: its name, which may be empty, and the packages that it depends on.

    Names are normalised: in lower case, and those of Python and Rust with ``-`` for every run of ``-_.``. A package of
    Maven is ``group:artifact``, a module of Go its path. Dependencies are in order, each once; ``dev_dependencies`` are
    those for tests, documentation and development alone.
    """

    path: str
    name: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    dev_dependencies: tuple[str, ...] = ()
