"""Node-link JSON, as networkx reads and writes it (``networkx.node_link_graph``).

networkx has no graph whose edges are partly directed. Where all are undirected, so is the document; otherwise it is
directed, and each undirected edge stands there both ways: the second, marked ``"reverse": true``, is passed over when
the document is imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from pipeline.errors import GraphError
from pipeline.ids import digest
from pipeline.knowledge.exchange.json_format import list_of, load_json
from pipeline.knowledge.exchange.plain import edge_mapping, edge_of, node_mapping, node_of
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode

_NODE_TYPE = "node"
_EDGE_TYPE = "edge"


def write_node_link(name: str, nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge], file: TextIO) -> None:
    """Write a multigraph whose node and edge attributes are the records' fields."""
    ordered = sorted(edges, key=lambda edge: edge.id)
    directed = not ordered or any(edge.directed for edge in ordered)
    document = {
        "directed": directed,
        "multigraph": True,
        "graph": {"name": name},
        "nodes": [node_mapping(node) for node in sorted(nodes, key=lambda node: node.id)],
        "edges": [link for edge in ordered for link in _links(edge, both=directed and not edge.directed)],
    }
    json.dump(document, file, ensure_ascii=False)
    file.write("\n")


def read_node_link(path: Path) -> tuple[Iterator[KnowledgeNode], Iterator[KnowledgeEdge]]:
    """Return the nodes and edges of what :func:`write_node_link` or networkx wrote.

    Attributes that no node or edge has become properties; a node without a type is of the type ``node``, an edge of
    ``edge``, and edges are directed as the document is.
    """
    document = load_json(path)
    links = list_of(document, "links" if "links" in document and "edges" not in document else "edges", path)
    directed = bool(document.get("directed", False))
    nodes = (_node(found, path) for found in list_of(document, "nodes", path))
    edges = (
        _edge(found, path, directed=directed)
        for found in links
        if not (isinstance(found, Mapping) and found.get("reverse") is True)
    )
    return nodes, edges


def foreign(found: Mapping[str, Any], fields: tuple[str, ...], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record's fields from another program's attributes: what is none of them becomes a property."""
    own = {name: value for name, value in found.items() if name in fields and name != "properties"}
    given = found.get("properties")
    properties = dict(given) if isinstance(given, Mapping) else {} if given is None else {"properties": given}
    properties.update((name, value) for name, value in found.items() if name not in fields)
    return {**defaults, **own, **({"properties": properties} if properties else {})}


def _links(edge: KnowledgeEdge, *, both: bool) -> Iterator[dict[str, Any]]:
    link = {**edge_mapping(edge), "key": edge.id}
    yield link
    if both:
        yield {**link, "source": edge.target, "target": edge.source, "key": f"{edge.id} reverse", "reverse": True}


def _node(found: object, path: Path) -> KnowledgeNode:
    if not isinstance(found, Mapping) or "id" not in found:
        raise GraphError(f"{path} has the node {str(found)[:60]!r} without an id.", "Give every node an id.")
    given = foreign(found, KnowledgeNode.__slots__, {"type": _NODE_TYPE})
    return node_of({**given, "id": str(found["id"]), "type": str(given["type"])})


def _edge(found: object, path: Path, *, directed: bool) -> KnowledgeEdge:
    if not isinstance(found, Mapping) or not {"source", "target"} <= found.keys():
        raise GraphError(f"{path} has the edge {str(found)[:60]!r} without its ends.", "Give a source and a target.")
    ends = {end: str(found[end]) for end in ("source", "target")}
    # networkx tells parallel edges by a key, which only between two nodes is a name.
    key = {"id": digest("edge", *ends.values(), str(found["key"]))} if found.get("key") else {}
    rest = {name: value for name, value in found.items() if name != "key"}
    given = foreign(rest, KnowledgeEdge.__slots__, {"type": _EDGE_TYPE, "directed": directed, **key})
    return edge_of({**given, **ends, "type": str(given["type"])})
