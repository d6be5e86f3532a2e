"""Languages whose source code is parsed: a row each, and a query in ``tags/*.scm``.

A query of tree-sitter (https://tree-sitter.github.io) marks nodes of the syntax tree with these captures::

    @class @function @method   a definition, with its @name, its @body and, if it is declared outside, its @receiver
    @scope                     no definition, but its @name qualifies those within: an impl block of Rust
    @wrapper @inner            a node that belongs to the definition inside it: the decorators of Python, an export
    @documented @doc           a docstring inside a definition or file
    @comment @attribute        a comment, or a decorator, that may stand right above a definition
    @import                    an import, with its @module and @imported names
    @callee                    the name in a call

A language whose code refers to other files by modules, or reads environment variables, has a row in ``NAMES``, too.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from pipeline.resources import word_lists

if TYPE_CHECKING:
    import tree_sitter

_TAGS = Path(__file__).parent / "tags"


@dataclass(frozen=True, slots=True)
class Language:
    """A language: its name, the suffixes and names of its files, its grammar and its queries.

    ``grammar`` is the module of the grammar and the function that returns it; ``tags`` are the query files.
    ``docstrings``: definitions are documented by strings inside them, not by comments above them.
    """

    name: str
    suffixes: tuple[str, ...]
    grammar: tuple[str, str]
    tags: tuple[str, ...]
    files: tuple[str, ...] = ()
    docstrings: bool = False


_JAVASCRIPT = ("javascript", "javascript_fields", "jsx")
_TYPESCRIPT = ("javascript", "typescript")
_CPP = ("c", "cpp")

LANGUAGES = (
    Language("python", (".py", ".pyi", ".pyw"), ("tree_sitter_python", "language"), ("python",), docstrings=True),
    Language("javascript", (".js", ".mjs", ".cjs", ".jsx"), ("tree_sitter_javascript", "language"), _JAVASCRIPT),
    Language("typescript", (".ts", ".mts", ".cts"), ("tree_sitter_typescript", "language_typescript"), _TYPESCRIPT),
    Language("typescript", (".tsx",), ("tree_sitter_typescript", "language_tsx"), (*_TYPESCRIPT, "jsx")),
    Language("java", (".java",), ("tree_sitter_java", "language"), ("java",)),
    Language("go", (".go",), ("tree_sitter_go", "language"), ("go",)),
    Language("rust", (".rs",), ("tree_sitter_rust", "language"), ("rust",)),
    Language("c", (".c",), ("tree_sitter_c", "language"), ("c",)),
    # headers of either language: the grammar of C++ reads C, but not the reverse
    Language("c", (".h",), ("tree_sitter_cpp", "language"), _CPP),
    Language("cpp", (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx"), ("tree_sitter_cpp", "language"), _CPP),
    Language("csharp", (".cs",), ("tree_sitter_c_sharp", "language"), ("c_sharp",)),
    Language(
        "ruby", (".rb", ".rake", ".gemspec"), ("tree_sitter_ruby", "language"), ("ruby",), ("Rakefile", "Gemfile")
    ),
    Language("php", (".php",), ("tree_sitter_php", "language_php"), ("php",)),
)
"""All languages, a row for each grammar that reads it."""

_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
_BY_NAME = {name: language for language in LANGUAGES for name in language.files}


def language_of(path: str) -> Language | None:
    """Return the language of the file ``path`` by its name or its suffix; None if it isn't source code."""
    name = PurePosixPath(path).name
    return _BY_NAME.get(name) or _BY_SUFFIX.get(PurePosixPath(name).suffix.lower())


@cache
def grammar_of(language: Language) -> tuple[tree_sitter.Language, tree_sitter.Query]:
    """Return the grammar and the query of ``language``; the grammar is imported at its first use."""
    import tree_sitter

    module, function = language.grammar
    grammar = tree_sitter.Language(getattr(import_module(module), function)())
    source = "\n".join((_TAGS / f"{name}.scm").read_text(encoding="utf-8") for name in language.tags)
    return grammar, tree_sitter.Query(grammar, source)


_NAME = r"([A-Za-z_]\w{0,99})"
_QUOTED = rf"""\s{{0,9}}[(\[]\s{{0,9}}["'`]{_NAME}["'`](?=\s{{0,9}}[,)\]])"""
_UNASSIGNED = r"(?!\s{0,9}\]?\s{0,9}=[^=>~])"


@dataclass(frozen=True, slots=True)
class Names:
    """The rules by which code of a language refers to what other files define.

    ``environment`` matches a call that reads an environment variable, whose name is in the one group that matched.
    ``separator`` is between the parts of a module, and ``relative`` are the first parts of modules of the same package.
    ``family`` is the language whose definitions and library it uses, if not its own. ``bare_methods``: a bare call
    may mean a method of the class around it. ``shared`` are the files that share their names without an import: none,
    those of a folder, or those of the whole tree.
    """

    environment: re.Pattern[str] | None = None
    separator: str = "/"
    relative: frozenset[str] = frozenset()
    family: str = ""
    bare_methods: bool = False
    shared: Literal["", "folder", "tree"] = ""


_SCRIPT_ENVIRONMENT = re.compile(
    rf"(?:\bprocess\.env|\bimport\.meta\.env)(?:\.{_NAME}\b|{_QUOTED}){_UNASSIGNED}|\bDeno\.env\.get{_QUOTED}"
)
_STANDARD = {name: frozenset(modules.split()) for name, modules in word_lists(__file__).items()}
_STANDARD["python"] |= sys.stdlib_module_names
"""First parts of the modules of standard libraries, by language."""

_C_ENVIRONMENT = re.compile(rf"\b(?:secure_)?getenv{_QUOTED}")

NAMES = {
    "python": Names(
        re.compile(
            rf"\benviron(?:\.(?:get|pop|setdefault))?{_QUOTED}{_UNASSIGNED}|\bgetenv{_QUOTED}"
            rf"""|\benvvar\s{{0,9}}=\s{{0,9}}["']{_NAME}["']"""
        ),
        separator=".",
    ),
    "javascript": Names(_SCRIPT_ENVIRONMENT),
    "typescript": Names(_SCRIPT_ENVIRONMENT, family="javascript"),
    "java": Names(
        re.compile(rf"\bSystem\.getenv(?:\(\)\.get)?{_QUOTED}"), separator=".", bare_methods=True, shared="folder"
    ),
    "go": Names(re.compile(rf"\bos\.(?:Getenv|LookupEnv){_QUOTED}"), shared="folder"),
    "rust": Names(
        re.compile(rf"\benv::var(?:_os)?{_QUOTED}|\b(?:option_)?env!{_QUOTED}"),
        separator="::",
        relative=frozenset(("crate", "self", "super")),
    ),
    "c": Names(_C_ENVIRONMENT, bare_methods=True, shared="tree"),
    "cpp": Names(_C_ENVIRONMENT, family="c", bare_methods=True, shared="tree"),
    "csharp": Names(re.compile(rf"\bEnvironment\.GetEnvironmentVariable{_QUOTED}"), bare_methods=True, shared="tree"),
    "ruby": Names(re.compile(rf"\bENV(?:\.fetch)?{_QUOTED}{_UNASSIGNED}"), bare_methods=True, shared="tree"),
    "php": Names(re.compile(rf"\bgetenv{_QUOTED}|\$_ENV{_QUOTED}{_UNASSIGNED}|\benv{_QUOTED}"), shared="tree"),
}
"""The rules of names by language."""

SOURCE_ROOTS = ("", "src", "lib", "python")
"""Folders of a package in which its imports are looked up."""


def is_standard(module: str, language: str) -> bool:
    """Return whether an imported module belongs to the language's own library."""
    names = NAMES[language]
    standard = _STANDARD.get(names.family or language, ())
    return module.startswith("node:") or module.partition(names.separator)[0] in standard


def is_relative(module: str, language: str) -> bool:
    """Return whether an import names its module from the file or the package that it stands in."""
    names = NAMES[language]
    return module.startswith(".") or module.partition(names.separator)[0] in names.relative
