"""Reads of any graph: a named graph, an ingested corpus, or a subgraph in memory."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from pipeline.errors import GraphError
from pipeline.knowledge.exchange import Format, write_graph
from pipeline.knowledge.records import Direction, GraphSize, KnowledgeEdge, KnowledgeNode, NeighborInfo, Reached
from pipeline.knowledge.search import GraphRankings, check_top_k, direction_of, member
from pipeline.knowledge.store.corpus import CorpusStore
from pipeline.knowledge.store.memory import MemoryStore
from pipeline.knowledge.store.neo4j import Neo4jStore
from pipeline.knowledge.store.protocol import Store
from pipeline.knowledge.traverse import Cost, expand, fewest_hops, induced_subgraph, shortest_path
from pipeline.knowledge.view import picture, write_page
from pipeline.knowledge.visibility import ALL, NOW, Visibility

_Record = TypeVar("_Record", KnowledgeNode, KnowledgeEdge)


class GraphReader(GraphRankings):
    """The reading half of :class:`pipeline.knowledge.KnowledgeGraph`.

    Lists of nodes and edges are ordered by id. ``direction`` applies to directed edges; undirected edges are always
    followed both ways.
    """

    @property
    def corpus_id(self) -> str | None:
        """Internal id of the corpus that this is; None of a knowledge graph."""
        return self._store.corpus.id if isinstance(self._store, CorpusStore) else None

    def check_current(self) -> None:
        """Raise Superseded if another graph, or none, has the name by now; also if a corpus has changed since."""
        self._store.check_current()

    def size(self) -> GraphSize:
        """Count nodes and edges."""
        return self._store.size()

    def get_node(self, node_id: str) -> KnowledgeNode | None:
        """Return the node with this id, or None."""
        return self._store.nodes([node_id]).get(node_id)

    def get_nodes(self, node_ids: Sequence[str]) -> list[KnowledgeNode]:
        """Return the nodes with these ids, in the order of the ids; unknown ids are left out."""
        nodes = self._store.nodes(node_ids)
        return [nodes[node_id] for node_id in node_ids if node_id in nodes]

    def get_edge(self, edge_id: str) -> KnowledgeEdge | None:
        """Return the edge with this id, or None."""
        return self._store.edge(edge_id)

    def nodes(self) -> Iterable[KnowledgeNode]:
        """Return every node, in any order, streamed from the server."""
        return self._store.scan_nodes()

    def edges(self) -> Iterable[KnowledgeEdge]:
        """Return every edge, in any order, streamed from the server."""
        return self._store.scan_edges()

    def find_nodes_by_type(self, node_type: str) -> list[KnowledgeNode]:
        """Return the nodes of a type."""
        return _by_id(self._store.scan_nodes(node_type))

    def find_nodes_by_label(self, label: str) -> list[KnowledgeNode]:
        """Return the nodes that have a label."""
        return _by_id(self._store.scan_nodes(label=label))

    def filter_nodes_by_property(self, key: str, value: Any) -> list[KnowledgeNode]:
        """Return the nodes whose property ``key`` equals ``value``; True differs from 1, and 1 equals 1.0."""
        # The check of a node's own properties refuses a value that can't be stored, which would match nothing.
        checked = KnowledgeNode("wanted", "wanted", properties={key: value}).properties[key]
        return _by_id(self._store.scan_nodes(having=(key, checked)))

    def get_edges_by_type(self, edge_type: str) -> list[KnowledgeEdge]:
        """Return the edges of a type."""
        return _by_id(self._store.scan_edges(edge_type))

    def get_neighbors(
        self, node_id: str, edge_type: str | None = None, *, direction: Direction | str = Direction.OUT
    ) -> list[KnowledgeNode]:
        """Return the neighbours of a node; raises GraphError if the graph lacks the node."""
        ids = dict.fromkeys(info.id for info in self.get_neighbor_info(node_id, edge_type, direction=direction))
        return _by_id(self._store.nodes(list(ids)).values())

    def get_neighbor_info(
        self, node_id: str, edge_type: str | None = None, *, direction: Direction | str = Direction.OUT
    ) -> list[NeighborInfo]:
        """Return each edge from a node to a neighbour: heaviest first, ties by the neighbour's id, then the edge's."""
        neighbours = (
            NeighborInfo(edge.other(node_id), edge.weight, edge.id, edge.type, edge.supported_edge_type)
            for edge in self.get_edges_of_node(node_id, edge_type, direction=direction)
        )
        return sorted(neighbours, key=lambda info: (-info.weight, info.id, info.edge_id))

    def get_edges_of_node(
        self, node_id: str, edge_type: str | None = None, *, direction: Direction | str = Direction.OUT
    ) -> list[KnowledgeEdge]:
        """Return the edges from a node to its neighbours; raises GraphError if the graph lacks the node."""
        self._require(node_id)
        return _by_id(self._store.edges_of_node(node_id, direction_of(direction), edge_type))

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
        """Return the nodes of the shortest path, both endpoints included; an empty list if there is none.

        ``by`` is the length of a path: ``hops`` (number of edges), ``weight`` (sum of the weights) or ``strength``
        (sum of 1 / weight). Paths use only ``edge_types`` and have at most ``max_depth`` edges. Raises GraphError if
        the graph lacks an endpoint.
        """
        self._require(source_id, target_id)
        if max_depth is not None and max_depth < 0:
            raise GraphError(f"max_depth is {max_depth}.", "Give 0 or more, or None.")
        cost, followed, types = member(Cost, by, "by"), direction_of(direction), _types(edge_types)
        if cost is Cost.HOPS:
            path = fewest_hops(self._store, source_id, target_id, followed, types, max_depth)
        else:
            path = shortest_path(self._store, source_id, target_id, cost, followed, types, max_depth)
        return self.get_nodes(path)

    def multi_hop_retrieval(
        self,
        start_id: str,
        hops: int = 2,
        *,
        limit: int | None = None,
        edge_types: Sequence[str] | None = None,
        direction: Direction | str = Direction.OUT,
        decay: float = 0.5,  # chosen by hand, not measured
    ) -> list[Reached]:
        """Return the nodes within ``hops`` of a node, best score first; the node itself comes first.

        A node's score is that of the strongest path: the product of the edges' weights (capped at 1), each times
        ``decay``. ``limit`` returns only the best nodes and expands no others; the result is still exact. Raises
        GraphError if the graph lacks the node.
        """
        self._require(start_id)
        if hops < 0 or not 0 < decay <= 1 or (limit is not None and limit < 1):
            raise GraphError(
                f"hops={hops}, limit={limit}, decay={decay} can't be.",
                "Give hops of 0 or more, a limit of 1 or more, and a decay of over 0 and at most 1.",
            )
        followed, types = direction_of(direction), _types(edge_types)
        reached = expand(self._store, {start_id: 1.0}, hops, limit, followed, types, decay)
        nodes = self._store.nodes(list(reached))
        return [
            Reached(nodes[node_id], depth, score) for node_id, (depth, score) in reached.items() if node_id in nodes
        ]

    def get_subgraph(self, node_ids: Sequence[str]) -> Self:
        """Return the subgraph of these nodes and the edges among them: a read-only copy in memory.

        Links to parents and children outside it are removed. Raises GraphError naming a node that the graph lacks.
        """
        self._require(*node_ids)
        return self._view(induced_subgraph(self._store, node_ids))

    def to_memory(self) -> Self:
        """Return a read-only copy of the whole graph in memory."""
        return self._view(MemoryStore(self.name, self._store.scan_nodes(), self._store.scan_edges()))

    def communities(self, *, gamma: float = 1.0, seed: int = 0) -> list[list[str]]:
        """Return the ids of the nodes of each community, sorted; the largest community first.

        A community is a group of nodes with more, or heavier, edges among each other than to the rest; the direction of
        edges doesn't count. GDS finds them by the Leiden algorithm; without GDS, in memory and for a corpus, Louvain's
        does. ``gamma`` is the resolution: above 1 makes smaller communities, below 1 larger ones. The same ``seed``
        gives the same communities of the same graph by the same algorithm.
        """
        if not 0 < gamma < math.inf:
            raise GraphError(f"gamma is {gamma}.", "Give a number above 0; 1 is usual.")
        return self._store.communities(gamma, seed)

    def export(self, path: str | Path, format: Format | str | None = None) -> None:  # noqa: A002  # the usual name
        """Write the graph to a file atomically.

        ``format`` is ``json``, ``jsonl`` or ``graphml``; the default follows the file's suffix.
        Importing the file gives the same nodes and edges. The file of a named graph holds its whole history; that of a
        graph at another time what that graph shows.
        """
        is_now = isinstance(self._store, Neo4jStore) and self._store.visibility == NOW
        store = self._store.at(ALL) if is_now else self._store
        write_graph(self.name, store.scan_nodes(), store.scan_edges(), Path(path), format)

    def view(self, path: str | Path, limit: int = 300) -> None:
        """Write an HTML page that draws the graph, or the ``limit`` nodes of most PageRank; it needs no network.

        Nodes are as large as their property ``importance`` says, or as their PageRank where none states one. A corpus
        is drawn as its documents and the names in them; an edge is as wide as it has passages.
        """
        write_page(*self._drawn(limit), Path(path))

    def picture(self, limit: int = 300) -> dict[str, Any]:
        """Return what :meth:`view` draws as plain JSON values: nodes with their places, edges, types with colours."""
        return picture(*self._drawn(limit))

    def _drawn(self, limit: int) -> tuple[Store, GraphSize]:
        check_top_k(limit)
        if isinstance(self._store, CorpusStore):
            return self._store.outline(limit)
        size = self.size()
        chosen = [node.id for node in self.nodes()] if size.nodes <= limit else list(self.importance(limit))
        return induced_subgraph(self._store, chosen), size

    def at(self, as_of: str | None = None, known_at: str | None = None) -> Self:
        """Return the graph as it was: a read-only view of what held at ``as_of``, as it was known at ``known_at``.

        Both are times in ISO 8601; None means now. A node or edge holds from its ``valid_at`` until its ``invalid_at``,
        and is known from its ``created_at`` until its ``expired_at``; an edge is shown with both of its endpoints only.
        Every read, walk and search of the view sees the same. Raises GraphError if a time is none, or for a corpus.
        """
        return self._view(self._store.at(Visibility.at(as_of, known_at)))

    def _view(self, store: Store) -> Self:
        graph = object.__new__(type(self))
        graph._store = store
        graph._configured_embedder = self._configured_embedder
        return graph


def _by_id(records: Iterable[_Record]) -> list[_Record]:
    return sorted(records, key=lambda record: record.id)


def _types(types: Sequence[str] | None) -> Sequence[str] | None:
    if isinstance(types, str):
        raise GraphError(f"edge_types is the text {types[:50]!r}.", "Give a list of types.")
    return types
