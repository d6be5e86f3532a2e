"""Which format a file has, and writing it whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from pipeline.errors import GraphError
from pipeline.knowledge.exchange.graphml import read_graphml, write_graphml
from pipeline.knowledge.exchange.json_format import read_json, read_jsonl, write_json, write_jsonl
from pipeline.knowledge.exchange.node_link import read_node_link, write_node_link
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode

Content: TypeAlias = tuple[Iterator[KnowledgeNode], Iterator[KnowledgeEdge]]
"""What a file holds; whatever is wrong with a node or edge is raised when it is come to."""


class Format(StrEnum):
    """What a graph can be written as and read from."""

    JSON = "json"
    """one document with all of it"""
    JSONL = "jsonl"
    """a node or an edge a line: for graphs of any size"""
    GRAPHML = "graphml"
    """for networkx, Gephi, yEd, Cytoscape"""
    NODE_LINK = "node-link"
    """the JSON that networkx reads and writes"""


def format_of(path: Path, given: Format | str | None) -> Format:
    """Return the format that was given, or else that of the file's suffix; raises GraphError if neither is one."""
    try:
        return Format(given or path.suffix.removeprefix(".").lower())
    except ValueError:
        raise GraphError(
            f"What format {path} has can't be told" + (f" from {given!r}." if given else " from its name."),
            f"Give one of {', '.join(Format)}.",
        ) from None


def write_graph(
    name: str, nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge], path: Path, given: Format | str | None
) -> None:
    """Write a graph beside ``path`` and then put it there, so that a reader never sees half of it."""
    kind = format_of(path, given)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        if kind is Format.GRAPHML:
            write_graphml(nodes, edges, partial)
        else:
            with partial.open("w", encoding="utf-8", newline="\n") as file:
                if kind is Format.JSON:
                    write_json(name, nodes, edges, file)
                elif kind is Format.JSONL:
                    write_jsonl(nodes, edges, file)
                else:
                    write_node_link(name, nodes, edges, file)
        partial.replace(path)
    except OSError as error:
        raise GraphError(f"{path} can't be written ({error.strerror}).", "Give a file in a folder of yours.") from error
    finally:
        partial.unlink(missing_ok=True)


def read_graph(path: Path, given: Format | str | None) -> Content:
    """Return what a file holds; raises GraphError if it can't be read, or has no format that is known."""
    kind = format_of(path, given)
    readers = {
        Format.JSON: read_json,
        Format.JSONL: read_jsonl,
        Format.GRAPHML: read_graphml,
        Format.NODE_LINK: read_node_link,
    }
    try:
        with path.open("rb"):
            return readers[kind](path)
    except (OSError, UnicodeDecodeError) as error:
        raise GraphError(f"{path} can't be read ({error}).", "Give a graph that was exported.") from error
