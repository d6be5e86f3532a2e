"""Imports of Go: packages of the modules in the tree, required modules, and the standard library."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.domains.memory.scan.imports.records import Resolved
from pipeline.domains.memory.scan.index import Index
from pipeline.domains.memory.scan.paths import join
from pipeline.domains.memory.scan.receivers import ImportedModule

_HOSTED = ("github.com", "gitlab.com", "bitbucket.org", "golang.org", "codeberg.org")


def resolve(item: ImportedModule, _path: str, index: Index) -> Iterator[Resolved]:
    """Yield the files of an imported package, all but its tests, or the module that it belongs to."""
    parts = item.module.split("/")
    name = _package_name(parts)
    prefixes = ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]
    for prefix in prefixes:
        for folder in index.published(prefix.lower()):
            place = join(folder, item.module[len(prefix) + 1 :])
            for file in index.members(place):
                if file.language == "go" and not file.path.endswith("_test.go"):
                    yield Resolved(file.path, modules=(name,))
            return
    if "." in parts[0]:
        required = next((prefix for prefix in prefixes if index.requires(prefix.lower())), "")
        length = 3 if parts[0] in _HOSTED else 2
        yield Resolved(library=(required or "/".join(parts[:length])).lower(), modules=(name,))
    else:
        yield Resolved(modules=(name,))


def _package_name(parts: list[str]) -> str:
    """Return the name that a package is used by: the last part of its path that is no version."""
    last = parts[-1]
    if len(parts) > 1 and last[:1] == "v" and last[1:].isdigit():
        last = parts[-2]
    return last.partition(".v")[0]
