"""A graph in memory, independent of the server: subgraphs and pictures use it."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

from pipeline.embedding.nearest import unit_vectors
from pipeline.grouping import grouped
from pipeline.knowledge.records import Direction, GraphSize, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.analysis import local_communities, local_pagerank
from pipeline.knowledge.store.codec import SEARCHED, prefixed_property
from pipeline.knowledge.store.protocol import Steps, in_order
from pipeline.knowledge.visibility import Visibility
from pipeline.text.index_words import compared_words


class MemoryStore:
    """Reads of nodes and edges in memory; see :class:`pipeline.knowledge.store.protocol.Store`."""

    def __init__(self, name: str, nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge]) -> None:
        self.name = name
        self._nodes = {node.id: node for node in nodes}
        self._edges = {edge.id: edge for edge in edges}
        by_end = ((end, edge) for edge in self._edges.values() for end in {edge.source, edge.target})
        self._edges_by_node = grouped(by_end)

    def at(self, visibility: Visibility) -> Self:
        """Return the nodes and edges that a visibility sees; an edge only with both of its endpoints."""
        nodes = [node for node in self._nodes.values() if visibility.sees(node)]
        ids = {node.id for node in nodes}
        edges = (edge for edge in self._edges.values() if {edge.source, edge.target} <= ids and visibility.sees(edge))
        return type(self)(self.name, nodes, edges)

    def check_current(self) -> None:
        """Do nothing: a graph in memory stays as it is."""

    @property
    def dimension(self) -> int | None:
        """Length of the embeddings; None if no node has one."""
        return next((len(node.embedding) for node in self._nodes.values() if node.embedding), None)

    def size(self) -> GraphSize:
        """Count nodes and edges."""
        return GraphSize(len(self._nodes), len(self._edges))

    def nodes(self, ids: Sequence[str]) -> dict[str, KnowledgeNode]:
        """Return the existing nodes with these ids, by id."""
        return {node_id: self._nodes[node_id] for node_id in ids if node_id in self._nodes}

    def scan_nodes(
        self, node_type: str | None = None, label: str | None = None, having: tuple[str, Any] | None = None
    ) -> Iterable[KnowledgeNode]:
        """Return the nodes that a condition, if any, selects."""
        return [
            node
            for node in self._nodes.values()
            if (node_type is None or node.type == node_type)
            and (label is None or label in node.labels)
            and (having is None or _has(node, *having))
        ]

    def edge(self, edge_id: str) -> KnowledgeEdge | None:
        """Return the edge with this id, or None."""
        return self._edges.get(edge_id)

    def scan_edges(self, edge_type: str | None = None) -> Iterable[KnowledgeEdge]:
        """Return every edge, or those of a type."""
        return [edge for edge in self._edges.values() if edge_type is None or edge.type == edge_type]

    def edges_of_node(self, node_id: str, direction: Direction, edge_type: str | None) -> Iterable[KnowledgeEdge]:
        """Return the edges from a node to its neighbours."""
        return [
            edge
            for edge in self._edges_by_node.get(node_id, ())
            if (edge_type is None or edge.type == edge_type) and leads(edge, node_id, direction)
        ]

    def edges_among(self, ids: Sequence[str]) -> Iterable[KnowledgeEdge]:
        """Return the edges whose endpoints are both among these nodes."""
        inside = set(ids)
        return [
            edge
            for node_id in inside
            for edge in self._edges_by_node.get(node_id, ())
            if edge.source == node_id and edge.target in inside
        ]

    def steps(self, ids: Sequence[str], direction: Direction, types: Sequence[str] | None) -> dict[str, Steps]:
        """Return the steps from each of these nodes, by id."""
        return {
            node_id: sorted(
                (edge.other(node_id), edge.weight)
                for edge in self._edges_by_node.get(node_id, ())
                if (types is None or edge.type in types) and leads(edge, node_id, direction)
            )
            for node_id in ids
            if node_id in self._nodes
        }

    def nearest(self, vector: Sequence[float], limit: int) -> Mapping[str, float]:
        """Return the cosines of the ``limit`` nodes nearest to a vector, by id; compares it with every embedding."""
        embedded = {node.id: node.embedding for node in self._nodes.values() if node.embedding}
        if not embedded:
            return {}
        cosines = unit_vectors(list(embedded.values())) @ unit_vectors([vector])[0]
        return in_order(dict(zip(embedded, cosines.tolist(), strict=True)), limit)

    def matching(self, text: str, limit: int) -> Mapping[str, float]:
        """Return the BM25 scores (rank-bm25) of the ``limit`` nodes that match a text best, by id."""
        ids, index = self._bm25_index
        if index is None:
            return {}
        all_scores = index.get_scores(compared_words(text))
        return in_order({id_: float(score) for id_, score in zip(ids, all_scores, strict=True) if score > 0}, limit)

    def pagerank(
        self, seeds: Mapping[str, float] | None, restart_prob: float, direction: Direction, limit: int
    ) -> Mapping[str, float]:
        """Return the ``limit`` highest shares of PageRank, by id."""
        steps = self.steps(list(self._nodes), direction, None)
        edges = ((node_id, *step) for node_id, found in steps.items() for step in found)
        return local_pagerank(self._nodes, edges, seeds, restart_prob, limit)

    def communities(self, gamma: float, seed: int) -> list[list[str]]:
        """Return the ids of each community, by Louvain's algorithm."""
        edges = ((edge.source, edge.target, edge.weight) for edge in self._edges.values())
        return local_communities(self._nodes, edges, gamma, seed)

    @cached_property
    def _bm25_index(self) -> tuple[list[str], Any]:
        from rank_bm25 import BM25Plus

        ids = sorted(self._nodes)
        words = []
        for node in (self._nodes[node_id] for node_id in ids):
            prose = [value for name in SEARCHED if isinstance(value := node.properties.get(name), str)]
            words.append(compared_words(" ".join([node.id, *node.labels, *prose])))
        return ids, BM25Plus(words, delta=0) if any(words) else None


def leads(edge: KnowledgeEdge, node_id: str, direction: Direction) -> bool:
    """Return whether an edge is followed from ``node_id``, which is one of its endpoints."""
    if not edge.directed or direction is Direction.BOTH:
        return True
    return (edge.source if direction is Direction.OUT else edge.target) == node_id


def _has(node: KnowledgeNode, key: str, value: Any) -> bool:
    if key not in node.properties:
        return False
    own, wanted = prefixed_property(key, node.properties[key]), prefixed_property(key, value)
    # In Python True equals 1; in Neo4j it doesn't.
    booleans = [isinstance(stored[0] if isinstance(stored, list) else stored, bool) for _, stored in (own, wanted)]
    return own == wanted and booleans[0] == booleans[1]
