"""Node-link JSON, as networkx reads and writes it (``networkx.node_link_graph``).

A networkx graph is either directed or undirected. If all edges are undirected, so is the document. Otherwise it is
directed, and each undirected edge is written in both directions; an import skips the second, which is marked
``"reverse": true``.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from pipeline.errors import GraphError
from pipeline.ids import digest
from pipeline.knowledge.exchange.json_format import edge_of, list_of, load_json, mapping_of, node_of
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode


def write_node_link(name: str, nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge], file: TextIO) -> None:
    """Write a multigraph, ordered by id; node and edge attributes are the records' fields."""
    ordered = sorted(edges, key=lambda edge: edge.id)
    directed = not ordered or any(edge.directed for edge in ordered)
    links = []
    for edge in ordered:
        link = {**mapping_of(edge), "key": edge.id}
        links.append(link)
        if directed and not edge.directed:
            ends = {"source": edge.target, "target": edge.source}
            links.append({**link, **ends, "key": f"{edge.id} reverse", "reverse": True})
    document = {
        "directed": directed,
        "multigraph": True,
        "graph": {"name": name},
        "nodes": [mapping_of(node) for node in sorted(nodes, key=lambda node: node.id)],
        "edges": links,
    }
    json.dump(document, file, ensure_ascii=False)
    file.write("\n")


def read_node_link(path: Path) -> tuple[Iterator[KnowledgeNode], Iterator[KnowledgeEdge]]:
    """Return the nodes and edges of a document written by :func:`write_node_link` or networkx.

    Unknown attributes become properties. The default types are ``node`` and ``edge``. Edges are directed by default if
    the document is. Raises GraphError if the file is no such document.
    """
    document = load_json(path)
    links = list_of(document, "links" if "links" in document and "edges" not in document else "edges", path)
    directed = bool(document.get("directed", False))
    nodes = (_node(node, path) for node in list_of(document, "nodes", path))
    edges = (
        _edge(link, path, directed=directed)
        for link in links
        if not (isinstance(link, Mapping) and link.get("reverse") is True)
    )
    return nodes, edges


def from_foreign(attributes: Mapping[str, Any], fields: tuple[str, ...], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record's fields from another program's attributes; attributes outside ``fields`` become properties."""
    own = {name: value for name, value in attributes.items() if name in fields and name != "properties"}
    nested = attributes.get("properties")
    properties = dict(nested) if isinstance(nested, Mapping) else {} if nested is None else {"properties": nested}
    properties.update((name, value) for name, value in attributes.items() if name not in fields)
    return {**defaults, **own, **({"properties": properties} if properties else {})}


def _node(node: object, path: Path) -> KnowledgeNode:
    if not isinstance(node, Mapping) or "id" not in node:
        raise GraphError(f"{path} has the node {str(node)[:60]!r} without an id.", "Give every node an id.")
    record = from_foreign(node, KnowledgeNode.__slots__, {"type": "node"})
    return node_of({**record, "id": str(node["id"]), "type": str(record["type"])})


def _edge(link: object, path: Path, *, directed: bool) -> KnowledgeEdge:
    if not isinstance(link, Mapping) or not {"source", "target"} <= link.keys():
        raise GraphError(f"{path} has the edge {str(link)[:60]!r} without its ends.", "Give a source and a target.")
    ends = {end: str(link[end]) for end in ("source", "target")}
    # The key of a networkx edge is unique only between its two nodes, so the id includes them.
    key = {"id": digest("edge", *ends.values(), str(link["key"]))} if link.get("key") else {}
    rest = {name: value for name, value in link.items() if name != "key"}
    record = from_foreign(rest, KnowledgeEdge.__slots__, {"type": "edge", "directed": directed, **key})
    return edge_of({**record, **ends, "type": str(record["type"])})
