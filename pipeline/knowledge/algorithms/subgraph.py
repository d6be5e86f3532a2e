"""Induced subgraphs: some nodes of a graph and the edges among them, complete in themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Sequence

from pipeline.knowledge.records import KnowledgeNode
from pipeline.knowledge.store.memory import MemoryStore
from pipeline.knowledge.store.protocol import Store


def induced_subgraph(store: Store, node_ids: Sequence[str]) -> MemoryStore:
    """Return these nodes with the edges among them; links to parents and children outside are removed."""
    nodes = store.nodes(node_ids)
    restricted = (_restricted(node, nodes) for node in nodes.values())
    return MemoryStore(store.name, restricted, store.edges_among(node_ids))


def _restricted(node: KnowledgeNode, ids: Container[str]) -> KnowledgeNode:
    parent = node.parent_id if node.parent_id is not None and node.parent_id in ids else None
    children = [child for child in node.child_ids if child in ids]
    return dataclasses.replace(node, parent_id=parent, child_ids=children)
