"""Cutting a part out of a graph, so that it is whole by itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Sequence

from pipeline.knowledge.records import KnowledgeNode
from pipeline.knowledge.store.memory import MemoryStore
from pipeline.knowledge.store.protocol import Store


def cut(store: Store, node_ids: Sequence[str]) -> MemoryStore:
    """Return these nodes of a graph with the edges among them; parents and children outside are left out."""
    nodes = store.nodes(node_ids)
    inside = (_within(node, nodes) for node in nodes.values())
    return MemoryStore(store.name, inside, store.edges_among(node_ids))


def _within(node: KnowledgeNode, inside: Container[str]) -> KnowledgeNode:
    parent = node.parent_id if node.parent_id is not None and node.parent_id in inside else None
    children = [child for child in node.child_ids if child in inside]
    return dataclasses.replace(node, parent_id=parent, child_ids=children)
