"""Imports of JavaScript and TypeScript: relative files, packages, and those of Node.js itself."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from pipeline.domains.memory.scan.imports.records import Resolved
from pipeline.domains.memory.scan.index import Index
from pipeline.domains.memory.scan.paths import parent_of
from pipeline.domains.memory.scan.receivers import ImportedModule

_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts", ".json", ".vue")
_WRITTEN = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""Suffixes that TypeScript lets stand for its own."""

_STANDARD = frozenset(
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain "
    "events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl "
    "stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib".split()
)


def resolve(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield what an import leads to; nothing for a relative one that isn't found, and for an alias of a bundler."""
    names = tuple((local, original) for original, local in item.names)
    modules = (item.alias,) if item.alias else ()
    module = item.module.partition("?")[0]
    if module.startswith((".", "/")):
        place = posixpath.normpath(posixpath.join(parent_of(path), module)) if module[0] == "." else ""
        if place and not place.startswith("..") and (file := _file(place if place != "." else "", index)):
            yield Resolved(file, names=names, modules=modules)
        return
    scoped = module.startswith("@")
    parts = module.split("/")
    if parts[0] in _STANDARD or ":" in parts[0]:
        yield Resolved(names=names, modules=modules)
    elif parts[0].strip("@~#") and not (scoped and len(parts) == 1) and parts[0][0] not in "~#$":
        yield Resolved(library="/".join(parts[: 2 if scoped else 1]).lower(), names=names, modules=modules)


def _file(place: str, index: Index) -> str:
    stem, suffix = posixpath.splitext(place)
    candidates = [
        *([place] if suffix else []),
        *(stem + other for other in _WRITTEN.get(suffix, ())),
        *(place + other for other in _SUFFIXES if place),
        *(posixpath.join(place, "index" + other) for other in _SUFFIXES),
    ]
    return next((path for path in candidates if index.file(path) is not None), "")
