"""Write a corpus for ``neo4j-admin database import full``: its nodes and edges as the graph holds them, as CSV.

A property has one type in a table, so what has another type begins another table, and what no table can hold is kept
as JSON: :mod:`pipeline.ingest.update.complete` restores it. The header of a table is a file of its own, written last.
"""

import json
import math
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from neo4j import Record
from neo4j.time import DateTime
from neo4j.vector import Vector

from pipeline.db.corpus import CorpusHandle
from pipeline.db.filterable import DECLARED
from pipeline.db.indexes import LIVE
from pipeline.errors import SourceError
from pipeline.ingest.update.complete import AS_JSON
from pipeline.records import METADATA
from pipeline.transfer.formats import SCRIPT, TABLES, Part

MOST_TABLES = 16  # of a kind, for properties of several types, all of them open; chosen by hand
MOST_COLUMNS = 500  # of a table: a row is as long as the place of its last one; chosen by hand

_SEPARATOR = "\x1f"  # between the items of a list
_NO_NAME = frozenset("{}()")  # what a header takes for options and groups, with characters that aren't printable
_TYPES = {bool: "boolean", int: "long", float: "double", str: "string"}
_NODE = ("id:ID", ":LABEL")
_EDGE = (":START_ID", ":END_ID", ":TYPE")
_OF_THE_SERVER = ("writer", "writer_since", "writer_seen", "staging", "text_index", "lock")
_SCRIPT = """#!/bin/sh
# Makes a whole database of the corpus in this folder: sh import.sh [DATABASE] [--overwrite-destination]
# Run it where Neo4j is, as its user, with the database stopped or missing. Then start the database,
# and complete the corpus, which lacks its indexes: hoprank migrate
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- neo4j
{command}
"""
_LEAST_BUFFER = 4 * 2**20  # bytes; the default of the import, which holds no value that is longer


def stored(corpus: CorpusHandle) -> Iterator[Part]:
    """Yield the visible nodes and edges of a corpus as they are stored, streamed: ids, labels and properties.

    What people said of hits and the lease aren't parts of the corpus. Raises Superseded if another generation was
    published meanwhile, whose garbage may be missing.
    """
    head = next((dict(row["corpus"]) for row in corpus.client.read("corpus_named", name=corpus.name)), {})
    if (head.get("id"), head.get("generation")) != (corpus.id, corpus.generation):
        raise corpus.superseded()
    counts: Counter[str] = Counter()
    yield _node("corpus", "HopRankCorpus", {name: value for name, value in head.items() if name not in _OF_THE_SERVER})
    rows = chain(
        _nodes("document", "HopRankDocument", corpus.stream("stored_documents_whole", live=LIVE)),
        _nodes("chunk", "", corpus.stream("stored_chunks_whole", live=LIVE)),
        _nodes("entity", "HopRankEntity", corpus.stream("stored_entities_whole")),
        _nodes("counts", "HopRankTally", corpus.stream("stored_counts_whole", live=LIVE)),
        map(_edge, corpus.stream("stored_edges_whole", live=LIVE)),
    )
    for part in rows:
        counts[part.value["fixed"][-1] if part.kind == "edge" else part.kind] += 1
        yield part
    record = corpus.record
    expected = {"document": record.documents, "chunk": record.chunks, "entity": record.entities, **record.edges}
    if any(counts[kind] != size for kind, size in expected.items()):
        raise corpus.superseded()


def _nodes(kind: str, label: str, rows: Iterable[Record]) -> Iterator[Part]:
    for row in rows:
        yield _node(kind, label or _SEPARATOR.join(row["labels"]), _properties(row))


def _edge(row: Record) -> Part:
    return Part("edge", {"fixed": (row["source"], row["target"], row["kind"]), "properties": _properties(row)})


def _node(kind: str, labels: str, properties: dict[str, Any]) -> Part:
    return Part(kind, {"fixed": (properties.pop("id"), labels), "properties": properties})


def _properties(row: Record) -> dict[str, Any]:
    values = {**row["properties"], "embedding": row.get("vector")}
    if values.get("links") == []:
        del values["links"]  # missing ones are read as none, and most chunks have none
    return {name: value for name, value in values.items() if value is not None}


def write_neo4j_admin(parts: Iterable[Part], path: Path) -> None:
    """Write :func:`stored` parts as tables into the new folder ``path``, and the command that imports them."""
    path.mkdir()
    with ExitStack() as stack:
        kinds = {kind: _Tables(stack, path, name, _EDGE if kind == "edge" else _NODE) for kind, name in TABLES.items()}
        for part in parts:
            kinds[part.kind].write(part.value["fixed"], part.value["properties"])
    tables = [(kind, table) for kind, of_kind in kinds.items() for table in of_kind.tables]
    for _, table in tables:
        table.write_header()
    longest = max((table.longest for _, table in tables), default=0)
    files = (f"--{'relationships' if kind == 'edge' else 'nodes'}={table.files}" for kind, table in tables)
    (path / SCRIPT).write_text(_script([*_options(longest), *files]), encoding="utf-8")


def _options(longest: int) -> list[str]:
    return [
        f"--array-delimiter=U+{ord(_SEPARATOR):04X}",
        "--multiline-fields=true",
        # In characters, of which each has two bytes, and as many again for the rest of what is read at once.
        f"--read-buffer-size={max(_LEAST_BUFFER, 4 * longest)}",
    ]


def _script(arguments: Iterable[str]) -> str:
    command = ('exec "${NEO4J_ADMIN:-neo4j-admin}" database import full "$@"', *map(shlex.quote, arguments))
    return _SCRIPT.format(command=" \\\n  ".join(command))


class _Table:
    """A file of rows and, apart, its header: a row may end before the columns that later rows bring."""

    def __init__(self, path: Path, fixed: tuple[str, ...], file: TextIO) -> None:
        self.types: dict[str, str] = {}
        self.longest = 0
        self._path = path
        self._fixed = fixed
        self._file = file

    @property
    def files(self) -> str:
        """The names of the header and the rows, as the import takes them."""
        return f"./{self._path.stem}.header.csv,./{self._path.name}"  # it wants folders before names

    def conflicts(self, types: Mapping[str, str]) -> set[str]:
        """Return the properties that have other types here, or no room."""
        room = MOST_COLUMNS - len(self.types)
        # HopRank's own, such as vectors, which JSON can't hold, are few and always find room.
        new = [name for name in types if name not in self.types and name.startswith((METADATA, DECLARED))]
        return {name for name, type_ in types.items() if self.types.get(name, type_) != type_} | {*new[max(room, 0) :]}

    def write(self, fixed: tuple[str, ...], texts: Mapping[str, str], types: Mapping[str, str]) -> None:
        """Write a row of the values as ``texts``, which don't conflict."""
        for name, type_ in types.items():
            self.types.setdefault(name, type_)
        last = len(texts)
        cells = [*map(_quoted, fixed)]
        for name in self.types:
            if not last:
                break
            text = texts.get(name)
            last -= text is not None
            cells.append("" if text is None else text)
        self.longest = max(self.longest, *map(len, cells))
        self._file.write(",".join(cells) + "\n")

    def write_header(self) -> None:
        """Write the file of the header."""
        names = (*self._fixed, *(f"{name}:{type_}" for name, type_ in self.types.items()))
        header = ",".join(map(_quoted, names)) + "\n"
        self._path.with_name(f"{self._path.stem}.header.csv").write_text(header, encoding="utf-8")


class _Tables:
    """The tables of one kind of nodes, or of the edges."""

    def __init__(self, stack: ExitStack, folder: Path, name: str, fixed: tuple[str, ...]) -> None:
        self.tables: list[_Table] = []
        self._stack = stack
        self._folder = folder
        self._name = name
        self._fixed = fixed

    def write(self, fixed: tuple[str, ...], properties: Mapping[str, Any]) -> None:
        """Write a node or an edge into the first table that can hold its types."""
        texts, types, rest = {}, {}, {}
        for name, value in properties.items():
            cell = _cell(value) if name.isprintable() and not _NO_NAME & set(name) else None
            if cell is None:
                rest[name] = value
            else:
                types[name], texts[name] = cell
        table, conflicts = self._table(types)
        for name in conflicts:
            rest[name] = properties[name]
            del types[name], texts[name]
        if rest:
            types[AS_JSON], texts[AS_JSON] = "string", _quoted(json.dumps(rest, ensure_ascii=False, sort_keys=True))
        table.write(fixed, texts, types)

    def _table(self, types: Mapping[str, str]) -> tuple[_Table, set[str]]:
        for table in self.tables:
            if not table.conflicts(types):
                return table, set()
        if len(self.tables) < MOST_TABLES:
            path = self._folder / f"{self._name}-{len(self.tables) + 1}.csv"
            file = self._stack.enter_context(path.open("w", encoding="utf-8", newline=""))
            self.tables.append(_Table(path, self._fixed, file))
        return self.tables[-1], self.tables[-1].conflicts(types)


def _cell(value: Any) -> tuple[str, str] | None:
    """Return the type of a value, and the value as it is written; None if a CSV can't hold it for the import.

    Those are an empty list, a list of one empty text, a list of texts that hold the separator, and infinite numbers.
    """
    match value:
        case Vector():
            numbers = value.to_native()
            return "float[]", _SEPARATOR.join(["%.9g"] * len(numbers)) % tuple(numbers)
        case bytes():
            return "byte[]", _SEPARATOR.join(str(byte - 256 if byte > 127 else byte) for byte in value)
        case DateTime():
            return "datetime", value.iso_format()
        case list():
            items = [_scalar(item) for item in value]
            if value in ([], [""]) or any(item is None or _SEPARATOR in item for item in items):
                return None
            return f"{_TYPES[type(value[0])]}[]", _quoted(_SEPARATOR.join(map(str, items)))
        case _:
            text = _scalar(value)
            return None if text is None else (_TYPES[type(value)], _quoted(text) if isinstance(value, str) else text)


def _scalar(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else None
    if not isinstance(value, int | str):
        raise SourceError(f"A property is a {type(value).__name__}, which HopRank writes nowhere.", "Export as jsonl.")
    return str(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
