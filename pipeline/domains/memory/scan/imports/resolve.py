"""The way from a language to the resolution of its imports."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipeline.domains.memory.scan.imports import go, javascript, other, python, rust
from pipeline.domains.memory.scan.imports.records import Resolved
from pipeline.domains.memory.scan.index import Index
from pipeline.domains.memory.scan.parsed import ParsedFile
from pipeline.domains.memory.scan.receivers import ImportedModule

_RESOLVERS: dict[str, Callable[[ImportedModule, str, Index], Iterator[Resolved]]] = {
    "python": python.resolve,
    "javascript": javascript.resolve,
    "typescript": javascript.resolve,
    "go": go.resolve,
    "rust": rust.resolve,
    "java": other.resolve_java,
    "c": other.resolve_c,
    "cpp": other.resolve_c,
    "ruby": other.resolve_ruby,
    "php": other.resolve_php,
}
"""The namespaces of C# name neither files nor packages."""


def resolve(item: ImportedModule, file: ParsedFile, index: Index) -> Iterator[Resolved]:
    """Yield what an import of ``file`` leads to; nothing if it can't be told."""
    resolver = _RESOLVERS.get(file.language)
    if resolver is not None and "\x00" not in item.module:
        yield from resolver(item, file.path, index)
