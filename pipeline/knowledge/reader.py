"""What can be asked of any graph: a named one, an ingested corpus, or a detached subgraph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

from pipeline.embedding.embedder import Embedder
from pipeline.errors import GraphError
from pipeline.knowledge import search as ranking
from pipeline.knowledge.algorithms import traverse
from pipeline.knowledge.algorithms.shortest_path import Cost, shortest_path
from pipeline.knowledge.algorithms.subgraph import cut
from pipeline.knowledge.exchange import Format, write_graph
from pipeline.knowledge.records import (
    Direction,
    GraphSize,
    KnowledgeEdge,
    KnowledgeNode,
    NeighborInfo,
    RankedNode,
    Reached,
)
from pipeline.knowledge.store.memory import MemoryStore
from pipeline.knowledge.store.protocol import Store
from pipeline.knowledge.view import write_page
from pipeline.retrieve.question import check_question

_RESTART = 0.15
_Kind = TypeVar("_Kind", bound=StrEnum)


class GraphReader:
    """The reading half of :class:`pipeline.knowledge.KnowledgeGraph`.

    Lists of nodes and edges are ordered by id. ``direction`` says which way directed edges are followed; undirected
    edges are followed both ways, whatever it says.
    """

    _store: Store
    _given_embedder: Embedder | None

    @property
    def name(self) -> str:
        """The graph's name, or the corpus's."""
        return self._store.name

    @cached_property
    def _embedder(self) -> Embedder:
        return self._given_embedder or Embedder()

    def size(self) -> GraphSize:
        """Count nodes and edges."""
        return self._store.size()

    def get_node(self, node_id: str) -> KnowledgeNode | None:
        """Return a node, or None if there is none of this id."""
        return self._store.nodes([node_id]).get(node_id)

    def get_nodes(self, node_ids: Sequence[str]) -> list[KnowledgeNode]:
        """Return the nodes of these ids, in their order; those that aren't there are left out."""
        found = self._store.nodes(node_ids)
        return [found[one] for one in node_ids if one in found]

    def get_edge(self, edge_id: str) -> KnowledgeEdge | None:
        """Return an edge, or None if there is none of this id."""
        return self._store.edge(edge_id)

    def nodes(self) -> Iterable[KnowledgeNode]:
        """Return every node, in any order, as they arrive from the server."""
        return self._store.all_nodes()

    def edges(self) -> Iterable[KnowledgeEdge]:
        """Return every edge, in any order, as they arrive from the server."""
        return self._store.all_edges()

    def find_nodes_by_type(self, node_type: str) -> list[KnowledgeNode]:
        """Return the nodes of a type."""
        return _by_id(self._store.nodes_of_type(node_type))

    def find_nodes_by_label(self, label: str) -> list[KnowledgeNode]:
        """Return the nodes that have a label."""
        return _by_id(self._store.nodes_labelled(label))

    def filter_nodes_by_property(self, key: str, value: Any) -> list[KnowledgeNode]:
        """Return the nodes whose property ``key`` is ``value``; True is not 1, and 1 is 1.0."""
        # The same check as for a node's own properties, so that what can't be stored is refused and not missed.
        wanted = KnowledgeNode("wanted", "wanted", properties={key: value}).properties[key]
        return _by_id(self._store.nodes_with_property(key, wanted))

    def get_edges_by_type(self, edge_type: str) -> list[KnowledgeEdge]:
        """Return the edges of a type."""
        return sorted(self._store.edges_of_type(edge_type), key=lambda edge: edge.id)

    def get_neighbors(
        self, node_id: str, edge_type: str | None = None, *, direction: Direction | str = Direction.OUT
    ) -> list[KnowledgeNode]:
        """Return the nodes that edges lead to from a node; raises GraphError if the graph doesn't have it."""
        ids = dict.fromkeys(info.id for info in self.get_neighbor_info(node_id, edge_type, direction=direction))
        return _by_id(self._store.nodes(list(ids)).values())

    def get_neighbor_info(
        self, node_id: str, edge_type: str | None = None, *, direction: Direction | str = Direction.OUT
    ) -> list[NeighborInfo]:
        """Return each edge that leads from a node to a neighbour: the strongest first, then by the neighbour's id."""
        self._must_have(node_id)
        edges = self._store.edges_of_node(node_id, _direction(direction), edge_type)
        found = [
            NeighborInfo(edge.other(node_id), edge.weight, edge.id, edge.type, edge.supported_edge_type)
            for edge in edges
        ]
        return sorted(found, key=lambda info: (-info.weight, info.id, info.edge_id))

    def find_path(
        self,
        source_id: str,
        target_id: str,
        *,
        by: Cost | str = Cost.HOPS,
        edge_types: Sequence[str] | None = None,
        max_depth: int | None = None,
        direction: Direction | str = Direction.OUT,
    ) -> list[KnowledgeNode]:
        """Return the nodes of the shortest path, both ends included; empty if there is none.

        ``by`` is what makes it short: ``hops`` (edges), ``weight`` (their sum), ``strength`` (the sum of 1 / weight).
        Only edges of ``edge_types``, and at most ``max_depth`` of them, are gone along. Raises GraphError if the graph
        lacks an end.
        """
        self._must_have(source_id, target_id)
        if max_depth is not None and max_depth < 0:
            raise GraphError(f"max_depth is {max_depth}.", "Give 0 or more, or None.")
        cost, way, types = _chosen(Cost, by, "by"), _direction(direction), _types(edge_types)
        if cost is Cost.HOPS:
            return self.get_nodes(traverse.shortest(self._store, source_id, target_id, way, types, max_depth))
        return self.get_nodes(shortest_path(self._store, source_id, target_id, cost, way, types, max_depth))

    def multi_hop_retrieval(
        self,
        start_id: str,
        hops: int = 2,
        *,
        limit: int | None = None,
        edge_types: Sequence[str] | None = None,
        direction: Direction | str = Direction.OUT,
        decay: float = 0.5,
    ) -> list[Reached]:
        """Return what is within some hops of a node, itself first, each once, the strongest way's score deciding.

        A score is the product of the way's weights (over 1 count as 1), each times ``decay``. With ``limit`` only the
        best are returned, and no more than these are walked through, which changes nothing about which they are.
        """
        self._must_have(start_id)
        if hops < 0 or not 0 < decay <= 1 or (limit is not None and limit < 1):
            raise GraphError(
                f"hops={hops}, limit={limit}, decay={decay} can't be.",
                "Give hops of 0 or more, a limit of 1 or more, and a decay of over 0 and at most 1.",
            )
        way, types = _direction(direction), _types(edge_types)
        found = traverse.within(self._store, {start_id: 1.0}, hops, limit, way, types, decay)
        nodes = self._store.nodes(list(found))
        return [Reached(nodes[one], depth, score) for one, (depth, score) in found.items() if one in nodes]

    def get_subgraph(self, node_ids: Sequence[str]) -> Self:
        """Return these nodes with the edges among them as a graph of its own: in memory, detached, read-only.

        Parents and children outside it are left out. Raises GraphError naming a node that the graph doesn't have.
        """
        self._must_have(*node_ids)
        return self._detach(cut(self._store, node_ids))

    def to_memory(self) -> Self:
        """Return the whole graph as one of its own: in memory, detached, read-only."""
        return self._detach(MemoryStore(self.name, self._store.all_nodes(), self._store.all_edges()))

    def query(
        self,
        query: str | Sequence[float],
        top_k: int = 10,
        random_walk_steps: int | None = 100,
        restart_prob: float = _RESTART,
        *,
        direction: Direction | str = Direction.BOTH,
        seed: int = 0,
    ) -> list[RankedNode]:
        """Return nodes ranked by both similarity and centrality, best first.

        The ``top_k`` nodes most similar to the query (a text, which is embedded, or its vector) are where random
        walks begin, and restart with ``restart_prob``; how often a node is visited in ``random_walk_steps`` steps a
        walker is its score (a share of 1). ``random_walk_steps=None`` gives the limit of endless walks, by PageRank.
        ``seed`` makes walks repeatable. ``parts`` of a result are ``walk`` and, of a seed, ``similarity``.
        """
        vector = self._embedded(query) if isinstance(query, str) else query
        return ranking.query(
            self._store,
            vector,
            top_k=top_k,
            random_walk_steps=random_walk_steps,
            restart_prob=restart_prob,
            direction=_direction(direction),
            seed=seed,
        )

    def walk_from(
        self,
        seeds: Mapping[str, float],
        top_k: int = 10,
        restart_prob: float = _RESTART,
        *,
        direction: Direction | str = Direction.BOTH,
    ) -> list[RankedNode]:
        """Return what endless random walks from nodes of the graph visit most; ``seeds`` are their weights by id."""
        self._must_have(*seeds)
        return ranking.walk_from(self._store, seeds, top_k, restart_prob, _direction(direction))

    def search(
        self,
        text: str,
        top_k: int = 10,
        *,
        mode: ranking.Mode | str = ranking.Mode.HYBRID,
        graph_hops: int = 2,
        direction: Direction | str = Direction.BOTH,
    ) -> list[RankedNode]:
        """Return the nodes that a text finds, best first.

        ``mode`` is ``bm25`` (words), ``graph`` (what the best by words lead to in ``graph_hops`` hops), ``hybrid``
        (both fused by reciprocal rank), ``vector`` (meaning, where nodes have embeddings), or ``all`` (all three).
        """
        question, chosen = check_question(text), _chosen(ranking.Mode, mode, "mode")
        vector = self._embedded(question) if chosen in (ranking.Mode.VECTOR, ranking.Mode.ALL) else None
        return ranking.search(
            self._store,
            question,
            vector,
            mode=chosen,
            top_k=top_k,
            graph_hops=graph_hops,
            direction=_direction(direction),
        )

    def importance(self, top_k: int = 100, *, direction: Direction | str = Direction.BOTH) -> dict[str, float]:
        """Return the ``top_k`` nodes of the highest PageRank, as shares of 1, best first."""
        ranking.check_top_k(top_k)
        return dict(self._store.pagerank(None, _RESTART, _direction(direction), top_k))

    def export(self, path: str | Path, format: Format | str | None = None) -> None:  # noqa: A002  # the usual name
        """Write the graph to a file: ``json``, ``jsonl``, ``graphml`` or ``node-link``; by its suffix if not given.

        The file appears whole or not at all. Importing it gives the same nodes and edges.
        """
        write_graph(self.name, self._store.all_nodes(), self._store.all_edges(), Path(path), format)

    def view(self, path: str | Path, limit: int = 300) -> None:
        """Write a page that shows the graph, or its ``limit`` most important nodes, in a browser, without a network."""
        ranking.check_top_k(limit)
        size = self.size()
        chosen = [node.id for node in self.nodes()] if size.nodes <= limit else list(self.importance(limit))
        write_page(cut(self._store, chosen), size, Path(path))

    def _embedded(self, text: str) -> Sequence[float]:
        question = check_question(text)
        if self._store.dimension is None:
            raise GraphError(
                f"No node of {self.name!r} has an embedding.", "Add embeddings, or search by words: mode='bm25'."
            )
        if self._embedder.dimension != self._store.dimension:
            raise GraphError(
                f"The embedder {self._embedder.name} makes {self._embedder.dimension} numbers; the embeddings of "
                f"{self.name!r} have {self._store.dimension}.",
                "Give the graph the embedder that its nodes were embedded with, or query by a vector.",
            )
        return self._embedder.embed_query(question)

    def _must_have(self, *node_ids: str) -> None:
        found = self._store.nodes(node_ids)
        for one in node_ids:
            if one not in found:
                raise GraphError(
                    f"The graph {self.name!r} has no node {one[:80]!r}.", "Look for it with search, or add it."
                )

    def _detach(self, store: MemoryStore) -> Self:
        detached = object.__new__(type(self))
        detached._store = store
        detached._given_embedder = self._given_embedder
        return detached


def _by_id(nodes: Iterable[KnowledgeNode]) -> list[KnowledgeNode]:
    return sorted(nodes, key=lambda node: node.id)


def _direction(direction: Direction | str) -> Direction:
    return _chosen(Direction, direction, "direction")


def _types(types: Sequence[str] | None) -> Sequence[str] | None:
    if isinstance(types, str):
        raise GraphError(f"edge_types is the text {types[:50]!r}.", "Give a list of types.")
    return types


def _chosen(kinds: type[_Kind], value: _Kind | str, name: str) -> _Kind:
    try:
        return kinds(value)
    except ValueError:
        raise GraphError(f"{name} is {value!r}.", f"Use one of {', '.join(kinds)}.") from None
