"""JSON: records as mappings, in one document, or in JSON Lines with one node or edge a line for graphs of any size."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from functools import partial
from heapq import merge
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO, TypeVar

from pipeline.db.client import batches
from pipeline.errors import GraphError
from pipeline.files import Guard, lines, read_json
from pipeline.files.limits import LARGE_LIMITS
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode

_Record = TypeVar("_Record")

FORMAT = "hoprank-graph"
VERSION = 1  # of the format: raised if older readers would misread a file

_EMPTY: tuple[object, ...] = (None, (), {}, [])
_RUN = 100_000  # lines that are sorted in memory; chosen by hand
_dumped = partial(json.dumps, ensure_ascii=False)

_GUARD = Guard(GraphError, "Give a graph that was exported.", LARGE_LIMITS)
_LINES = Guard(
    GraphError,
    'A line is {"node": {"id": ..., "type": ...}} or {"edge": {"source": ..., "target": ..., "type": ...}}.',
    LARGE_LIMITS,
)


def write_json(name: str, nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge], file: TextIO) -> None:
    """Write ``{"format", "version", "name", "nodes", "edges"}``, one node or edge a line, ordered by id."""
    file.write(_dumped({"format": FORMAT, "version": VERSION, "name": name})[:-1])
    parts: dict[str, Iterable[KnowledgeNode | KnowledgeEdge]] = {"nodes": nodes, "edges": edges}
    for part, records in parts.items():
        file.write(f',\n"{part}": [')
        for place, record in enumerate(sorted(records, key=lambda record: record.id)):
            file.write((",\n" if place else "\n") + _dumped(mapping_of(record)))
        file.write("]")
    file.write("}\n")


def read_document(path: Path) -> tuple[Iterator[KnowledgeNode], Iterator[KnowledgeEdge]]:
    """Return the nodes and edges of a document written by :func:`write_json`; raises GraphError if it is another."""
    document = load_json(path)
    if document.get("format") != FORMAT or document.get("version") != VERSION:
        raise GraphError(
            f"{path} is no {FORMAT} of version {VERSION}.",
            'It begins with {"format": "hoprank-graph", "version": 1, ...}; of networkx, GraphML is read.',
        )
    nodes, edges = (list_of(document, part, path) for part in ("nodes", "edges"))
    return map(node_of, nodes), map(edge_of, edges)


def write_jsonl(nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge], file: TextIO) -> None:
    """Write each node as ``{"node": ...}``, then each edge as ``{"edge": ...}``, a line each, sorted."""
    parts: dict[str, Iterable[KnowledgeNode | KnowledgeEdge]] = {"node": nodes, "edge": edges}
    for kind, records in parts.items():
        with ExitStack() as stack:
            runs = []
            for lines_of_run in batches((_dumped({kind: mapping_of(record)}) + "\n" for record in records), _RUN):
                run = stack.enter_context(TemporaryFile("w+", encoding="utf-8", newline="\n"))
                run.writelines(sorted(lines_of_run))
                run.seek(0)
                runs.append(run)
            file.writelines(merge(*runs))


def read_jsonl(path: Path) -> tuple[Iterator[KnowledgeNode], Iterator[KnowledgeEdge]]:
    """Return the nodes and the edges, in the order of the lines, which may be mixed.

    Both generators read the file, line by line, each for itself, and close it at their end.
    """
    return _records(path, "node", node_of), _records(path, "edge", edge_of)


def load_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; raises GraphError if it holds none."""
    document = read_json(path, _GUARD)
    if not isinstance(document, dict):
        raise _GUARD.fault(path, "holds no JSON mapping")
    return document


def list_of(document: dict[str, Any], name: str, path: Path) -> list[Any]:
    """Return the list of that name; raises GraphError if the document has none."""
    values = document.get(name)
    if not isinstance(values, list):
        raise _GUARD.fault(path, f"has no list of {name}")
    return values


def mapping_of(record: KnowledgeNode | KnowledgeEdge) -> dict[str, Any]:
    """Return a node or an edge as a mapping, without its empty fields; properties are ordered by name."""
    values = ((name, _ordered(getattr(record, name))) for name in record.__slots__)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values if value not in _EMPTY}


def _ordered(value: object) -> Any:
    return {name: _ordered(value[name]) for name in sorted(value)} if isinstance(value, Mapping) else value


def node_of(mapping: object) -> KnowledgeNode:
    """Return the node of a mapping; raises GraphError naming unknown or missing fields."""
    return KnowledgeNode(**_checked(mapping, "node", KnowledgeNode.__slots__, ("id", "type")))


def edge_of(mapping: object) -> KnowledgeEdge:
    """Return the edge of a mapping; raises GraphError naming unknown or missing fields."""
    return KnowledgeEdge(**_checked(mapping, "edge", KnowledgeEdge.__slots__, ("source", "target", "type")))


def _checked(mapping: object, kind: str, names: tuple[str, ...], needed: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(mapping, Mapping):
        raise GraphError(f"{str(mapping)[:60]!r} is no {kind}.", f"A {kind} is a mapping with {', '.join(names)}.")
    if unknown := [str(name) for name in mapping if name not in names]:
        id_ = str(mapping.get("id", mapping))[:60]
        raise GraphError(
            f"The {kind} {id_!r} has {', '.join(sorted(unknown)[:5])}, as no {kind} has.",
            f"A {kind} has {', '.join(names)}; put anything else into its properties.",
        )
    if missing := [name for name in needed if name not in mapping]:
        raise GraphError(
            f"The {kind} {str(mapping)[:60]!r} lacks {', '.join(missing)}.", f"Every {kind} needs {', '.join(needed)}."
        )
    return dict(mapping)


def _records(path: Path, kind: str, record_of: Callable[[object], _Record]) -> Iterator[_Record]:
    others = '{"edge": ' if kind == "node" else '{"node": '
    with closing(lines(path, _LINES)) as read:
        for line in read:
            if line.text.startswith(others):  # skips exported lines of the other kind without parsing them
                continue
            value = line.json()
            if not isinstance(value, dict) or len(value) != 1 or not value.keys() <= {"node", "edge"}:
                raise line.fault("is neither a node nor an edge")
            if kind in value:
                yield record_of(value[kind])
