"""The protocol of stores: the reads that a named graph, an ingested corpus and a graph in memory share."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeAlias

from pipeline.knowledge.records import Direction, GraphSize, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.visibility import Visibility

Steps: TypeAlias = list[tuple[str, float]]
"""Neighbours' ids with the edges' weights, sorted; parallel edges repeat the neighbour."""


class Store(Protocol):
    """Reads of a graph. Nodes and edges come in any order; rankings come best first, ties by id."""

    @property
    def name(self) -> str:
        """Name of the graph."""

    def at(self, visibility: Visibility) -> Self:
        """Return the store with another visibility."""

    @property
    def dimension(self) -> int | None:
        """Length of the embeddings; None while no node has one."""

    def check_current(self) -> None:
        """Raise Superseded if something else has its name now, or nothing; a corpus: if it has changed."""

    def size(self) -> GraphSize:
        """Count nodes and edges."""

    def nodes(self, ids: Sequence[str]) -> dict[str, KnowledgeNode]:
        """Return the existing nodes with these ids, by id."""

    def scan_nodes(
        self, node_type: str | None = None, label: str | None = None, having: tuple[str, Any] | None = None
    ) -> Iterable[KnowledgeNode]:
        """Return every node, or those of a type, or with a label, or ``having`` a property of that value.

        At most one of these is given. A boolean never equals a number.
        """

    def edge(self, edge_id: str) -> KnowledgeEdge | None:
        """Return the edge with this id, or None."""

    def scan_edges(self, edge_type: str | None = None) -> Iterable[KnowledgeEdge]:
        """Return every edge, or those of a type."""

    def edges_of_node(self, node_id: str, direction: Direction, edge_type: str | None) -> Iterable[KnowledgeEdge]:
        """Return the edges from a node to its neighbours, of one type or, with None, of any."""

    def edges_among(self, ids: Sequence[str]) -> Iterable[KnowledgeEdge]:
        """Return the edges whose endpoints are both among these nodes."""

    def steps(self, ids: Sequence[str], direction: Direction, types: Sequence[str] | None) -> dict[str, Steps]:
        """Return the steps from each of these nodes, by id, along edges of these types or, with None, of any."""

    def nearest(self, vector: Sequence[float], limit: int) -> Mapping[str, float]:
        """Return the cosines of the ``limit`` nodes nearest to a vector, by id."""

    def matching(self, text: str, limit: int) -> Mapping[str, float]:
        """Return the BM25 scores of the ``limit`` nodes that match a text best, by id."""

    def pagerank(
        self, seeds: Mapping[str, float] | None, restart_prob: float, direction: Direction, limit: int
    ) -> Mapping[str, float]:
        """Return the ``limit`` highest shares of PageRank, by id; the shares of all nodes sum to 1.

        ``seeds`` are restart weights by id; with None every node has the same weight.
        """

    def communities(self, gamma: float, seed: int) -> list[list[str]]:
        """Return the ids of each community; see :mod:`pipeline.knowledge.store.analysis`."""


def in_order(scores: Mapping[str, float], limit: int | None = None) -> dict[str, float]:
    """Return the ``limit`` highest scores, or all, from the highest, ties by id."""
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit])
