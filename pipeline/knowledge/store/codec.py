"""Between records and what Neo4j stores: a property stays native where that is exact, else it is kept as JSON.

The property ``name`` is stored as ``p.name`` where Neo4j has its kind (texts, numbers of 64 bits, truth values, lists
of one of these), and as ``j.name``, a text of JSON with sorted keys, otherwise (None, mappings, mixed, nested and
empty lists, larger numbers). So both read back as they were, and both can be compared on the server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.ids import digest
from pipeline.knowledge.records import Json, KnowledgeEdge, KnowledgeNode, SupportedEdgeType

NATIVE = "p."
AS_JSON = "j."
_INTEGERS = range(-(2**63), 2**63)


def stored_property(name: str, value: Json) -> tuple[str, Any]:
    """Return under which name a property is stored, and as what."""
    if _is_native(value):
        return NATIVE + name, value
    return AS_JSON + name, json.dumps(value, sort_keys=True, ensure_ascii=False)


def stored_properties(properties: Mapping[str, Json]) -> dict[str, Any]:
    """Return all of a record's own properties as they are stored."""
    return dict(stored_property(name, value) for name, value in properties.items())


def read_properties(stored: Mapping[str, Any]) -> dict[str, Json]:
    """Return a record's own properties from all that is stored, ordered by name."""
    found: dict[str, Json] = {}
    for name, value in stored.items():
        if name.startswith(NATIVE):
            found[name[2:]] = value
        elif name.startswith(AS_JSON):
            found[name[2:]] = json.loads(value)
    return dict(sorted(found.items()))


def node_key(graph_id: str, node_id: str) -> str:
    """Return what finds a node among those of all graphs."""
    return digest(graph_id, "node", node_id)


def edge_key(graph_id: str, edge_id: str) -> str:
    """Return what finds an edge among those of all graphs."""
    return digest(graph_id, "edge", edge_id)


def stored_node(graph_id: str, node: KnowledgeNode, now: str) -> dict[str, Any]:
    """Return a node's stored properties, but for its embedding and its place in the hierarchy."""
    created = node.created_at or now
    return {
        "key": node_key(graph_id, node.id),
        "graph": graph_id,
        "id": node.id,
        "type": node.type,
        "labels": list(node.labels),
        "created_at": created,
        "updated_at": node.updated_at or created,
        **stored_properties(node.properties),
    }


def read_node(stored: Mapping[str, Any], parent: str | None, children: Sequence[str]) -> KnowledgeNode:
    """Return the node of the stored properties and its place in the hierarchy."""
    return KnowledgeNode(
        id=stored["id"],
        type=stored["type"],
        labels=stored["labels"],
        properties=read_properties(stored),
        embedding=stored.get("embedding"),
        created_at=stored["created_at"],
        updated_at=stored["updated_at"],
        parent_id=parent,
        child_ids=children,
    )


def stored_edge(graph_id: str, edge: KnowledgeEdge) -> dict[str, Any]:
    """Return an edge's stored properties."""
    stored: dict[str, Any] = {
        "key": edge_key(graph_id, edge.id),
        "graph": graph_id,
        "id": edge.id,
        "type": edge.type,
        "weight": edge.weight,
        "directed": edge.directed,
    }
    if edge.supported_edge_type is not None:
        stored["supported"] = edge.supported_edge_type.value
    if edge.properties:
        stored.update(stored_properties(edge.properties))
    return stored


def read_edge(stored: Mapping[str, Any], source: str, target: str) -> KnowledgeEdge:
    """Return the edge of the stored properties between two nodes."""
    supported = stored.get("supported")
    return KnowledgeEdge(
        source=source,
        target=target,
        type=stored["type"],
        id=stored["id"],
        supported_edge_type=SupportedEdgeType(supported) if supported else None,
        weight=stored["weight"],
        directed=stored["directed"],
        properties=read_properties(stored),
    )


def _is_native(value: Json) -> bool:
    if isinstance(value, list):
        kinds = {type(item) for item in value}
        return len(kinds) == 1 and not isinstance(value[0], list) and all(_is_native(item) for item in value)
    return isinstance(value, bool | float | str) or (isinstance(value, int) and value in _INTEGERS)
