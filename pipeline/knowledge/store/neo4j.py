"""A named graph on Neo4j, read through its indexes and projections."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Self

from neo4j import Record
from neo4j.exceptions import ClientError

from pipeline.db.catalogue import NamedGraph, check_graph
from pipeline.db.client import FETCHED, Client, batches
from pipeline.db.indexes import check_runs, cosine_of, ensure_node_vectors, node_vectors_label
from pipeline.db.projections import Projection, run_on_projection, run_once
from pipeline.db.slots import NODE_FIELDS, TextSlot, take_slot
from pipeline.knowledge.records import Direction, GraphSize, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store import analysis, codec
from pipeline.knowledge.store.codec import relationship_type_of
from pipeline.knowledge.store.protocol import Steps, in_order
from pipeline.knowledge.visibility import NOW, Moment, Visibility
from pipeline.retrieve.question import fulltext_terms

_KEY_BATCH = 10_000  # keys of a query; chosen by hand, not measured


class Neo4jStore:
    """Reads of one named graph; see :class:`pipeline.knowledge.store.protocol.Store`."""

    def __init__(
        self, client: Client, graph: NamedGraph, analyzer: str, projection_megabytes: int, visibility: Visibility = NOW
    ) -> None:
        self.client = client
        self.graph = graph
        self.name = graph.name
        self.visibility = visibility
        self._analyzer = analyzer
        self._projection_megabytes = projection_megabytes

    def at(self, visibility: Visibility) -> Self:
        """Return the store with another visibility."""
        return type(self)(self.client, self.graph, self._analyzer, self._projection_megabytes, visibility)

    @property
    def dimension(self) -> int | None:
        """Length of the embeddings; None while no node has one."""
        if self.graph.dimension is None:  # once it is known, it stays
            self.graph = self._state()
        return self.graph.dimension

    def check_current(self) -> None:
        """Raise Superseded if another graph, or none, has the name now: this one is being deleted then."""
        check_graph(self.client, self.graph)

    def size(self) -> GraphSize:
        """Count nodes and edges."""
        (row,) = self._read("graph_size", label=self.graph.label)
        return GraphSize(row["nodes"], row["edges"])

    def nodes(self, ids: Sequence[str]) -> dict[str, KnowledgeNode]:
        """Return the existing nodes with these ids, by id."""
        nodes = (_node(row) for keys in self._keys(ids) for row in self._read("nodes_by_key", keys=keys))
        return {node.id: node for node in nodes}

    def scan_nodes(
        self, node_type: str | None = None, label: str | None = None, having: tuple[str, Any] | None = None
    ) -> Iterator[KnowledgeNode]:
        """Return the nodes that a condition, if any, selects, streamed: a type by an index, else by a scan."""
        graph_label = self.graph.label
        if node_type is not None:
            rows = self._stream("nodes_of_type", type=node_type)
        elif label is not None:
            rows = self._stream("nodes_labelled", label=graph_label, wanted=label)
        elif having is not None:
            name, stored = codec.stored_property(*having)
            rows = self._stream("nodes_with_property", label=graph_label, property=name, value=stored)
        else:
            rows = self._stream("all_nodes", label=graph_label)
        return map(_node, rows)

    def edge(self, edge_id: str) -> KnowledgeEdge | None:
        """Return the edge with this id, or None, by an index of each of the graph's relationship types."""
        state = self._state()
        if not state.edge_types:
            return None
        names = {"edge_types": "|".join(sorted(state.edge_types))}
        rows = self._read("edge_by_key", names, key=codec.edge_key(self.graph.id, edge_id))
        return _edge(rows[0]) if rows else None

    def scan_edges(self, edge_type: str | None = None) -> Iterator[KnowledgeEdge]:
        """Return every edge, streamed, or those of a type by an index."""
        if edge_type is None:
            return map(_edge, self._stream("all_edges", label=self.graph.label))
        names = {"edge_type": relationship_type_of(edge_type)}
        prefix = codec.edge_key_prefix(self.graph.id)
        return map(_edge, self._stream("edges_of_type", names, prefix=prefix, type=edge_type))

    def edges_of_node(self, node_id: str, direction: Direction, edge_type: str | None) -> Iterable[KnowledgeEdge]:
        """Return the edges from a node to its neighbours."""
        key = codec.node_key(self.graph.id, node_id)
        return map(_edge, self._read("edges_of_node", key=key, direction=direction.value, type=edge_type))

    def edges_among(self, ids: Sequence[str]) -> Iterable[KnowledgeEdge]:
        """Return the edges whose endpoints are both among these nodes, streamed."""
        keys = [codec.node_key(self.graph.id, node_id) for node_id in dict.fromkeys(ids)]
        return map(_edge, self._stream("edges_among", keys=keys))

    def steps(self, ids: Sequence[str], direction: Direction, types: Sequence[str] | None) -> dict[str, Steps]:
        """Return the steps from each of these nodes, by id."""
        params = {"types": None if types is None else list(types), "direction": direction.value}
        return read_steps(row for keys in self._keys(ids) for row in self._read("graph_steps", keys=keys, **params))

    def nearest(self, vector: Sequence[float], limit: int) -> Mapping[str, float]:
        """Return the cosines of the ``limit`` nodes nearest to a vector, by id; creates the vector index if missing."""
        if self.dimension is None:
            return {}
        read = partial(
            self._read, "graph_nearest", {"graph_vectors": node_vectors_label(len(vector))}, vector=list(vector)
        )
        try:
            scores = self._best(limit, read)
        except ClientError:  # the index is missing, or unfinished
            ensure_node_vectors(self.client, len(vector))
            scores = self._best(limit, read)
        return in_order({node_id: cosine_of(score) for node_id, score in scores})

    def matching(self, text: str, limit: int) -> Mapping[str, float]:
        """Return the BM25 scores of the ``limit`` best matches, by id; the first brings the texts into an index."""
        terms = fulltext_terms(text)
        if not terms:
            return {}
        slot = self._slot()
        asked = slot.asked(" ".join(f"{field}:({terms})" for field in NODE_FIELDS))
        return in_order(dict(self._best(limit, partial(self._read, "graph_matching", texts=slot.texts, text=asked))))

    def _slot(self) -> TextSlot:
        """Return the slot of the graph's full text, in which all its nodes are."""
        if self.graph.slot is None or not self.graph.filled:
            self.graph = self._state()
        if self.graph.slot and self.graph.filled:
            return self.graph.slot
        check_runs(self.client, self._analyzer)
        # From now on those who write nodes bring their texts along; the others follow here.
        slot = take_slot(self.client, self.graph.id, self._analyzer)
        graph, copies = self.graph, slot.pairs(NODE_FIELDS)
        filling = {"graph": graph.id, "label": graph.label, "texts": slot.texts, "copies": copies, "limit": _KEY_BATCH}
        while self.client.write("fill_texts", **filling)[0]["filled"]:
            pass
        self.client.write("set_filled", graph=graph.id)
        return slot

    def _best(self, limit: int, read: Callable[..., list[Record]]) -> list[tuple[str, float]]:
        """Return ids and scores of the ``limit`` best visible nodes; ``read`` takes the number of nodes to look at."""
        most = limit
        while (rows := read(limit=most)) and len(rows[0]["ids"]) < limit and rows[0]["looked_at"] >= most:
            most *= 4  # chosen by hand: few rounds even if most are hidden
        return list(zip(rows[0]["ids"], rows[0]["scores"], strict=True))[:limit] if rows else []

    def pagerank(
        self, seeds: Mapping[str, float] | None, restart_prob: float, direction: Direction, limit: int
    ) -> Mapping[str, float]:
        """Return the ``limit`` highest shares of PageRank, by id: by GDS on a projection, or here without GDS."""
        state = self._state()
        label = self.graph.label
        if seeds == {} or not self._read("any_node", label=label):
            return {}
        if not self.client.has_gds:
            edges = ((row["source"], row["target"], row["weight"], row["directed"]) for row in self._followed())
            return analysis.local_pagerank(self._ids(), analysis.followed(edges, direction), seeds, restart_prob, limit)
        keys = None if seeds is None else {codec.node_key(self.graph.id, node_id): seeds[node_id] for node_id in seeds}
        run = analysis.gds_pagerank(self.client.read, "personalised_pagerank", keys, restart_prob, limit)

        def project(name: str) -> object:
            return self._read("project_graph", projection=name, label=label, direction=direction.value)

        if state.temporal or self.visibility.moment is Moment.PAST:
            # Visibility changes with the time, so such a projection serves once.
            return run_once(self.client, self.graph.id, project, run)
        projection = Projection(self.graph.id, analysis.VIEW, state.version, direction.value)
        return run_on_projection(self.client, projection, self._projection_megabytes, project, run)

    def communities(self, gamma: float, seed: int) -> list[list[str]]:
        """Return the ids of each community: by GDS's Leiden, or by Louvain's algorithm here without GDS."""
        label = self.graph.label
        if not self._read("any_node", label=label):
            return []
        if not self.client.has_gds:
            edges = ((row["source"], row["target"], row["weight"]) for row in self._followed())
            return analysis.local_communities(self._ids(), edges, gamma, seed)

        def project(name: str) -> object:
            return self._read("project_undirected", projection=name, label=label)

        def run(name: str) -> list[Record]:
            return self.client.read("leiden", projection=name, gamma=gamma, seed=seed)

        try:
            rows = run_once(self.client, self.graph.id, project, run)
        except ClientError as error:
            # GDS 2.26 fails in this way where no two nodes belong together.
            if "LeidenDendrogramManager" not in (error.message or ""):
                raise
            return [[node_id] for node_id in sorted(self._ids())]
        return analysis.ordered({row["id"]: row["community"] for row in rows})

    def embeddings(self) -> Iterator[tuple[str, list[float]]]:
        """Yield the id and embedding of each node that has one."""
        return ((row["id"], row["embedding"]) for row in self._stream("embeddings", label=self.graph.label))

    def embedded_texts(self, hashes: Sequence[str]) -> dict[str, list[float]]:
        """Return the embeddings of texts that nodes have been embedded by, by the hash of the text."""
        rows = (
            row
            for part in batches(hashes, _KEY_BATCH)
            for row in self.client.read("embedded_texts", label=self.graph.label, hashes=part)
        )
        return {row["hash"]: row["embedding"] for row in rows if row["embedding"] is not None}

    def _ids(self) -> list[str]:
        return [row["id"] for row in self._stream("graph_node_ids", label=self.graph.label)]

    def _followed(self) -> Iterator[Record]:
        return self._stream("followed_edges", label=self.graph.label)

    def _read(self, name: str, names: Mapping[str, str] | None = None, /, **params: Any) -> list[Record]:
        return self.client.read(name, names, graph=self.graph.id, **self.visibility.params(), **params)

    def _stream(self, name: str, names: Mapping[str, str] | None = None, /, **params: Any) -> Iterator[Record]:
        count = 0
        for row in self.client.stream(name, names, graph=self.graph.id, **self.visibility.params(), **params):
            count += 1
            # The server reads properties when it sends a row: a node that was removed meanwhile has none.
            if row.get("stored") != {}:
                yield row
        # The query itself fails if the graph is gone when it begins; rows of one message are as whole as a read's.
        if count > FETCHED:
            self._state()

    def _state(self) -> NamedGraph:
        """Return the graph as it is now; raises Superseded if it was dropped, or is being deleted."""
        rows = self.client.read("graph_state", graph=self.graph.id)
        return NamedGraph.of(rows[0]["graph"])

    def _keys(self, ids: Sequence[str]) -> Iterator[list[str]]:
        return batches((codec.node_key(self.graph.id, node_id) for node_id in dict.fromkeys(ids)), _KEY_BATCH)


def read_steps(rows: Iterable[Record]) -> dict[str, Steps]:
    """Return the steps by node id; a row has ``id`` and the lists ``ids`` and ``weights``."""
    return {row["id"]: sorted(zip(row["ids"], row["weights"], strict=True)) for row in rows}


def _node(row: Record) -> KnowledgeNode:
    return codec.read_node(row["stored"], row["parent"], row["children"])


def _edge(row: Record) -> KnowledgeEdge:
    return codec.read_edge(row["stored"], row["source"], row["target"])
