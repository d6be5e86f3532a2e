"""What every kind of graph can be asked: a named one, an ingested corpus, and one that is detached, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from pipeline.knowledge.records import Direction, GraphSize, KnowledgeEdge, KnowledgeNode

Steps: TypeAlias = list[tuple[str, float]]
"""Where one step leads: neighbours' ids with the edges' weights, ordered; a neighbour by two edges is there twice."""


class Store(Protocol):
    """Reads of a graph. Nodes and edges come in any order; rankings come best first, ties by id."""

    @property
    def name(self) -> str:
        """The graph's name."""

    @property
    def dimension(self) -> int | None:
        """Length of the graph's embeddings; None while no node has one."""

    def size(self) -> GraphSize:
        """Count nodes and edges."""

    def nodes(self, ids: Sequence[str]) -> dict[str, KnowledgeNode]:
        """Return the nodes of these ids that there are."""

    def all_nodes(self) -> Iterable[KnowledgeNode]:
        """Return every node."""

    def nodes_of_type(self, node_type: str) -> Iterable[KnowledgeNode]:
        """Return the nodes of a type."""

    def nodes_labelled(self, label: str) -> Iterable[KnowledgeNode]:
        """Return the nodes that have a label."""

    def nodes_with_property(self, key: str, value: Any) -> Iterable[KnowledgeNode]:
        """Return the nodes whose property ``key`` is ``value``; a truth value is never equal to a number."""

    def edge(self, edge_id: str) -> KnowledgeEdge | None:
        """Return the edge of this id, if there is one."""

    def all_edges(self) -> Iterable[KnowledgeEdge]:
        """Return every edge."""

    def edges_of_type(self, edge_type: str) -> Iterable[KnowledgeEdge]:
        """Return the edges of a type."""

    def edges_of_node(self, node_id: str, direction: Direction, edge_type: str | None) -> Iterable[KnowledgeEdge]:
        """Return the edges that lead from a node to a neighbour."""

    def edges_among(self, ids: Sequence[str]) -> Iterable[KnowledgeEdge]:
        """Return the edges both of whose ends are among these."""

    def steps(self, ids: Sequence[str], direction: Direction, types: Sequence[str] | None) -> dict[str, Steps]:
        """Return where one step leads from each of these nodes, by edges of these types (None: of any)."""

    def nearest(self, vector: Sequence[float], limit: int) -> Mapping[str, float]:
        """Return the nodes of the nearest embeddings with their cosines."""

    def matching(self, text: str, limit: int) -> Mapping[str, float]:
        """Return the nodes that match a text's words best, with their BM25."""

    def pagerank(
        self, seeds: Mapping[str, float] | None, restart_prob: float, direction: Direction, limit: int
    ) -> Mapping[str, float]:
        """Return the best nodes by PageRank, personalised to weighted seeds if some are given; shares of 1 in all."""
