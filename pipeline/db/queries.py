"""The loader of ``cypher/*.cypher``, and of a domain's ``*.cypher``: named queries with declared modes and parameters.

A file may open with comments about itself. A query begins with a header of ``//`` lines and runs to the next header
(after aiosql's format)::

    // name: staged_documents
    // mode: read
    // params: corpus, generation
    // Documents that a crashed run left staged.
    MATCH ...

``mode`` is ``read``, ``write`` or ``schema``. ``params`` are values, passed as parameters. ``names`` are identifiers
for which Cypher has no parameters (index names, labels and relationship types): the text holds them as ``<index>``, and
:meth:`Query.text_with` fills them in. They may only consist of letters, digits and underscores; several are separated
by ``|``: relationship types stay so, properties become a list, ``n.<fields>`` for example ``n.text, n.title``.

A fragment is a condition, or some clauses, that queries share. Any file may define it, and the queries of all files may
use it::

    // fragment: visible(item, generation)
    // The generation sees the node or relationship.
    <item>.since <= <generation> AND <item>.until > <generation>

A query uses it as ``<visible(c, $generation)>``, which the loader replaces by the text: in parentheses, but for
clauses, which begin with MATCH, OPTIONAL MATCH or CALL. Arguments are variables, properties or parameters.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from pipeline.registry import registry
from pipeline.resources import resource_folder

_SECTION = re.compile(r"^(?=//\s*(?:name|fragment):)", re.MULTILINE)
_HEADER = re.compile(r"^//\s*(name|fragment|mode|params|names):\s*(.*?)\s*$")
_MODES = ("read", "write", "schema")
_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")
_PLACEHOLDER = re.compile(r"<([a-z_]+)>")
_PROPERTIES = re.compile(r"\b(\w+)\.<([a-z_]+)>")
_CALL = re.compile(r"<([a-z_]+)\(([^\n]*?)\)>")
_SIGNATURE = re.compile(r"([a-z_]+)\(([a-z_]+(?:, [a-z_]+)*)\)")
_ARGUMENT = re.compile(r"\$?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?")
_IDENTIFIER = re.compile(r"[^\W\d_]\w{0,62}")
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
        quoted = {}
        for name, identifiers in names.items():
            parts = identifiers.split("|")
            if not all(map(_IDENTIFIER.fullmatch, parts)):
                raise ValueError(f"{self.name}: {name} can't be {identifiers!r}")
            # Letters beyond ASCII: Python and Cypher may differ in which of them a bare identifier may hold.
            quoted[name] = [part if part.isascii() else f"`{part}`" for part in parts]
        text = _PROPERTIES.sub(lambda match: ", ".join(f"{match[1]}.{name}" for name in quoted[match[2]]), self.text)
        return _PLACEHOLDER.sub(lambda match: "|".join(quoted[match[1]]), text)


@dataclass(frozen=True, slots=True)
class Fragment:
    """A condition, or some clauses, that queries share; ``text`` holds its ``<parameters>`` unfilled."""

    name: str
    parameters: tuple[str, ...]
    documentation: str
    text: str

    def text_with(self, arguments: Sequence[str]) -> str:
        """Return the text with its parameters filled in, in their order; a condition is put in parentheses.

        Raises ValueError unless there is an argument for each, a variable, property or parameter of a query.
        """
        if len(arguments) != len(self.parameters):
            raise ValueError(f"{self.name} takes {len(self.parameters)} arguments, not {len(arguments)}")
        for argument in arguments:
            if not _ARGUMENT.fullmatch(argument):
                raise ValueError(f"{self.name} can't be given {argument!r}")
        filled = dict(zip(self.parameters, arguments, strict=True))
        text = _PLACEHOLDER.sub(lambda match: filled[match[1]], self.text)
        return text if text.startswith(("MATCH", "OPTIONAL MATCH", "CALL")) else f"({text})"


NO_FRAGMENTS: Mapping[str, Fragment] = MappingProxyType({})

_Named = TypeVar("_Named", Query, Fragment)


@cache
def load_queries() -> Mapping[str, Query]:
    """Read all queries of ``cypher/`` and of the domains, with their fragments filled in; return them by name.

    A domain's queries may use the fragments of ``cypher/`` and its own. Raises ValueError on a duplicate name, a
    missing header or documentation, any difference between declared and used parameters, and a call of an unknown
    fragment or with other arguments than it takes; ConfigurationError if a package brings the domain at fault.
    """
    queries, fragments = _read_folder(resource_folder("cypher"), {}, NO_FRAGMENTS)
    for domain in registry().domains:
        queries, _ = domain.guarded(partial(_read_folder, domain.folder, queries, fragments))
    return queries


def _read_folder(
    folder: Path, queries: Mapping[str, Query], fragments: Mapping[str, Fragment]
) -> tuple[Mapping[str, Query], Mapping[str, Fragment]]:
    """Return the given queries and fragments with those of the files below a folder."""
    sources = [(path, path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.cypher"))]
    known = _by_name(fragments, ((path, one) for path, source in sources for one in parse_fragments(source, path)))
    read = _by_name(queries, ((path, one) for path, source in sources for one in parse_queries(source, path, known)))
    return read, known


def parse_queries(source: str, path: Path, fragments: Mapping[str, Fragment] = NO_FRAGMENTS) -> Iterable[Query]:
    """Parse one file's queries, in their order; raises ValueError as :func:`load_queries` does, naming ``path``."""
    for header, documentation, text in _sections(source, path, "name"):
        where = f"{path}: {header['name']}"
        params, names = (frozenset(_listed(header.get(kind, ""))) for kind in ("params", "names"))
        text = _CALL.sub(partial(_filled, fragments, where), text)
        if not text or not documentation:
            raise ValueError(f"{where} lacks its text or its documentation")
        if header.get("mode") not in _MODES:
            raise ValueError(f"{where}: mode must be one of {', '.join(_MODES)}")
        bare = _QUOTED_OR_COMMENT.sub("", text)
        for kind, declared, pattern in (("params", params, _PARAMETER), ("names", names, _PLACEHOLDER)):
            used = frozenset(pattern.findall(bare))
            if used != declared:
                raise ValueError(f"{where}: {kind} declares {sorted(declared)} and uses {sorted(used)}")
        yield Query(header["name"], header["mode"], params, names, documentation, text)


def parse_fragments(source: str, path: Path) -> Iterable[Fragment]:
    """Parse one file's fragments, in their order; raises ValueError, naming ``path``, on one that isn't complete."""
    for header, documentation, text in _sections(source, path, "fragment"):
        signature = header["fragment"]
        match = _SIGNATURE.fullmatch(signature)
        if match is None:
            raise ValueError(f"{path}: {signature!r} is no fragment; write it as name(parameter, parameter)")
        if not text or not documentation:
            raise ValueError(f"{path}: {signature} lacks its text or its documentation")
        parameters = tuple(_listed(match[2]))
        # A fragment must mean the same in every query: it depends on its parameters alone.
        used = set(_PLACEHOLDER.findall(text))
        if used != set(parameters) or _PARAMETER.search(text) or _CALL.search(text):
            raise ValueError(f"{path}: {signature} must use exactly its parameters, and no fragment")
        yield Fragment(match[1], parameters, documentation, text)


def _sections(source: str, path: Path, kind: str) -> Iterator[tuple[Mapping[str, str], str, str]]:
    """Yield the header, the documentation and the text of each part of a file that begins with ``kind``."""
    comment, *sections = _SECTION.split(source)
    for line in comment.splitlines():
        if line.strip() and not line.startswith("//"):
            raise ValueError(f"{path}: {line[:80]!r} stands before the first header; begin its query with // name:")
    for section in (section for section in sections if re.match(rf"//\s*{kind}:", section)):
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
        yield header, " ".join(documentation), "\n".join(body).strip()


def _filled(fragments: Mapping[str, Fragment], where: str, call: re.Match[str]) -> str:
    if call[1] not in fragments:
        raise ValueError(f"{where}: there is no fragment {call[1]!r}; known: {', '.join(fragments) or 'none'}")
    try:
        return fragments[call[1]].text_with(_listed(call[2]))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _by_name(known: Mapping[str, _Named], named: Iterable[tuple[Path, _Named]]) -> Mapping[str, _Named]:
    by_name = dict(known)
    for path, value in named:
        if value.name in by_name:
            raise ValueError(f"{path}: the name {value.name} is given twice")
        by_name[value.name] = value
    return MappingProxyType(by_name)
