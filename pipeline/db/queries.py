"""The loader of ``cypher/*.cypher``, and of a domain's ``*.cypher``: named queries with declared modes and parameters.

A file may open with comments about itself. A query begins with a header of ``//`` lines and runs to the next header
(after aiosql's format)::

    // name: staged_documents
    // mode: read
    // params: corpus, generation
    // Documents that a crashed run left staged.
    MATCH ...

``mode`` is ``read``, ``write`` or ``schema``. ``params`` are values, passed as parameters. ``names`` are identifiers
for which Cypher has no parameters (index names and their labels): the text holds them as ``<index>``, and
:meth:`Query.text_with` fills them in. They may only consist of letters, digits and underscores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType

from pipeline.registry import registry
from pipeline.resources import resource_folder

_HEADER = re.compile(r"^//\s*(name|mode|params|names):\s*(.*?)\s*$")
_MODES = ("read", "write", "schema")
_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")
_PLACEHOLDER = re.compile(r"<([a-z_]+)>")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
_QUOTED_OR_COMMENT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|//[^\n]*")


@dataclass(frozen=True, slots=True)
class Query:
    """A named query; ``text`` holds its ``<names>`` unfilled."""

    name: str
    mode: str
    params: frozenset[str]
    names: frozenset[str]
    documentation: str
    text: str

    def text_with(self, names: Mapping[str, str]) -> str:
        """Return the text with its identifiers filled in.

        Raises ValueError if an identifier is missing, unknown, or has other characters than letters, digits and
        underscores.
        """
        if names.keys() != self.names:
            raise ValueError(f"{self.name} takes the names {sorted(self.names)}, not {sorted(names)}")
        for name, identifier in names.items():
            if not _IDENTIFIER.fullmatch(identifier):
                raise ValueError(f"{self.name}: {name} can't be {identifier!r}")
        return _PLACEHOLDER.sub(lambda match: names[match[1]], self.text)


@cache
def load_queries() -> Mapping[str, Query]:
    """Read all queries of ``cypher/`` and of the domains; return them by name.

    Raises ValueError on a duplicate name, a missing header or documentation, and any difference between declared and
    used parameters; ConfigurationError naming the package if that happens in a domain that a package brings.
    """
    queries: dict[str, Query] = {}
    _read_folder(resource_folder("cypher"), queries)
    for domain in registry().domains:
        domain.guarded(partial(_read_folder, domain.folder, queries))
    return MappingProxyType(queries)


def _read_folder(folder: Path, queries: dict[str, Query]) -> None:
    for path in sorted(folder.rglob("*.cypher")):
        for query in parse_queries(path.read_text(encoding="utf-8"), path):
            if query.name in queries:
                raise ValueError(f"{path}: the name {query.name} is given twice")
            queries[query.name] = query


def parse_queries(source: str, path: Path) -> Iterable[Query]:
    """Parse one file's queries, in their order; ``path`` is for messages only.

    Raises ValueError as :func:`load_queries` does, and on a query before the first header, which would be lost.
    """
    comment, *sections = re.split(r"^(?=//\s*name:)", source, flags=re.MULTILINE)
    for line in comment.splitlines():
        if line.strip() and not line.startswith("//"):
            raise ValueError(f"{path}: {line[:80]!r} stands before the first header; begin its query with // name:")
    for section in sections:
        yield _parse(section, path)


def _parse(section: str, path: Path) -> Query:
    header: dict[str, str] = {}
    documentation: list[str] = []
    body: list[str] = []
    for line in section.splitlines():
        match = _HEADER.match(line)
        if match and not body:
            header[match[1]] = match[2]
        elif line.startswith("//") and not body:
            documentation.append(line.removeprefix("//").strip())
        elif body or line.strip():
            body.append(line)
    query = Query(
        name=header["name"],
        mode=header.get("mode", ""),
        params=frozenset(_listed(header.get("params", ""))),
        names=frozenset(_listed(header.get("names", ""))),
        documentation=" ".join(documentation),
        text="\n".join(body).strip(),
    )
    _check(query, path)
    return query


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _check(query: Query, path: Path) -> None:
    where = f"{path}: {query.name}"
    if not query.text or not query.documentation:
        raise ValueError(f"{where} lacks its text or its documentation")
    if query.mode not in _MODES:
        raise ValueError(f"{where}: mode must be one of {', '.join(_MODES)}")
    bare = _QUOTED_OR_COMMENT.sub("", query.text)
    for kind, declared, pattern in (("params", query.params, _PARAMETER), ("names", query.names, _PLACEHOLDER)):
        used = frozenset(pattern.findall(bare))
        if used != declared:
            raise ValueError(f"{where}: {kind} declares {sorted(declared)} and uses {sorted(used)}")
