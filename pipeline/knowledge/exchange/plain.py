"""Conversion between records and plain mappings of JSON values."""

from collections.abc import Mapping
from typing import Any

from pipeline.errors import GraphError
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode

_NODE = KnowledgeNode.__slots__
_EDGE = KnowledgeEdge.__slots__
_EMPTY: tuple[object, ...] = (None, (), {}, [])


def node_mapping(node: KnowledgeNode) -> dict[str, Any]:
    """Return a node as a mapping, without its empty fields."""
    return _mapping(node, _NODE)


def edge_mapping(edge: KnowledgeEdge) -> dict[str, Any]:
    """Return an edge as a mapping, without its empty fields."""
    return _mapping(edge, _EDGE)


def node_of(mapping: object) -> KnowledgeNode:
    """Return the node of a mapping; raises GraphError naming unknown or missing fields."""
    return KnowledgeNode(**_checked(mapping, "node", _NODE, ("id", "type")))


def edge_of(mapping: object) -> KnowledgeEdge:
    """Return the edge of a mapping; raises GraphError naming unknown or missing fields."""
    return KnowledgeEdge(**_checked(mapping, "edge", _EDGE, ("source", "target", "type")))


def _mapping(record: KnowledgeNode | KnowledgeEdge, names: tuple[str, ...]) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in names}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value not in _EMPTY
    }


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
