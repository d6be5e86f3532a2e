"""Changes to a named graph: each call is one transaction, which is rolled back on any error."""

import dataclasses
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypedDict

from pipeline.db.catalogue import NamedGraph
from pipeline.db.client import batches
from pipeline.db.transaction import Transaction
from pipeline.errors import GraphError, UnknownNode
from pipeline.knowledge.catalogue import add_types
from pipeline.knowledge.clock import now
from pipeline.knowledge.hierarchy import Hierarchy, write_parents
from pipeline.knowledge.native import label_of, relationship_type_of
from pipeline.knowledge.records import Json, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.codec import edge_key, node_key, read_node, stored_edge, stored_node
from pipeline.knowledge.store.neo4j import Neo4jStore
from pipeline.knowledge.visibility import ALL

NO_HASHES: Mapping[str, str] = MappingProxyType({})

_BATCH = 5_000
_MAX_SHOWN = 5


class _StoredNode(NamedTuple):
    type: str
    created_at: str


class NodeUpdates(TypedDict, total=False):
    """The fields that :meth:`pipeline.knowledge.KnowledgeGraph.update_node` can change."""

    type: str
    labels: Sequence[str]
    properties: Mapping[str, Json]
    embedding: Sequence[float] | None
    created_at: str
    updated_at: str
    parent_id: str | None
    child_ids: Sequence[str]
    valid_at: str | None
    invalid_at: str | None
    expired_at: str | None


class Writer:
    """Writes to one named graph; concurrent writers of the same graph wait for each other.

    The ``graph`` of the store is updated as the writer learns more of it.
    """

    def __init__(self, store: Neo4jStore) -> None:
        self._client = store.client
        self._store = store

    @property
    def _graph(self) -> NamedGraph:
        return self._store.graph

    def add(
        self, nodes: Sequence[KnowledgeNode] = (), edges: Sequence[KnowledgeEdge] = (), *, replace: bool = False
    ) -> None:
        """Write nodes, and edges between new or existing nodes.

        Raises GraphError if a node or edge exists already (without ``replace``), or if an edge lacks an endpoint.
        """
        refuse_repeated([node.id for node in nodes], "node")
        refuse_repeated([edge.id for edge in edges], "edge")
        dimension = common_dimension(nodes)
        self.add_types(nodes, edges)

        def work(transaction: Transaction) -> None:
            self.touch(transaction, dimension, [*nodes, *edges])
            self._add_nodes(transaction, nodes, replace=replace)
            self._add_edges(transaction, edges, replace=replace)

        self._client.write_together(work)

    def add_types(self, nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge]) -> None:
        """Let the graph have the types of these; before a transaction, since it may make indexes."""
        labels = {label_of(node_type) for node_type in {node.type for node in nodes}}
        edge_types = {relationship_type_of(edge_type) for edge_type in {edge.type for edge in edges}}
        self._store.graph = add_types(self._client, self._graph, labels, edge_types)

    def _add_nodes(self, transaction: Transaction, nodes: Sequence[KnowledgeNode], *, replace: bool) -> None:
        stored = self._stored_nodes(transaction, [node.id for node in nodes])
        if stored and not replace:
            raise self._exists_already("node", list(stored), "Use update_node, or add_nodes(..., replace=True).")
        dated = [
            dataclasses.replace(node, created_at=node.created_at or stored[node.id].created_at)
            if node.id in stored
            else node
            for node in nodes
        ]
        self.put_nodes(transaction, dated, {node_id: node.type for node_id, node in stored.items()})
        self.write_parents(transaction, Hierarchy.of(nodes, cleared=stored))

    def _add_edges(self, transaction: Transaction, edges: Sequence[KnowledgeEdge], *, replace: bool) -> None:
        existing = self._existing_edges(transaction, [edge.id for edge in edges])
        if existing and not replace:
            raise self._exists_already("edge", existing, "Give another id, or replace=True.")
        self.delete_edges(transaction, existing)
        self.put_edges(transaction, edges)

    def update_node(
        self, node_id: str, updates: NodeUpdates, *, remove_properties: Sequence[str] = ()
    ) -> KnowledgeNode:
        """Change a node and return the updated node; properties are merged into the existing ones."""
        unknown = updates.keys() - NodeUpdates.__annotations__.keys()
        if unknown:
            raise GraphError(
                f"A node has no {', '.join(sorted(unknown))} to update.",
                f"Give any of {', '.join(NodeUpdates.__annotations__)}.",
            )

        if "type" in updates:
            self._store.graph = add_types(self._client, self._graph, [label_of(updates["type"])], ())

        def work(transaction: Transaction) -> KnowledgeNode:
            self.touch(transaction, None)
            before = self._read(transaction, node_id)
            after = _updated(before, updates, remove_properties)
            self.note(transaction, len(after.embedding) if after.embedding else None, [after])
            self.put_nodes(transaction, [after], {before.id: before.type})
            self.write_parents(transaction, Hierarchy.change(before, after))
            return self._read(transaction, node_id)

        return self._client.write_together(work)

    def remove_nodes(self, ids: Sequence[str]) -> None:
        """Delete nodes with their edges, all or none; raises GraphError naming any that don't exist."""

        def work(transaction: Transaction) -> None:
            self.touch(transaction, None)
            self._refuse_missing("node", ids, self._stored_nodes(transaction, ids))
            self.delete_nodes(transaction, ids)

        self._client.write_together(work)

    def remove_edges(self, ids: Sequence[str]) -> None:
        """Delete edges, all or none; raises GraphError naming any that don't exist."""

        def work(transaction: Transaction) -> None:
            self.touch(transaction, None)
            self._refuse_missing("edge", ids, self._existing_edges(transaction, ids))
            self.delete_edges(transaction, ids)

        self._client.write_together(work)

    def touch(
        self,
        transaction: Transaction,
        dimension: int | None,
        records: Iterable[KnowledgeNode | KnowledgeEdge] = (),
    ) -> None:
        """Lock the graph for this transaction, count the change, and :meth:`note` what ``records`` bring.

        Raises GraphError if the graph was dropped.
        """
        rows = transaction.run("touch_graph", graph=self._graph.id)
        if not rows:
            raise GraphError(f"The graph {self._graph.name!r} was dropped meanwhile.", "Make it anew.")
        self._store.graph = NamedGraph.of(rows[0]["graph"])
        self.note(transaction, dimension, records)

    def note(
        self, transaction: Transaction, dimension: int | None, records: Iterable[KnowledgeNode | KnowledgeEdge]
    ) -> None:
        """Note that a locked graph gets times or embeddings, unless it has some.

        ``dimension`` is the length of new embeddings. Raises GraphError if the graph's have another length.
        """
        graph = self._graph
        if not graph.temporal and is_temporal(records):
            transaction.run("mark_temporal", graph=graph.id)
        if dimension is None or dimension == graph.dimension:
            return
        if graph.dimension is not None:
            raise GraphError(
                f"An embedding has {dimension} numbers; those of the graph {graph.name!r} have {graph.dimension}.",
                "Embed all nodes of a graph with one model.",
            )
        transaction.run("set_graph_dimension", graph=graph.id, dimension=dimension)

    def put_nodes(
        self,
        transaction: Transaction,
        nodes: Iterable[KnowledgeNode],
        types: Mapping[str, str],
        text_hashes: Mapping[str, str] = NO_HASHES,
    ) -> None:
        """Create or overwrite nodes; ``types`` are the stored types of those that exist, by id.

        ``text_hashes`` are the hashes of the texts behind embeddings, by node id.
        """
        time = now()
        for batch in batches(nodes, _BATCH):
            rows = [node_row(self._graph.id, node, time, text_hashes.get(node.id)) for node in batch]
            for row, node in zip(rows, batch, strict=True):
                former = types.get(node.id, node.type)
                row["former"] = [label_of(former)] if label_of(former) != row["label"] else []
            transaction.run("put_nodes", rows=rows, label=self._graph.label)

    def put_edges(self, transaction: Transaction, edges: Iterable[KnowledgeEdge], *, replace: bool = False) -> None:
        """Create edges, with ``replace`` in place of those with their ids.

        Raises GraphError naming the first endpoint that the graph lacks.
        """
        time = now()
        query = ("replace_edges", self._edge_types()) if replace else ("put_edges", {})
        for batch in batches(edges, _BATCH):
            rows = [self._edge_row(edge, time) for edge in batch]
            if transaction.run(*query, rows=rows)[0]["written"] < len(batch):
                ends = dict.fromkeys(end for edge in batch for end in (edge.source, edge.target))
                refuse_missing_end(self._graph.name, batch, set(self._stored_nodes(transaction, list(ends))))

    def delete_nodes(self, transaction: Transaction, ids: Iterable[str]) -> None:
        """Delete nodes with their edges."""
        for batch in batches(map(self._node_key, ids), _BATCH):
            transaction.run("delete_nodes", keys=batch)

    def delete_edges(self, transaction: Transaction, ids: Iterable[str]) -> None:
        """Delete edges."""
        for batch in batches(map(self._edge_key, ids), _BATCH):
            transaction.run("delete_edges", self._edge_types(), keys=batch)

    def write_parents(self, transaction: Transaction, hierarchy: Hierarchy) -> None:
        """Write a change of the hierarchy; raises GraphError if it can't be."""
        write_parents(transaction, self._graph.name, hierarchy, self._node_key)

    def stored_types(self, transaction: Transaction, ids: Sequence[str]) -> dict[str, str]:
        """Return the types of the existing nodes with these ids, by id."""
        return {node_id: node.type for node_id, node in self._stored_nodes(transaction, ids).items()}

    def _stored_nodes(self, transaction: Transaction, ids: Sequence[str]) -> dict[str, _StoredNode]:
        """Return type and creation time of the existing nodes with these ids, by id."""
        return {
            row["id"]: _StoredNode(row["type"], row["created_at"])
            for batch in batches(map(self._node_key, ids), _BATCH)
            for row in transaction.run("existing_nodes", keys=batch)
        }

    def _existing_edges(self, transaction: Transaction, ids: Sequence[str]) -> list[str]:
        """Return those of these ids that edges have."""
        if not self._graph.edge_types:
            return []
        return [
            row["id"]
            for batch in batches(map(self._edge_key, ids), _BATCH)
            for row in transaction.run("existing_edges", self._edge_types(), keys=batch)
        ]

    def _edge_types(self) -> dict[str, str]:
        return {"edge_types": "|".join(sorted(self._graph.edge_types))}

    def _refuse_missing(self, kind: str, ids: Sequence[str], existing: Collection[str]) -> None:
        if missing := [id_ for id_ in dict.fromkeys(ids) if id_ not in existing]:
            raise GraphError(f"The graph {self._graph.name!r} has no {_listed(kind, missing)}.", "Ask for what it has.")

    def _exists_already(self, kind: str, ids: Sequence[str], fix: str) -> GraphError:
        return GraphError(f"The graph {self._graph.name!r} already has the {_listed(kind, ids)}.", fix)

    def _read(self, transaction: Transaction, node_id: str) -> KnowledgeNode:
        keys = [self._node_key(node_id)]
        rows = transaction.run("nodes_by_key", graph=self._graph.id, keys=keys, **ALL.params())
        if not rows:
            raise UnknownNode(f"The graph {self._graph.name!r} has no node {node_id[:80]!r}.", "Add it with add_node.")
        return read_node(rows[0]["stored"], rows[0]["parent"], rows[0]["children"])

    def _edge_row(self, edge: KnowledgeEdge, time: str) -> dict[str, Any]:
        return edge_row(self._graph.id, edge, self._node_key(edge.source), self._node_key(edge.target), time)

    def _node_key(self, node_id: str) -> str:
        return node_key(self._graph.id, node_id)

    def _edge_key(self, edge_id: str) -> str:
        return edge_key(self._graph.id, edge_id)


def node_row(graph_id: str, node: KnowledgeNode, time: str, text_hash: str | None = None) -> dict[str, Any]:
    """Return a node as a row of the queries ``put_nodes`` and ``load_nodes``."""
    stored = stored_node(graph_id, node, time)
    if text_hash:
        stored["text_hash"] = text_hash
    vector = list(node.embedding) if node.embedding else None
    return {"key": stored["key"], "properties": stored, "vector": vector, "label": label_of(node.type)}


def edge_row(graph_id: str, edge: KnowledgeEdge, source_key: str, target_key: str, time: str) -> dict[str, Any]:
    """Return an edge as a row of the query ``put_edges``."""
    properties = stored_edge(graph_id, edge, time)
    return {
        "source": source_key,
        "target": target_key,
        "type": relationship_type_of(edge.type),
        "properties": properties,
    }


def is_temporal(records: Iterable[KnowledgeNode | KnowledgeEdge]) -> bool:
    """Return whether any of these has an end, or begins later than now."""
    time = now()
    return any(
        record.valid_at or record.invalid_at or record.expired_at or (record.created_at or "") > time
        for record in records
    )


def refuse_missing_end(name: str, edges: Iterable[KnowledgeEdge], node_ids: Container[str]) -> None:
    """Raise GraphError naming the first edge with an endpoint outside ``node_ids``; ``name`` is the graph's."""
    for edge in edges:
        for end in (edge.source, edge.target):
            if end not in node_ids:
                raise GraphError(
                    f"The edge {edge.id[:80]!r} needs the node {end[:80]!r}, which the graph {name!r} doesn't have.",
                    "Add the nodes first. Nothing of this batch was kept.",
                )


def common_dimension(nodes: Iterable[KnowledgeNode]) -> int | None:
    """Return the length of the nodes' embeddings, or None if there are none; raises GraphError if lengths differ."""
    lengths = {len(node.embedding): node.id for node in nodes if node.embedding}
    if len(lengths) > 1:
        examples = " and ".join(f"{length} ({node_id[:40]!r})" for length, node_id in sorted(lengths.items())[:2])
        raise GraphError(f"Embeddings of one graph have one length, not {examples}.", "Embed them with one model.")
    return next(iter(lengths), None)


def _updated(before: KnowledgeNode, updates: NodeUpdates, remove: Sequence[str]) -> KnowledgeNode:
    remaining = {name: value for name, value in before.properties.items() if name not in remove}
    changes: dict[str, Any] = {"updated_at": now(), **updates}
    changes["properties"] = {**remaining, **updates.get("properties", {})}
    return dataclasses.replace(before, **changes)


def refuse_repeated(ids: Sequence[str], kind: str) -> None:
    """Raise GraphError naming the ids that are there more than once."""
    if repeated := [id_ for id_, count in Counter(ids).items() if count > 1]:
        raise GraphError(f"The batch holds the {_listed(kind, repeated)} more than once.", "Give each once.")


def _listed(kind: str, ids: Sequence[str]) -> str:
    shown = ", ".join(repr(id_[:80]) for id_ in sorted(ids)[:_MAX_SHOWN])
    more = f" and {len(ids) - _MAX_SHOWN:,} more" if len(ids) > _MAX_SHOWN else ""
    return f"{kind}{'s' if len(ids) > 1 else ''} {shown}{more}"
