"""Graph files in JSON, JSON Lines and GraphML: choose the format, write atomically."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from pipeline.errors import GraphError
from pipeline.knowledge.exchange.graphml import read_graphml, write_graphml
from pipeline.knowledge.exchange.json_format import read_document, read_jsonl, write_json, write_jsonl
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode
from pipeline.temporary import replacing

Content: TypeAlias = tuple[Iterator[KnowledgeNode], Iterator[KnowledgeEdge]]
"""Nodes and edges of a file. They are parsed lazily: a malformed record raises GraphError when it is reached."""


class Format(StrEnum):
    """The file formats of a graph."""

    JSON = "json"  # one JSON document
    JSONL = "jsonl"  # one node or edge a line: for graphs of any size
    GRAPHML = "graphml"  # XML for networkx, Gephi, yEd and Cytoscape


def format_of(path: Path, name: Format | str | None) -> Format:
    """Return the format of that name, or without a name that of the file's suffix; raises GraphError if unknown."""
    try:
        return Format(name or path.suffix.removeprefix(".").lower())
    except ValueError:
        raise GraphError(
            f"What format {path} has can't be told" + (f" from {name!r}." if name else " from its name."),
            f"Give one of {', '.join(Format)}.",
        ) from None


def write_graph(
    name: str, nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge], path: Path, form: Format | str | None
) -> None:
    """Write a graph to ``path`` atomically; raises GraphError if the format is unknown or the file can't be written."""
    kind = format_of(path, form)
    try:
        with replacing(path) as partial:
            if kind is Format.GRAPHML:
                write_graphml(nodes, edges, partial)
                return
            with partial.open("w", encoding="utf-8", newline="\n") as file:
                if kind is Format.JSON:
                    write_json(name, nodes, edges, file)
                else:
                    write_jsonl(nodes, edges, file)
    except OSError as error:
        raise GraphError(f"{path} can't be written ({error.strerror}).", "Give a file in a folder of yours.") from error


def read_graph(path: Path, form: Format | str | None) -> Content:
    """Return the nodes and edges of a file; raises GraphError if the format is unknown or the file can't be read."""
    kind = format_of(path, form)
    readers = {Format.JSON: read_document, Format.JSONL: read_jsonl, Format.GRAPHML: read_graphml}
    try:
        with path.open("rb"):
            return readers[kind](path)
    except OSError as error:
        raise GraphError(f"{path} can't be read ({error}).", "Give a graph that was exported.") from error
