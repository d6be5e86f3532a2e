"""Sync of a named graph: bring it to hold given nodes and edges, and write only the differences."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from neo4j import Record

from pipeline.db.catalogue import NamedGraph
from pipeline.db.client import Transaction
from pipeline.db.slots import OWN
from pipeline.errors import GraphError
from pipeline.knowledge.clock import now
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.schema import Schema
from pipeline.knowledge.store.codec import stored_edge, stored_node
from pipeline.knowledge.store.neo4j import Neo4jStore
from pipeline.knowledge.write import Hierarchy, Writer, common_dimension, refuse_repeated

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
class Embeddings:
    """Embeddings by node id, and the hashes of the texts and the model that they were made from.

    ``encoded`` is the number of texts that had to be encoded.
    """

    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    encoded: int = 0


NO_EMBEDDINGS = Embeddings()

_Contents: TypeAlias = tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]
"""Stored properties of nodes and of edges, by id; under the name "" a node's parent, an edge's ends."""


def sync(
    store: Neo4jStore,
    nodes: Sequence[KnowledgeNode],
    edges: Sequence[KnowledgeEdge],
    embeddings: Embeddings,
    schema: Schema | None,
) -> Changes:
    """Bring a graph to hold exactly these nodes and edges; see :meth:`pipeline.knowledge.KnowledgeGraph.sync`."""
    refuse_repeated(nodes, edges)
    if schema:
        schema.check(nodes, edges)
    client, graph = store.client, store.graph
    wanted = _Wanted(graph, nodes, edges, embeddings)
    read = {"graph": graph.id, "label": graph.label}
    streams = (client.stream("graph_contents_nodes", **read), client.stream("graph_contents_edges", **read))
    if not wanted.changes(_stored(*streams)):
        return Changes()
    writer = Writer(store)
    writer.add_types({node.type for node in nodes}, {edge.type for edge in edges})

    def work(transaction: Transaction) -> Changes:
        # Once more, now that nobody else writes: what was read before may have changed.
        writer.touch(transaction, common_dimension(wanted.nodes.values()), [*nodes, *edges])
        rows = (transaction.run("graph_contents_nodes", **read), transaction.run("graph_contents_edges", **read))
        stored = _stored(*rows)
        if schema:
            _refuse_others(graph.name, stored[0], schema)
        changes = wanted.changes(stored)
        wanted.write(writer, transaction, stored, changes)
        return changes

    return client.write_together(work)


def _refuse_others(graph: str, stored: Mapping[str, Mapping[str, Any]], schema: Schema) -> None:
    """Raise GraphError if a stored node is of no type of the schema: it would be lost."""
    for id_, node in stored.items():
        if node["type"] not in schema.nodes:
            raise GraphError(
                f"The graph {graph!r} is of another kind: {id_[:80]!r} in it is a {node['type']!r}.",
                f"Give another name, or export it and drop it: hoprank graph drop {graph!r}.",
            )


class _Wanted:
    """The nodes and edges that a graph shall hold, by id, and what of them is compared with the stored content."""

    def __init__(
        self, graph: NamedGraph, nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge], embeddings: Embeddings
    ) -> None:
        vectors, hashes = embeddings.vectors, embeddings.hashes
        self.nodes = {
            node.id: dataclasses.replace(node, embedding=vectors[node.id]) if node.id in vectors else node
            for node in nodes
        }
        self._edges = {edge.id: edge for edge in edges}
        self._parents = Hierarchy.of(self.nodes.values()).parents
        self._text_hashes = {node_id: hashes[node_id] for node_id in self.nodes if node_id in hashes}
        self._contents: _Contents = ({}, {})
        for node in self.nodes.values():
            stored = stored_node(graph.id, node, "")
            if text_hash := self._text_hashes.get(node.id):
                stored["text_hash"] = text_hash
            self._contents[0][node.id] = _to_compare(node, {**stored, "": self._parents.get(node.id)})
        for edge in self._edges.values():
            stored = stored_edge(graph.id, edge, "")
            self._contents[1][edge.id] = _to_compare(edge, _with_ends(stored, edge.source, edge.target))

    def changes(self, stored: _Contents) -> Changes:
        """Compare with the stored content."""
        changes: list[list[str]] = []
        for wanted, existing in zip(self._contents, stored, strict=True):
            both = wanted.keys() & existing.keys()
            changed = [id_ for id_ in both if _kept(existing[id_], wanted[id_]) != wanted[id_]]
            changes += [sorted(wanted.keys() - both), sorted(changed), sorted(existing.keys() - both)]
        return Changes(*map(tuple, changes))

    def write(self, writer: Writer, transaction: Transaction, stored: _Contents, changes: Changes) -> None:
        """Write the changes."""
        stored_nodes, stored_edges = stored
        writer.delete_edges(transaction, [*changes.edges_removed, *changes.edges_changed])
        writer.delete_nodes(transaction, changes.nodes_removed)
        time = now()
        nodes = [self.nodes[node_id] for node_id in changes.nodes_added]
        for node_id in changes.nodes_changed:
            node = self.nodes[node_id]
            created = node.created_at or stored_nodes[node_id]["created_at"]
            nodes.append(dataclasses.replace(node, created_at=created, updated_at=node.updated_at or time))
        types = {node_id: node["type"] for node_id, node in stored_nodes.items()}
        writer.put_nodes(transaction, nodes, types, self._text_hashes)
        before = {node_id: node[""] for node_id, node in stored_nodes.items() if node_id in self.nodes}
        parents = {child: parent for child, parent in self._parents.items() if before.get(child) != parent}
        cleared = tuple(child for child, parent in before.items() if parent and child not in self._parents)
        writer.write_parents(transaction, Hierarchy(parents, frozenset(), cleared))
        edges = [self._edges[edge_id] for edge_id in changes.edges_added]
        for edge_id in changes.edges_changed:
            edge = self._edges[edge_id]
            created = edge.created_at or stored_edges[edge_id].get("created_at")
            edges.append(dataclasses.replace(edge, created_at=created))
        writer.put_edges(transaction, edges)


def _to_compare(record: KnowledgeNode | KnowledgeEdge, content: dict[str, Any]) -> dict[str, Any]:
    """Return a record's content without the times that it leaves to the writer."""
    left = {name for name in _TIMES_OF_WRITES if getattr(record, name, "") is None}
    return {name: value for name, value in content.items() if name not in left}


def _kept(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored content without the times that are left to the writer."""
    return {name: value for name, value in stored.items() if name in wanted or name not in _TIMES_OF_WRITES}


def _with_ends(stored: Mapping[str, Any], source: str, target: str) -> dict[str, Any]:
    return {**stored, "": [source, target] if stored["directed"] else sorted((source, target))}


def _stored(nodes: Iterable[Record], edges: Iterable[Record]) -> _Contents:
    contents = ({**row["stored"], "": row["parent"]} for row in nodes)
    return (
        {node["id"]: {name: value for name, value in node.items() if _is_compared(name)} for node in contents},
        {row["stored"]["id"]: _with_ends(row["stored"], row["source"], row["target"]) for row in edges},
    )


def _is_compared(name: str) -> bool:
    return name != "embedding" and not name.startswith(OWN)
