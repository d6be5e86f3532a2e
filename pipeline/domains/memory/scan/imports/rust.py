"""Imports of Rust: modules of the same crate, crates of the tree, and external crates."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from pipeline.domains.memory.scan.imports.records import Resolved
from pipeline.domains.memory.scan.index import Index
from pipeline.domains.memory.scan.paths import folders_above, join, parent_of
from pipeline.domains.memory.scan.receivers import ImportedModule

_STANDARD = frozenset(("std", "core", "alloc", "proc_macro", "test"))
_ROOTS = ("lib.rs", "main.rs")
_INDEXES = frozenset((*_ROOTS, "mod.rs"))


def resolve(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield what a ``use`` or ``mod`` leads to: the module along its path that has a file, nearest to its end."""
    parts = [part for part in item.module.split("::") if part]
    if not parts:
        return
    first, rest = parts[0], parts[1:]
    if first in _STANDARD:
        yield _outside(item, parts, "")
    elif first in ("crate", "self", "super"):
        yield from _within(item, parts, _start(parts, path, index), index)
    elif crate := index.published(re.sub(r"[-_.]+", "-", first).lower()):
        yield from _within(item, ["crate", *rest], join(crate[0], "src"), index)
    elif _module(join(_children(path), first), index) or _module(join(_crate_root(path, index), first), index):
        start = _children(path) if _module(join(_children(path), first), index) else _crate_root(path, index)
        yield from _within(item, ["self", *parts], start, index)
    else:
        yield _outside(item, parts, re.sub(r"[-_.]+", "-", first).lower())


def _within(item: ImportedModule, parts: list[str], start: str, index: Index) -> Iterator[Resolved]:
    """Yield the file of the longest path below ``start`` that is a module; what follows it is a name in it."""
    steps = [part for part in parts if part not in ("crate", "self", "super")]
    for length in range(len(steps), -1, -1):
        file = _module(join(start, *steps[:length]), index) if length else _root_of(start, index)
        if not file:
            continue
        left = steps[length:]
        if left and not item.names:
            yield Resolved(file, names=((left[-1], left[-1]),) if len(left) == 1 else (), star=left == ["*"])
        elif length or item.names:
            whole = () if left else item.names
            modules = (steps[-1],) if steps and not left else ()
            yield Resolved(file, names=tuple((local, name) for name, local in whole), modules=modules)
        return


def _start(parts: list[str], path: str, index: Index) -> str:
    """Return the folder in which the modules that follow ``crate``, ``self`` or ``super`` are."""
    if parts[0] == "crate":
        return _crate_root(path, index)
    start = _children(path)
    for _ in range(parts.count("super")):
        start = parent_of(start)
    return start


def _children(path: str) -> str:
    """Return the folder of the modules within the module that a file is."""
    folder, name = posixpath.split(path)
    return folder if name in _INDEXES else join(folder, name.removesuffix(".rs"))


def _crate_root(path: str, index: Index) -> str:
    roots = (folder for folder in folders_above(path) if _root_of(folder, index))
    return next(roots, parent_of(path))


def _root_of(folder: str, index: Index) -> str:
    return next((join(folder, name) for name in _ROOTS if index.file(join(folder, name)) is not None), "")


def _module(place: str, index: Index) -> str:
    return next((path for path in (f"{place}.rs", f"{place}/mod.rs") if index.file(path) is not None), "")


def _outside(item: ImportedModule, parts: list[str], library: str) -> Resolved:
    names = item.names or ((parts[-1], parts[-1]),)
    return Resolved(library=library, names=tuple((local, name) for name, local in names), modules=(parts[-1],))
