"""A graph in memory, apart from the server: what a subgraph is, and what imports and pictures work on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pipeline.knowledge.records import Direction, GraphSize, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.codec import stored_property
from pipeline.knowledge.store.neo4j import in_order
from pipeline.knowledge.store.protocol import Steps

_WORD = re.compile(r"\w+")
_SEARCHED = ("name", "title", "description", "text")
_ITERATIONS = 500
_TOLERANCE = 1e-12


class MemoryStore:
    """Nodes and edges by id; see :class:`pipeline.knowledge.store.protocol.Store`."""

    def __init__(self, name: str, nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge]) -> None:
        self.name = name
        self._nodes = {node.id: node for node in nodes}
        self._edges = {edge.id: edge for edge in edges}
        self._at: dict[str, list[KnowledgeEdge]] = defaultdict(list)
        for edge in self._edges.values():
            for end in {edge.source, edge.target}:
                self._at[end].append(edge)

    @property
    def dimension(self) -> int | None:
        """Length of the graph's embeddings; None if no node has one."""
        return next((len(node.embedding) for node in self._nodes.values() if node.embedding), None)

    def size(self) -> GraphSize:
        """Count nodes and edges."""
        return GraphSize(len(self._nodes), len(self._edges))

    def nodes(self, ids: Sequence[str]) -> dict[str, KnowledgeNode]:
        """Return the nodes of these ids that there are."""
        return {one: self._nodes[one] for one in ids if one in self._nodes}

    def all_nodes(self) -> Iterable[KnowledgeNode]:
        """Return every node."""
        return self._nodes.values()

    def nodes_of_type(self, node_type: str) -> Iterable[KnowledgeNode]:
        """Return the nodes of a type."""
        return [node for node in self._nodes.values() if node.type == node_type]

    def nodes_labelled(self, label: str) -> Iterable[KnowledgeNode]:
        """Return the nodes that have a label."""
        return [node for node in self._nodes.values() if label in node.labels]

    def nodes_with_property(self, key: str, value: Any) -> Iterable[KnowledgeNode]:
        """Return the nodes whose property ``key`` is ``value``."""
        wanted = stored_property(key, value)
        return [
            node
            for node in self._nodes.values()
            if key in node.properties and _same(stored_property(key, node.properties[key]), wanted)
        ]

    def edge(self, edge_id: str) -> KnowledgeEdge | None:
        """Return the edge of this id, if there is one."""
        return self._edges.get(edge_id)

    def all_edges(self) -> Iterable[KnowledgeEdge]:
        """Return every edge."""
        return self._edges.values()

    def edges_of_type(self, edge_type: str) -> Iterable[KnowledgeEdge]:
        """Return the edges of a type."""
        return [edge for edge in self._edges.values() if edge.type == edge_type]

    def edges_of_node(self, node_id: str, direction: Direction, edge_type: str | None) -> Iterable[KnowledgeEdge]:
        """Return the edges that lead from a node to a neighbour."""
        return [
            edge
            for edge in self._at.get(node_id, ())
            if (edge_type is None or edge.type == edge_type) and _leads(edge, node_id, direction)
        ]

    def edges_among(self, ids: Sequence[str]) -> Iterable[KnowledgeEdge]:
        """Return the edges both of whose ends are among these."""
        inside = set(ids)
        return [
            edge for one in inside for edge in self._at.get(one, ()) if edge.source == one and edge.target in inside
        ]

    def steps(self, ids: Sequence[str], direction: Direction, types: Sequence[str] | None) -> dict[str, Steps]:
        """Return where one step leads from each of these nodes."""
        return {
            one: sorted(
                (edge.other(one), edge.weight)
                for edge in self._at.get(one, ())
                if (types is None or edge.type in types) and _leads(edge, one, direction)
            )
            for one in ids
            if one in self._nodes
        }

    def nearest(self, vector: Sequence[float], limit: int) -> Mapping[str, float]:
        """Return the nodes of the nearest embeddings with their cosines, all of them compared."""
        wanted = np.asarray(vector, dtype=np.float64)
        embedded = [(node.id, np.asarray(node.embedding)) for node in self._nodes.values() if node.embedding]
        cosines = {
            one: float(found @ wanted / (np.linalg.norm(found) * np.linalg.norm(wanted))) for one, found in embedded
        }
        return dict(list(in_order(cosines).items())[:limit])

    def matching(self, text: str, limit: int) -> Mapping[str, float]:
        """Return the nodes that match a text's words best, with their BM25 (rank-bm25)."""
        ids, index = self._words
        if index is None:
            return {}
        scores = index.get_scores(_WORD.findall(text.lower()))
        found = {one: float(score) for one, score in zip(ids, scores, strict=True) if score > 0}
        return dict(list(in_order(found).items())[:limit])

    def pagerank(
        self, seeds: Mapping[str, float] | None, restart_prob: float, direction: Direction, limit: int
    ) -> Mapping[str, float]:
        """Return the best nodes by PageRank: power iteration until nothing moves; dead ends restart."""
        ids = sorted(self._nodes)
        at = {one: row for row, one in enumerate(ids)}
        start = np.array([1.0 if seeds is None else seeds.get(one, 0.0) for one in ids])
        if not start.sum():
            return {}
        start /= start.sum()
        steps = self.steps(ids, direction, None)
        hops = [(at[one], at[other], weight) for one in ids for other, weight in steps[one] if weight > 0]
        source, target = (np.array([hop[end] for hop in hops], dtype=np.int64) for end in (0, 1))
        weights = np.array([hop[2] for hop in hops], dtype=np.float64)
        share = weights / np.bincount(source, weights, len(ids))[source]
        mass = start
        for _ in range(_ITERATIONS):
            moved = (1 - restart_prob) * np.bincount(target, mass[source] * share, len(ids))
            moved += (1 - moved.sum()) * start
            settled = np.abs(moved - mass).sum() < _TOLERANCE
            mass = moved
            if settled:
                break
        found = {one: float(mass[row]) for row, one in enumerate(ids) if mass[row] > 0}
        return dict(list(in_order(found).items())[:limit])

    @cached_property
    def _words(self) -> tuple[list[str], Any]:
        from rank_bm25 import BM25Plus

        ids = sorted(self._nodes)
        words = [_WORD.findall(searched_text(self._nodes[one]).lower()) for one in ids]
        return ids, BM25Plus(words, delta=0) if any(words) else None


def searched_text(node: KnowledgeNode) -> str:
    """Return what of a node is searched by words."""
    said = [value for name in _SEARCHED if isinstance(value := node.properties.get(name), str)]
    return " ".join([node.id, *node.labels, *said])


def _leads(edge: KnowledgeEdge, node_id: str, direction: Direction) -> bool:
    if not edge.directed or direction is Direction.BOTH:
        return True
    return (edge.source if direction is Direction.OUT else edge.target) == node_id


def _same(one: tuple[str, Any], other: tuple[str, Any]) -> bool:
    return one == other and _kinds(one[1]) == _kinds(other[1])


def _kinds(value: Any) -> bool:
    # To Python True equals 1; to Neo4j and to readers it doesn't.
    return isinstance(value[0] if isinstance(value, list) else value, bool)
