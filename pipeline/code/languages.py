"""Languages whose source code is parsed: a row each, and a query in ``tags/*.scm``.

A query of tree-sitter (https://tree-sitter.github.io) marks nodes of the syntax tree with these captures::

    @class @function @method   a definition, with its @name, its @body and, if it is declared outside, its @receiver
    @scope                     no definition, but its @name qualifies those within: an impl block of Rust
    @wrapper @inner            a node that belongs to the definition inside it: the decorators of Python, an export
    @documented @doc           a docstring inside a definition or file
    @comment @attribute        a comment, or a decorator, that may stand right above a definition
    @import                    an import, with its @module and @imported names
    @callee                    the name in a call
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

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
