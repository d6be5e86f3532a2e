"""A named graph on Neo4j, read through its indexes and projections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from neo4j import Record

from pipeline.db.client import Client, batches
from pipeline.db.indexes import cosine_of
from pipeline.db.projections import Projection, run_on_projection
from pipeline.knowledge.catalogue import NamedGraph, ensure_text_index, ensure_vector_index
from pipeline.knowledge.records import Direction, GraphSize, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.codec import edge_key, node_key, read_edge, read_node, stored_property
from pipeline.knowledge.store.pagerank import VIEW, read_pagerank
from pipeline.knowledge.store.protocol import Steps, in_order
from pipeline.retrieve.question import fulltext_terms

_KEY_BATCH = 10_000


class Neo4jStore:
    """Reads of one named graph; see :class:`pipeline.knowledge.store.protocol.Store`."""

    def __init__(self, client: Client, graph: NamedGraph, analyzer: str, projection_megabytes: int) -> None:
        self.client = client
        self.graph = graph
        self._analyzer = analyzer
        self._projection_megabytes = projection_megabytes

    @property
    def name(self) -> str:
        """Name of the graph."""
        return self.graph.name

    @property
    def dimension(self) -> int | None:
        """Length of the embeddings; None while no node has one."""
        state = self._state()
        return state.dimension if state else None

    def size(self) -> GraphSize:
        """Count nodes and edges."""
        row = self.client.read("graph_size", graph=self.graph.id)[0]
        return GraphSize(row["nodes"], row["edges"])

    def nodes(self, ids: Sequence[str]) -> dict[str, KnowledgeNode]:
        """Return the existing nodes with these ids, by id."""
        nodes = (_node(row) for keys in self._keys(ids) for row in self.client.read("nodes_by_key", keys=keys))
        return {node.id: node for node in nodes}

    def all_nodes(self) -> Iterator[KnowledgeNode]:
        """Return every node, streamed."""
        return map(_node, self.client.stream("all_nodes", label=self.graph.label))

    def nodes_of_type(self, node_type: str) -> Iterable[KnowledgeNode]:
        """Return the nodes of a type, streamed, by an index."""
        return map(_node, self.client.stream("nodes_of_type", graph=self.graph.id, type=node_type))

    def nodes_labelled(self, label: str) -> Iterable[KnowledgeNode]:
        """Return the nodes with a label, streamed, by a scan of the graph."""
        return map(_node, self.client.stream("nodes_labelled", label=self.graph.label, wanted=label))

    def nodes_with_property(self, key: str, value: Any) -> Iterable[KnowledgeNode]:
        """Return the nodes whose property ``key`` equals ``value``, streamed, by a scan of the graph."""
        name, stored = stored_property(key, value)
        rows = self.client.stream("nodes_with_property", label=self.graph.label, property=name, value=stored)
        return map(_node, rows)

    def edge(self, edge_id: str) -> KnowledgeEdge | None:
        """Return the edge with this id, or None."""
        rows = self.client.read("edge_by_key", key=edge_key(self.graph.id, edge_id))
        return _edge(rows[0]) if rows else None

    def all_edges(self) -> Iterator[KnowledgeEdge]:
        """Return every edge, streamed."""
        return map(_edge, self.client.stream("all_edges", label=self.graph.label))

    def edges_of_type(self, edge_type: str) -> Iterable[KnowledgeEdge]:
        """Return the edges of a type, streamed, by an index."""
        return map(_edge, self.client.stream("edges_of_type", graph=self.graph.id, type=edge_type))

    def edges_of_node(self, node_id: str, direction: Direction, edge_type: str | None) -> Iterable[KnowledgeEdge]:
        """Return the edges from a node to its neighbours."""
        key = node_key(self.graph.id, node_id)
        return map(_edge, self.client.read("edges_of_node", key=key, direction=direction.value, type=edge_type))

    def edges_among(self, ids: Sequence[str]) -> Iterable[KnowledgeEdge]:
        """Return the edges whose endpoints are both among these nodes, streamed."""
        keys = [node_key(self.graph.id, node_id) for node_id in dict.fromkeys(ids)]
        return map(_edge, self.client.stream("edges_among", keys=keys))

    def steps(self, ids: Sequence[str], direction: Direction, types: Sequence[str] | None) -> dict[str, Steps]:
        """Return the steps from each of these nodes, by id."""
        steps: dict[str, Steps] = {}
        edge_types = None if types is None else list(types)
        for keys in self._keys(ids):
            rows = self.client.read("graph_steps", keys=keys, types=edge_types, direction=direction.value)
            steps.update(read_steps(rows))
        return steps

    def nearest(self, vector: Sequence[float], limit: int) -> Mapping[str, float]:
        """Return the cosines of the ``limit`` nodes nearest to a vector, by id; creates the vector index if missing."""
        if self.dimension is None:
            return {}
        ensure_vector_index(self.client, self.graph, len(vector))
        names = {"graph_label": self.graph.label, "graph_vector": self.graph.vector_index}
        row = self.client.read("graph_nearest", names, vector=list(vector), limit=limit)[0]
        return in_order({node_id: cosine_of(score) for node_id, score in zip(row["ids"], row["scores"], strict=True)})

    def matching(self, text: str, limit: int) -> Mapping[str, float]:
        """Return the BM25 scores of the ``limit`` nodes that match a text best, by id.

        Creates the full-text index if it is missing.
        """
        terms = fulltext_terms(text)
        if not terms:
            return {}
        ensure_text_index(self.client, self.graph, self._analyzer)
        row = self.client.read("graph_matching", index=self.graph.label, text=terms, limit=limit)[0]
        return in_order(dict(zip(row["ids"], row["scores"], strict=True)))

    def pagerank(
        self, seeds: Mapping[str, float] | None, restart_prob: float, direction: Direction, limit: int
    ) -> Mapping[str, float]:
        """Return the ``limit`` highest shares of PageRank, by id; GDS computes them on a projection."""
        state = self._state()
        label = self.graph.label

        def project(name: str) -> object:
            return self.client.read("project_graph", projection=name, label=label, direction=direction.value)

        if state is None or seeds == {} or not (seeds or self.client.read("any_node", label=label)):
            return {}

        def run(name: str) -> list[Record]:
            params = {"projection": name, "damping": 1 - restart_prob, "limit": limit}
            if seeds is None:
                return self.client.read("importance", **params)
            rows = [{"key": node_key(self.graph.id, node_id), "weight": weight} for node_id, weight in seeds.items()]
            return self.client.read("personalised_pagerank", seeds=rows, **params)

        projection = Projection(self.graph.id, VIEW, state.version, direction.value)
        rows = run_on_projection(self.client, projection, self._projection_megabytes, project, run)
        return read_pagerank(rows, limit)

    def embeddings(self) -> Iterator[tuple[str, list[float]]]:
        """Yield the id and embedding of each node that has one."""
        for row in self.client.stream("embeddings", label=self.graph.label):
            yield row["id"], row["embedding"]

    def _state(self) -> NamedGraph | None:
        rows = self.client.read("graph_state", graph=self.graph.id)
        return NamedGraph.of(rows[0]["graph"]) if rows else None

    def _keys(self, ids: Sequence[str]) -> Iterator[list[str]]:
        return batches((node_key(self.graph.id, node_id) for node_id in dict.fromkeys(ids)), _KEY_BATCH)


def read_steps(rows: Iterable[Record]) -> Iterator[tuple[str, Steps]]:
    """Yield each node's id and its steps; a row has ``id`` and the lists ``ids`` and ``weights``."""
    for row in rows:
        yield row["id"], sorted(zip(row["ids"], row["weights"], strict=True))


def _node(row: Record) -> KnowledgeNode:
    return read_node(row["stored"], row["parent"], row["children"])


def _edge(row: Record) -> KnowledgeEdge:
    return read_edge(row["stored"], row["source"], row["target"])
