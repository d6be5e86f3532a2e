"""JSON: one document with all nodes and edges, or JSON Lines with one node or edge a line, for graphs of any size."""

import json
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TextIO, TypeVar

from pipeline.errors import GraphError
from pipeline.files import Guard, lines, read_json
from pipeline.files.limits import LARGE_LIMITS
from pipeline.knowledge.exchange.plain import edge_mapping, edge_of, node_mapping, node_of
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode

_Record = TypeVar("_Record")

FORMAT = "hoprank-graph"
VERSION = 1

_GUARD = Guard(GraphError, "Give a graph that was exported.", LARGE_LIMITS)
_LINES = Guard(
    GraphError,
    'A line is {"node": {"id": ..., "type": ...}} or {"edge": {"source": ..., "target": ..., "type": ...}}.',
    LARGE_LIMITS,
)


def write_json(name: str, nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge], file: TextIO) -> None:
    """Write ``{"format", "version", "name", "nodes", "edges"}``, one node or edge a line, ordered by id."""
    head = {"format": FORMAT, "version": VERSION, "name": name}
    file.write(_dumped(head)[:-1] + ',\n"nodes": [')
    _write_list((node_mapping(node) for node in sorted(nodes, key=lambda node: node.id)), file)
    file.write('],\n"edges": [')
    _write_list((edge_mapping(edge) for edge in sorted(edges, key=lambda edge: edge.id)), file)
    file.write("]}\n")


def read_document(path: Path) -> tuple[Iterator[KnowledgeNode], Iterator[KnowledgeEdge]]:
    """Return the nodes and edges of a document written by :func:`write_json`; raises GraphError if it is another."""
    document = load_json(path)
    if document.get("format") != FORMAT or document.get("version") != VERSION:
        raise GraphError(
            f"{path} is no {FORMAT} of version {VERSION}.",
            'It begins with {"format": "hoprank-graph", "version": 1, ...}; networkx\'s JSON is of format node-link.',
        )
    nodes, edges = (list_of(document, part, path) for part in ("nodes", "edges"))
    return map(node_of, nodes), map(edge_of, edges)


def write_jsonl(nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge], file: TextIO) -> None:
    """Write each node as ``{"node": ...}``, then each edge as ``{"edge": ...}``, a line each, in the given order."""
    for node in nodes:
        file.write(_dumped({"node": node_mapping(node)}) + "\n")
    for edge in edges:
        file.write(_dumped({"edge": edge_mapping(edge)}) + "\n")


def read_jsonl(path: Path) -> tuple[Iterator[KnowledgeNode], Iterator[KnowledgeEdge]]:
    """Return the nodes and the edges, in the order of the lines; nodes and edges may be mixed.

    Both are generators that read the file independently, line by line. Each closes it at the end or when the generator
    is closed.
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


def _records(path: Path, kind: str, record_of: Callable[[object], _Record]) -> Iterator[_Record]:
    with closing(_lines(path, kind)) as mappings:
        yield from map(record_of, mappings)


def _lines(path: Path, kind: str) -> Generator[object]:
    others = '{"edge": ' if kind == "node" else '{"node": '
    with closing(lines(path, _LINES)) as read:
        for line in read:
            if line.text.startswith(others):  # skips exported lines of the other kind without parsing them
                continue
            value = line.json()
            if not isinstance(value, dict) or len(value) != 1 or not value.keys() <= {"node", "edge"}:
                raise line.fault("is neither a node nor an edge")
            if kind in value:
                yield value[kind]


def _write_list(rows: Iterable[dict[str, Any]], file: TextIO) -> None:
    separator = "\n"
    for row in rows:
        file.write(separator + _dumped(row))
        separator = ",\n"


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
