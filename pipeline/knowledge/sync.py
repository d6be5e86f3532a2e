"""Sync of a named graph: bring it to hold given nodes and edges, and write only the differences."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neo4j import Record

from pipeline.db.catalogue import NamedGraph
from pipeline.db.transaction import Transaction
from pipeline.knowledge.clock import now
from pipeline.knowledge.embed import Embeddings
from pipeline.knowledge.hierarchy import Hierarchy
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.codec import stored_edge, stored_node
from pipeline.knowledge.store.neo4j import Neo4jStore
from pipeline.knowledge.write import Writer, common_dimension, refuse_repeated

_TIMES_OF_WRITES = ("created_at", "updated_at")


@dataclass(frozen=True, slots=True)
class Changes:
    """The ids of nodes and edges that a sync added, changed and removed, each in order; false if nothing changed."""

    nodes_added: tuple[str, ...] = ()
    nodes_changed: tuple[str, ...] = ()
    nodes_removed: tuple[str, ...] = ()
    edges_added: tuple[str, ...] = ()
    edges_changed: tuple[str, ...] = ()
    edges_removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.count() > 0

    def count(self) -> int:
        """Return the number of nodes and edges that were added, changed or removed."""
        return sum(len(getattr(self, name)) for name in self.__slots__)


@dataclass(frozen=True, slots=True)
class _StoredNode:
    content: Mapping[str, Any]
    parent: str | None
    type: str
    created_at: str


@dataclass(frozen=True, slots=True)
class _StoredEdge:
    content: Mapping[str, Any]
    created_at: str | None


@dataclass(frozen=True, slots=True)
class _Stored:
    """The stored content of a graph, by id."""

    nodes: Mapping[str, _StoredNode]
    edges: Mapping[str, _StoredEdge]


def sync(
    store: Neo4jStore, nodes: Sequence[KnowledgeNode], edges: Sequence[KnowledgeEdge], embeddings: Embeddings
) -> Changes:
    """Bring a graph to hold exactly these nodes and edges; see :meth:`pipeline.knowledge.KnowledgeGraph.sync`."""
    refuse_repeated([node.id for node in nodes], "node")
    refuse_repeated([edge.id for edge in edges], "edge")
    client, graph = store.client, store.graph
    wanted = _Wanted.of(graph, nodes, edges, embeddings)
    read = {"graph": graph.id, "label": graph.label}
    nodes_and_edges = (client.stream("graph_contents_nodes", **read), client.stream("graph_contents_edges", **read))
    if not wanted.changes(_stored(*nodes_and_edges)):
        return Changes()
    writer = Writer(store)
    writer.add_types(nodes, edges)

    def work(transaction: Transaction) -> Changes:
        # Once more, now that nobody else writes: what was read before may have changed.
        writer.touch(transaction, common_dimension(wanted.nodes.values()), [*nodes, *edges])
        rows = (transaction.run("graph_contents_nodes", **read), transaction.run("graph_contents_edges", **read))
        stored = _stored(*rows)
        changes = wanted.changes(stored)
        wanted.write(writer, transaction, stored, changes)
        return changes

    return client.write_together(work)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The nodes and edges that a graph shall hold, by id, and what of them is compared with the stored content."""

    nodes: Mapping[str, KnowledgeNode]
    edges: Mapping[str, KnowledgeEdge]
    parents: Mapping[str, str]
    node_contents: Mapping[str, Mapping[str, Any]]
    edge_contents: Mapping[str, Mapping[str, Any]]
    text_hashes: Mapping[str, str]

    @classmethod
    def of(
        cls,
        graph: NamedGraph,
        nodes: Iterable[KnowledgeNode],
        edges: Iterable[KnowledgeEdge],
        embeddings: Embeddings,
    ) -> _Wanted:
        vectors = embeddings.vectors
        nodes = [
            dataclasses.replace(node, embedding=vectors[node.id]) if node.id in vectors else node for node in nodes
        ]
        hashes = {node.id: embeddings.hashes[node.id] for node in nodes if node.id in embeddings.hashes}
        return cls(
            {node.id: node for node in nodes},
            {edge.id: edge for edge in edges},
            Hierarchy.of(nodes).parents,
            {node.id: _node_content(stored_node(graph.id, node, ""), hashes.get(node.id), node) for node in nodes},
            {edge.id: _edge_content(stored_edge(graph.id, edge, ""), edge) for edge in edges},
            hashes,
        )

    def changes(self, stored: _Stored) -> Changes:
        """Compare with the stored content."""
        return Changes(
            tuple(sorted(self.nodes.keys() - stored.nodes.keys())),
            tuple(sorted(id_ for id_ in self.nodes.keys() & stored.nodes.keys() if self._node_differs(id_, stored))),
            tuple(sorted(stored.nodes.keys() - self.nodes.keys())),
            tuple(sorted(self.edges.keys() - stored.edges.keys())),
            tuple(sorted(id_ for id_ in self.edges.keys() & stored.edges.keys() if self._edge_differs(id_, stored))),
            tuple(sorted(stored.edges.keys() - self.edges.keys())),
        )

    def write(self, writer: Writer, transaction: Transaction, stored: _Stored, changes: Changes) -> None:
        """Write the changes."""
        writer.delete_edges(transaction, [*changes.edges_removed, *changes.edges_changed])
        writer.delete_nodes(transaction, changes.nodes_removed)
        types = {node_id: node.type for node_id, node in stored.nodes.items()}
        time = now()
        put = [self.nodes[node_id] for node_id in changes.nodes_added]
        for node_id in changes.nodes_changed:
            node = self.nodes[node_id]
            created = node.created_at or stored.nodes[node_id].created_at
            put.append(dataclasses.replace(node, created_at=created, updated_at=node.updated_at or time))
        writer.put_nodes(transaction, put, types, self.text_hashes)
        writer.write_parents(transaction, self._hierarchy(stored))
        edges = [self.edges[edge_id] for edge_id in changes.edges_added]
        for edge_id in changes.edges_changed:
            edge = self.edges[edge_id]
            edges.append(dataclasses.replace(edge, created_at=edge.created_at or stored.edges[edge_id].created_at))
        writer.put_edges(transaction, edges)

    def _hierarchy(self, stored: _Stored) -> Hierarchy:
        before = {node_id: node.parent for node_id, node in stored.nodes.items() if node_id in self.nodes}
        changed = {child: parent for child, parent in self.parents.items() if before.get(child) != parent}
        cleared = tuple(child for child, parent in before.items() if parent and child not in self.parents)
        return Hierarchy(changed, frozenset(), cleared)

    def _node_differs(self, node_id: str, stored: _Stored) -> bool:
        node, wanted = stored.nodes[node_id], self.node_contents[node_id]
        if node.parent != self.parents.get(node_id):
            return True
        return _kept(node.content, wanted) != wanted

    def _edge_differs(self, edge_id: str, stored: _Stored) -> bool:
        wanted = self.edge_contents[edge_id]
        return _kept(stored.edges[edge_id].content, wanted) != wanted


def _node_content(stored: dict[str, Any], text_hash: str | None, node: KnowledgeNode) -> dict[str, Any]:
    """Return what a node's stored properties shall be, without times that the node leaves to the writer."""
    left = {name for name in _TIMES_OF_WRITES if getattr(node, name) is None}
    hashed = {"text_hash": text_hash} if text_hash else {}
    return {name: value for name, value in {**stored, **hashed}.items() if name not in left}


def _edge_content(stored: dict[str, Any], edge: KnowledgeEdge) -> dict[str, Any]:
    ends = sorted((edge.source, edge.target)) if not edge.directed else [edge.source, edge.target]
    rest = {name: value for name, value in stored.items() if name != "created_at" or edge.created_at}
    return {**rest, "": ends}


def _kept(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored content without the times that are left to the writer."""
    return {name: value for name, value in stored.items() if name in wanted or name not in _TIMES_OF_WRITES}


def _stored(nodes: Iterable[Record], edges: Iterable[Record]) -> _Stored:
    return _Stored(
        {
            row["stored"]["id"]: _StoredNode(
                {name: value for name, value in row["stored"].items() if name != "embedding"},
                row["parent"],
                row["stored"]["type"],
                row["stored"]["created_at"],
            )
            for row in nodes
        },
        {row["stored"]["id"]: _stored_edge(row) for row in edges},
    )


def _stored_edge(row: Record) -> _StoredEdge:
    stored = row["stored"]
    ends = [row["source"], row["target"]]
    return _StoredEdge({**stored, "": ends if stored["directed"] else sorted(ends)}, stored.get("created_at"))
