"""Conversion between records and stored properties: native Neo4j values where that is lossless, JSON otherwise.

The property ``name`` is stored as ``p.name`` if Neo4j has its type: strings, booleans, 64-bit numbers, and non-empty
lists of one of these types. Otherwise it is stored as ``j.name``, a JSON string with sorted keys: None, mappings,
larger integers, and mixed, nested or empty lists. Both read back unchanged, and the server can compare both.
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
    """Return the stored name and value of a property."""
    if _is_native(value):
        return NATIVE + name, value
    return AS_JSON + name, json.dumps(value, sort_keys=True, ensure_ascii=False)


def stored_properties(properties: Mapping[str, Json]) -> dict[str, Any]:
    """Return a record's own properties by stored name."""
    return dict(stored_property(name, value) for name, value in properties.items())


def read_properties(stored: Mapping[str, Any]) -> dict[str, Json]:
    """Return a record's own properties from all stored ones, ordered by name."""
    properties: dict[str, Json] = {}
    for name, value in stored.items():
        if name.startswith(NATIVE):
            properties[name[2:]] = value
        elif name.startswith(AS_JSON):
            properties[name[2:]] = json.loads(value)
    return dict(sorted(properties.items()))


def node_key(graph_id: str, node_id: str) -> str:
    """Return the key of a node, unique among all graphs."""
    return digest(graph_id, "node", node_id)


def edge_key(graph_id: str, edge_id: str) -> str:
    """Return the key of an edge, unique among all graphs."""
    return digest(graph_id, "edge", edge_id)


def stored_node(graph_id: str, node: KnowledgeNode, now: str) -> dict[str, Any]:
    """Return a node's stored properties, without its embedding, parent and children.

    ``now`` is the default of both times.
    """
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
    """Return the node with these stored properties, parent and children."""
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
    """Return the edge with these stored properties and endpoints."""
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
