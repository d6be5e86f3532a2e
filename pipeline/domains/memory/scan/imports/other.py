"""Imports of Java, C, C++, Ruby and PHP."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from pipeline.domains.memory.scan.imports.records import Resolved
from pipeline.domains.memory.scan.index import Index
from pipeline.domains.memory.scan.paths import folders_above, join, parent_of
from pipeline.domains.memory.scan.receivers import ImportedModule

_JAVA_ROOTS = ("", "src/main/java", "src/test/java", "src")
_STANDARD_JAVA = ("java.", "javax.", "jdk.", "sun.")
_SHORTEST_GROUP = 2
_STANDARD_RUBY = frozenset(
    "English abbrev base64 benchmark bigdecimal bundler cgi csv date delegate digest drb erb etc fcntl fiddle "
    "fileutils find forwardable io ipaddr irb json logger matrix minitest monitor mutex_m net objspace observer "
    "open-uri open3 openssl optparse ostruct pathname pp prettyprint pstore psych pty rbconfig readline resolv "
    "rexml ripper securerandom set shellwords singleton socket stringio strscan syslog tempfile time timeout "
    "tmpdir tsort un uri weakref yaml zlib".split()
)


def resolve_java(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield the file of an imported class, or the required package whose group its name begins with."""
    name = item.module.rpartition(".")[2]
    if item.module.startswith(_STANDARD_JAVA):
        yield Resolved(names=((name, name),))
        return
    place = item.module.replace(".", "/") + ".java"
    for folder in folders_above(path):
        for root in _JAVA_ROOTS:
            if index.file(join(folder, root, place)) is not None:
                yield Resolved(join(folder, root, place), names=((name, name),))
                return
    parts = item.module.split(".")
    for length in range(len(parts), _SHORTEST_GROUP - 1, -1):
        packages = index.of_group(".".join(parts[:length]).lower())
        if len(packages) == 1:
            yield Resolved(library=packages[0], names=((name, name),))
        if packages:
            return


def resolve_c(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield the header that an ``#include`` names: beside the file, or from a folder above it or its include folder."""
    above = folders_above(path)
    for folder in [above[0], *(join(folder, root) for folder in above for root in ("include", "src", ""))]:
        place = posixpath.normpath(join(folder, item.module))
        if not place.startswith("..") and index.file(place) is not None:
            yield Resolved(place, star=True)
            return


def resolve_ruby(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield the file that ``require`` names: beside the file, or in the folder lib above it; else the gem."""
    wanted = item.module.removesuffix(".rb") + ".rb"
    above = folders_above(path)
    for folder in [above[0], *(join(folder, root) for folder in above for root in ("lib", ""))]:
        place = posixpath.normpath(join(folder, wanted))
        if not place.startswith("..") and index.file(place) is not None:
            yield Resolved(place, star=True)
            return
    top = item.module.partition("/")[0]
    if top and top not in _STANDARD_RUBY and not item.module.startswith((".", "/")):
        yield Resolved(library=top.lower())


def resolve_php(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield the file that ``require`` or ``include`` names, relative to the file or to the root."""
    if not item.module.endswith((".php", ".inc")):
        return
    for folder in (parent_of(path), ""):
        place = posixpath.normpath(join(folder, item.module.lstrip("/")))
        if not place.startswith("..") and index.file(place) is not None:
            yield Resolved(place, star=True)
            return
