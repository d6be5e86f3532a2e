"""Storage of records: names of types; properties as native Neo4j values where that is lossless, else as JSON.

A node of the type ``api-design`` carries the label ``ApiDesign``, an edge of the type ``depends on`` is a relationship
``DEPENDS_ON``: Neo4j's naming conventions. The property ``type`` holds the type as written, which may be any text. Such
a name holds letters, digits and underscores alone, so it can't be anything but a name in Cypher.

A property is stored under its own name if Neo4j has its type: strings, booleans, 64-bit numbers, and non-empty lists of
one of these types. A name that HopRank uses itself, such as ``id`` or one that
begins with ``hoprank_``, is stored as ``p.id``. Any other value is stored as
``j.NAME``, a JSON string with sorted keys: None, mappings, larger integers, and mixed, nested or empty lists. All read
back unchanged, and the server can compare all.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.db.slots import OWN
from pipeline.db.vectors import to_bytes
from pipeline.ids import digest
from pipeline.knowledge.records import Json, KnowledgeEdge, KnowledgeNode, SupportedEdgeType
from pipeline.text.index_words import index_words

INDEX_WORDS = "index_words"
SEARCHED = ("name", "title", "description", "text")
"""Properties that full-text search covers besides a node's id and labels."""

NATIVE = "p."
AS_JSON = "j."
NODE_FIELDS = frozenset(
    {"key", "graph", "id", "type", "labels", "embedding", "embedding_hash", "text_hash", "created_at", "updated_at"}
    | {"valid_at", "invalid_at", "expired_at", INDEX_WORDS}
)
EDGE_FIELDS = frozenset(
    {"key", "graph", "id", "type", "weight", "directed", "supported"}
    | {"created_at", "valid_at", "invalid_at", "expired_at"}
)
"""Stored names that HopRank uses itself."""

MAX_TYPES = 250
"""Maximum number of node types, and of edge types, that a graph may bring: Neo4j never forgets a label or type."""

OWN_LABELS = "HopRank"
"""Every label that HopRank matches by itself begins so; a test compares those of ``cypher/schema.cypher``."""

_WORDS = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 50  # characters of a label that is legible in a browser; a longer one is cut and gets a digest
_TIMES = ("valid_at", "invalid_at", "expired_at")
_INTEGERS = range(-(2**63), 2**63)  # those that Neo4j stores


def stored_property(name: str, value: Json, own: frozenset[str] = NODE_FIELDS) -> tuple[str, Any]:
    """Return the stored name and value of a property; ``own`` are the names that HopRank uses itself."""
    prefixed, stored = prefixed_property(name, value)
    bare = prefixed.startswith(NATIVE) and name and name not in own and not name.startswith((NATIVE, AS_JSON, OWN))
    return (name if bare else prefixed), stored


def prefixed_property(name: str, value: Json) -> tuple[str, Any]:
    """Return a property's name with the prefix ``p.`` or, if its value needs JSON, ``j.``; and the value."""
    if _is_native(value):
        return NATIVE + name, value
    return AS_JSON + name, json.dumps(value, sort_keys=True, ensure_ascii=False)


def _stored_properties(properties: Mapping[str, Json], own: frozenset[str]) -> dict[str, Any]:
    return dict(stored_property(name, value, own) for name, value in properties.items())


def read_properties(stored: Mapping[str, Any], own: frozenset[str]) -> dict[str, Json]:
    """Return a record's own properties from all stored ones, ordered by name."""
    properties: dict[str, Json] = {}
    for name, value in stored.items():
        if name.startswith(NATIVE):
            properties[name[2:]] = value
        elif name.startswith(AS_JSON):
            properties[name[2:]] = json.loads(value)
        elif name not in own and not name.startswith(OWN):
            properties[name] = value
    return dict(sorted(properties.items()))


def node_key(graph_id: str, node_id: str) -> str:
    """Return the key of a node, unique among all graphs."""
    return digest(graph_id, "node", node_id)


def edge_key(graph_id: str, edge_id: str) -> str:
    """Return the key of an edge, unique among all graphs; it begins with :func:`edge_key_prefix`."""
    return edge_key_prefix(graph_id) + digest("edge", edge_id)


def edge_key_prefix(graph_id: str) -> str:
    """Return the beginning of the keys of a graph's edges."""
    return f"{graph_id}:"


def stored_node(graph_id: str, node: KnowledgeNode, now: str) -> dict[str, Any]:
    """Return a node's stored properties but the embedding; ``now`` is the default of both times."""
    created = node.created_at or now
    return {
        "key": node_key(graph_id, node.id),
        "graph": graph_id,
        "id": node.id,
        "type": node.type,
        "labels": list(node.labels),
        "created_at": created,
        "updated_at": node.updated_at or created,
        **_stored_times(node),
        **_index_words_of(node.id, node.labels, node.properties),
        **({"embedding_hash": digest(to_bytes(node.embedding).hex())} if node.embedding else {}),
        **_stored_properties(node.properties, NODE_FIELDS),
    }


def _index_words_of(id_: str, labels: Sequence[str], properties: Mapping[str, Any]) -> dict[str, str]:
    """Return the stored words of a node that are compared in another form than its texts have, if there are any."""
    own = [properties.get(name) for name in SEARCHED]
    words = index_words(id_, *labels, *(text for text in own if isinstance(text, str)))
    return {INDEX_WORDS: words} if words else {}


def read_node(stored: Mapping[str, Any], parent: str | None, children: Sequence[str]) -> KnowledgeNode:
    """Return the node with these stored properties, parent and children."""
    return KnowledgeNode(
        id=stored["id"],
        type=stored["type"],
        labels=stored["labels"],
        properties=read_properties(stored, NODE_FIELDS),
        embedding=stored.get("embedding"),
        created_at=stored["created_at"],
        updated_at=stored["updated_at"],
        parent_id=parent,
        child_ids=children,
        **{name: stored.get(name) for name in _TIMES},
    )


def stored_edge(graph_id: str, edge: KnowledgeEdge, now: str) -> dict[str, Any]:
    """Return an edge's stored properties; ``now`` is the default of ``created_at``."""
    return {
        "key": edge_key(graph_id, edge.id),
        "id": edge.id,
        "type": edge.type,
        "weight": edge.weight,
        "directed": edge.directed,
        "created_at": edge.created_at or now,
        **({"supported": edge.supported_edge_type.value} if edge.supported_edge_type else {}),
        **other_edge_properties(edge),
    }


def other_edge_properties(edge: KnowledgeEdge) -> dict[str, Any]:
    """Return an edge's stored properties that few edges have: the ends of its times, and its own properties."""
    return {**_stored_times(edge), **_stored_properties(edge.properties, EDGE_FIELDS)}


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
        properties=read_properties(stored, EDGE_FIELDS),
        created_at=stored.get("created_at"),
        **{name: stored.get(name) for name in _TIMES},
    )


def _stored_times(record: KnowledgeNode | KnowledgeEdge) -> dict[str, str]:
    return {name: time for name in _TIMES if (time := getattr(record, name)) is not None}


def _is_native(value: Json) -> bool:
    if isinstance(value, list):
        kinds = {type(item) for item in value}
        return len(kinds) == 1 and not isinstance(value[0], list) and all(_is_native(item) for item in value)
    return isinstance(value, bool | float | str) or (isinstance(value, int) and value in _INTEGERS)


def label_of(node_type: str) -> str:
    """Return the label of a node type; one that begins as HopRank's own labels do gets an underscore at its end."""
    words = _WORDS.findall(node_type)
    label = _named("".join(word[0].upper() + word[1:] for word in words), node_type, "Type")
    return f"{label}_" if label.startswith(OWN_LABELS) else label


def relationship_type_of(edge_type: str) -> str:
    """Return the relationship type of an edge type; ``CHILD_OF``, the hierarchy's, gets an underscore at its end."""
    words = _WORDS.findall(_CAMEL.sub(" ", edge_type))
    name = _named("_".join(word.upper() for word in words), edge_type, "TYPE")
    return f"{name}_" if name == "CHILD_OF" else name


def edge_index_of(relationship_type: str) -> str:
    """Return the name of the index that finds the edges of a relationship type by key."""
    return f"HopRankEdge_{digest(relationship_type)[:12]}"


def _named(name: str, written: str, prefix: str) -> str:
    """Return a name that isn't empty, doesn't begin with a digit, and is at most 63 characters long."""
    named = name if name[:1].isalpha() else f"{prefix}_{name}".rstrip("_")
    if name and len(named) <= _LONGEST:
        return named
    return f"{named[:_LONGEST]}_{digest(written)[:8]}"
