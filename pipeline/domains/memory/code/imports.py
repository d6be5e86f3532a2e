"""Resolve imports: each language's way from what an import names to a file of the tree or to an external package."""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from packaging.utils import canonicalize_name

from pipeline.code.languages import SOURCE_ROOTS, is_relative, is_standard
from pipeline.domains.memory.code.index import Index
from pipeline.domains.memory.code.parse import ParsedFile
from pipeline.domains.memory.code.paths import folders_above, join
from pipeline.domains.memory.code.syntax import ImportedModule
from pipeline.resources import word_lists

_PYTHON_PACKAGES = word_lists(__file__)["packages"]  # packages of Python whose modules have another name
_SCRIPT_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts", ".json", ".vue")
_WRITTEN = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""Suffixes that TypeScript lets stand for its own."""

_GO_HOSTS = ("github.com", "gitlab.com", "bitbucket.org", "golang.org", "codeberg.org")
"""Hosts whose modules have three parts, as in github.com/owner/name; those of others have two."""

_CRATE_ROOTS = ("lib.rs", "main.rs")
_RUST_INDEXES = frozenset((*_CRATE_ROOTS, "mod.rs"))
_JAVA_ROOTS = ("", "src/main/java", "src/test/java", "src")
_SHORTEST_GROUP = 2
"""Parts of a group of Maven, as in org.slf4j: one part alone, as com, is many owners'. Chosen by hand; not measured."""


class Resolved(NamedTuple):
    """An import that leads to the file ``path`` of the tree, or to the external package ``library``, or out of it.

    ``names`` are the names of symbols, each with its local one, ``modules`` the local names of the module itself.
    ``star``: all names of the file are taken. Both ends are empty for a standard library.
    """

    path: str = ""
    library: str = ""
    names: tuple[tuple[str, str], ...] = ()
    modules: tuple[str, ...] = ()
    star: bool = False


def resolve(item: ImportedModule, file: ParsedFile, index: Index) -> Iterator[Resolved]:
    """Yield what an import of ``file`` leads to; nothing if that is unclear."""
    resolver = _RESOLVERS.get(file.language)
    if resolver is not None and "\x00" not in item.module:
        yield from resolver(item, file.path, index)


def _resolve_python(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield what an import of the file ``path`` leads to; nothing for a missing module of the tree.

    A module is looked up in the folders above the file that are no packages, and in their source folders.
    """
    dotted = item.module.lstrip(".")
    if level := len(item.module) - len(dotted):
        above = folders_above(path)
        if level <= len(above):
            yield from _python_members(item, join(above[level - 1], dotted.replace(".", "/")), index)
        return
    top = dotted.partition(".")[0]
    if is_standard(dotted, "python"):
        yield _python_outside(item, "")
        return
    own = False
    roots = (
        join(folder, source)
        for folder in folders_above(path)
        if not index.exists(join(folder, "__init__.py"))
        for source in SOURCE_ROOTS
    )
    for root in roots:
        if not (index.has_code(join(root, top)) or index.exists(join(root, f"{top}.py"))):
            continue
        if members := list(_python_members(item, join(root, dotted.replace(".", "/")), index)):
            yield from members
            return
        own = own or _python_file(join(root, top), index) != ""
    if not own:
        yield _python_outside(item, _PYTHON_PACKAGES.get(top, canonicalize_name(top)))


def _python_members(item: ImportedModule, place: str, index: Index) -> Iterator[Resolved]:
    """Yield the file at ``place`` with the imported names, and those names that are files themselves."""
    file = _python_file(place, index)
    if not item.names:
        if file:
            yield Resolved(file, modules=(item.alias or item.module,))
        return
    names = []
    for original, local in item.names:
        if original != "*" and (module := _python_file(join(place, original), index)):
            yield Resolved(module, modules=(local,))
        else:
            names.append((original, local))
    if file and names:
        yield Resolved(file, names=tuple(names), star=("*", "*") in names)


def _python_file(place: str, index: Index) -> str:
    """Return the file of a module; empty for none, as a folder without ``__init__.py`` has none."""
    suffixes = (".py", "/__init__.py", ".pyi", "/__init__.pyi")
    return _first((f"{place}{suffix}" if place else suffix.lstrip("/") for suffix in suffixes), index)


def _python_outside(item: ImportedModule, library: str) -> Resolved:
    return Resolved(library=library, names=item.names, modules=() if item.names else (item.alias or item.module,))


def _resolve_script(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield what an import leads to; nothing for a relative one that isn't found, and for an alias of a bundler."""
    modules = (item.alias,) if item.alias else ()
    module = item.module.partition("?")[0]
    if module.startswith((".", "/")):
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), module)) if module[0] == "." else ""
        if place and not place.startswith("..") and (file := _script_file(place if place != "." else "", index)):
            yield Resolved(file, names=item.names, modules=modules)
        return
    scoped = module.startswith("@")
    parts = module.split("/")
    if is_standard(module, "javascript") or ":" in parts[0]:
        yield Resolved(names=item.names, modules=modules)
    elif parts[0].strip("@~#") and not (scoped and len(parts) == 1) and parts[0][0] not in "~#$":
        yield Resolved(library="/".join(parts[: 2 if scoped else 1]).lower(), names=item.names, modules=modules)


def _script_file(place: str, index: Index) -> str:
    stem, suffix = posixpath.splitext(place)
    candidates = [place] if suffix else []
    candidates += (stem + other for other in _WRITTEN.get(suffix, ()))
    candidates += (place + other for other in _SCRIPT_SUFFIXES if place)
    candidates += (posixpath.join(place, "index" + other) for other in _SCRIPT_SUFFIXES)
    return _first(candidates, index)


def _resolve_go(item: ImportedModule, _path: str, index: Index) -> Iterator[Resolved]:
    """Yield the files of an imported package, all but its tests, or the module that it belongs to."""
    parts = item.module.split("/")
    versioned = len(parts) > 1 and parts[-1][:1] == "v" and parts[-1][1:].isdigit()
    name = parts[-2 if versioned else -1].partition(".v")[0]
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
        length = 3 if parts[0] in _GO_HOSTS else 2
        yield Resolved(library=(required or "/".join(parts[:length])).lower(), modules=(name,))
    else:
        yield Resolved(modules=(name,))


def _resolve_rust(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield what a ``use`` or ``mod`` leads to: the module along its path that has a file, nearest to its end."""
    parts = [part for part in item.module.split("::") if part]
    if not parts:
        return
    first, rest = parts[0], parts[1:]
    if is_standard(first, "rust"):
        yield _rust_outside(item, parts, "")
    elif is_relative(first, "rust"):
        start = _rust_root(path, index) if first == "crate" else _rust_children(path)
        for _ in range(parts.count("super") if first != "crate" else 0):
            start = posixpath.dirname(start)
        yield from _rust_within(item, parts, start, index)
    elif crate := index.published(name := re.sub(r"[-_.]+", "-", first).lower()):
        yield from _rust_within(item, ["crate", *rest], join(crate[0], "src"), index)
    else:
        starts = (_rust_children(path), _rust_root(path, index))
        own = next((start for start in starts if _rust_module(join(start, first), index)), None)
        if own is None:
            yield _rust_outside(item, parts, name)
        else:
            yield from _rust_within(item, ["self", *parts], own, index)


def _rust_within(item: ImportedModule, parts: list[str], start: str, index: Index) -> Iterator[Resolved]:
    """Yield the file of the longest path below ``start`` that is a module; what follows it is a name in it."""
    steps = [part for part in parts if part not in ("crate", "self", "super")]
    for length in range(len(steps), -1, -1):
        file = _rust_module(join(start, *steps[:length]), index) if length else _crate_file(start, index)
        if not file:
            continue
        left = steps[length:]
        if left and not item.names:
            yield Resolved(file, names=((left[-1], left[-1]),) if len(left) == 1 else (), star=left == ["*"])
        elif length or item.names:
            yield Resolved(file, names=() if left else item.names, modules=() if left else tuple(steps[-1:]))
        return


def _rust_children(path: str) -> str:
    """Return the folder of the modules within the module that a file is."""
    folder, name = posixpath.split(path)
    return folder if name in _RUST_INDEXES else join(folder, name.removesuffix(".rs"))


def _rust_root(path: str, index: Index) -> str:
    return next((folder for folder in folders_above(path) if _crate_file(folder, index)), posixpath.dirname(path))


def _crate_file(folder: str, index: Index) -> str:
    return _first((join(folder, name) for name in _CRATE_ROOTS), index)


def _rust_module(place: str, index: Index) -> str:
    return _first((f"{place}.rs", f"{place}/mod.rs"), index)


def _rust_outside(item: ImportedModule, parts: list[str], library: str) -> Resolved:
    return Resolved(library=library, names=item.names or ((parts[-1], parts[-1]),), modules=(parts[-1],))


def _resolve_java(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield the file of an imported class, or the required package whose group its name begins with."""
    name = item.module.rpartition(".")[2]
    if is_standard(item.module, "java"):
        yield Resolved(names=((name, name),))
        return
    place = item.module.replace(".", "/") + ".java"
    if file := _first((join(folder, root, place) for folder in folders_above(path) for root in _JAVA_ROOTS), index):
        yield Resolved(file, names=((name, name),))
        return
    parts = item.module.split(".")
    for length in range(len(parts), _SHORTEST_GROUP - 1, -1):
        packages = index.of_group(".".join(parts[:length]).lower())
        if len(packages) == 1:
            yield Resolved(library=packages[0], names=((name, name),))
        if packages:
            return


def _resolve_c(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield the header that an ``#include`` names: beside the file, or from a folder above it or its include folder."""
    above = folders_above(path)
    folders = [above[0], *(join(folder, root) for folder in above for root in ("include", "src", ""))]
    yield from _included(item.module, folders, index)


def _resolve_ruby(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield the file that ``require`` names: beside the file, or in the folder lib above it; else the gem."""
    above = folders_above(path)
    folders = [above[0], *(join(folder, root) for folder in above for root in ("lib", ""))]
    files = list(_included(item.module.removesuffix(".rb") + ".rb", folders, index))
    yield from files
    top = item.module.partition("/")[0]
    if not files and top and not is_standard(top, "ruby") and not item.module.startswith((".", "/")):
        yield Resolved(library=top.lower())


def _resolve_php(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield the file that ``require`` or ``include`` names, relative to the file or to the root."""
    if item.module.endswith((".php", ".inc")):
        yield from _included(item.module.lstrip("/"), (posixpath.dirname(path), ""), index)


def _included(name: str, folders: Iterable[str], index: Index) -> Iterator[Resolved]:
    """Yield the first file of the name ``name``, relative to one of the folders, with all that it defines."""
    places = (posixpath.normpath(join(folder, name)) for folder in folders)
    if file := _first((place for place in places if not place.startswith("..")), index):
        yield Resolved(file, star=True)


def _first(paths: Iterable[str], index: Index) -> str:
    """Return the first of the paths that has a file; empty for none."""
    return next((path for path in paths if index.exists(path)), "")


_RESOLVERS: dict[str, Callable[[ImportedModule, str, Index], Iterator[Resolved]]] = {
    "python": _resolve_python,
    "javascript": _resolve_script,
    "typescript": _resolve_script,
    "go": _resolve_go,
    "rust": _resolve_rust,
    "java": _resolve_java,
    "c": _resolve_c,
    "cpp": _resolve_c,
    "ruby": _resolve_ruby,
    "php": _resolve_php,
}
"""The namespaces of C# name neither files nor packages."""
