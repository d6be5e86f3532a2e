"""Changes to a named graph: each call is one transaction, which is rolled back on any error."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from pipeline.db.client import Client, batches
from pipeline.db.transaction import Transaction
from pipeline.errors import GraphError
from pipeline.knowledge.catalogue import NamedGraph, now
from pipeline.knowledge.hierarchy import Hierarchy, write_parents
from pipeline.knowledge.records import Json, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.codec import edge_key, node_key, read_node, stored_edge, stored_node

_BATCH = 5_000
_MAX_SHOWN = 5


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


class Writer:
    """Writes to one named graph; concurrent writers of the same graph wait for each other."""

    def __init__(self, client: Client, graph: NamedGraph) -> None:
        self._client = client
        self._graph = graph

    def add(
        self, nodes: Sequence[KnowledgeNode] = (), edges: Sequence[KnowledgeEdge] = (), *, replace: bool = False
    ) -> None:
        """Write nodes, and edges between new or existing nodes.

        Raises GraphError if a node or edge exists already (without ``replace``), or if an edge lacks an endpoint.
        """
        _refuse_repeated([node.id for node in nodes], "node")
        _refuse_repeated([edge.id for edge in edges], "edge")
        dimension = common_dimension(nodes)

        def work(transaction: Transaction) -> None:
            self._touch(transaction, dimension)
            self._add_nodes(transaction, nodes, replace=replace)
            self._add_edges(transaction, edges, replace=replace)

        self._client.write_together(work)

    def _add_nodes(self, transaction: Transaction, nodes: Sequence[KnowledgeNode], *, replace: bool) -> None:
        existing = self._existing(transaction, "existing_nodes", [self._node_key(node.id) for node in nodes])
        if existing and not replace:
            raise self._exists_already("node", existing, "Use update_node, or add_nodes(..., replace=True).")
        created_at = self._creation_times(transaction, list(existing))
        dated = [
            dataclasses.replace(node, created_at=node.created_at or created_at[node.id])
            if node.id in created_at
            else node
            for node in nodes
        ]
        self._put(transaction, dated)
        self._write_parents(transaction, Hierarchy.of(nodes, cleared=existing.values()))

    def _add_edges(self, transaction: Transaction, edges: Sequence[KnowledgeEdge], *, replace: bool) -> None:
        existing = self._existing(transaction, "existing_edges", [edge_key(self._graph.id, edge.id) for edge in edges])
        if existing and not replace:
            raise self._exists_already("edge", existing, "Give another id, or replace=True.")
        if existing:
            transaction.run("delete_edges", keys=list(existing))
        for batch in batches(edges, _BATCH):
            rows = [self._edge_row(edge) for edge in batch]
            if transaction.run("put_edges", rows=rows)[0]["written"] < len(batch):
                ends = dict.fromkeys(end for edge in batch for end in (edge.source, edge.target))
                nodes = self._existing(transaction, "existing_nodes", [self._node_key(end) for end in ends])
                refuse_missing_end(self._graph.name, batch, set(nodes.values()))

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

        def work(transaction: Transaction) -> KnowledgeNode:
            self._touch(transaction, None)
            before = self._read(transaction, node_id)
            after = _updated(before, updates, remove_properties)
            self._touch(transaction, len(after.embedding) if after.embedding else None)
            self._put(transaction, [after])
            self._write_parents(transaction, Hierarchy.change(before, after))
            return self._read(transaction, node_id)

        return self._client.write_together(work)

    def remove_nodes(self, ids: Sequence[str]) -> None:
        """Delete nodes with their edges, all or none; raises GraphError naming any that don't exist."""
        keys = [self._node_key(node_id) for node_id in ids]
        self._remove(ids, "node", "existing_nodes", "delete_nodes", keys)

    def remove_edges(self, ids: Sequence[str]) -> None:
        """Delete edges, all or none; raises GraphError naming any that don't exist."""
        keys = [edge_key(self._graph.id, id_) for id_ in ids]
        self._remove(ids, "edge", "existing_edges", "delete_edges", keys)

    def _remove(self, ids: Sequence[str], kind: str, find: str, delete: str, keys: list[str]) -> None:
        def work(transaction: Transaction) -> None:
            self._touch(transaction, None)
            existing = set(self._existing(transaction, find, keys).values())
            if missing := [id_ for id_ in dict.fromkeys(ids) if id_ not in existing]:
                raise GraphError(
                    f"The graph {self._graph.name!r} has no {_listed(kind, missing)}.", "Ask for what it has."
                )
            for batch in batches(keys, _BATCH):
                transaction.run(delete, keys=batch)

        self._client.write_together(work)

    def _exists_already(self, kind: str, existing: Mapping[str, str], fix: str) -> GraphError:
        ids = list(existing.values())
        return GraphError(f"The graph {self._graph.name!r} already has the {_listed(kind, ids)}.", fix)

    def _touch(self, transaction: Transaction, dimension: int | None) -> None:
        """Lock the graph for this transaction, count the change, and check the length of new embeddings.

        Raises GraphError if the graph was dropped or if its embeddings have another length.
        """
        name = self._graph.name
        if not transaction.run("touch_graph", graph=self._graph.id):
            raise GraphError(f"The graph {name!r} was dropped meanwhile.", "Make it anew.")
        if dimension is not None:
            rows = transaction.run("set_graph_dimension", graph=self._graph.id, dimension=dimension)
            stored = rows[0]["dimension"]
            if stored != dimension:
                raise GraphError(
                    f"An embedding has {dimension} numbers; those of the graph {name!r} have {stored}.",
                    "Embed all nodes of a graph with one model.",
                )

    def _put(self, transaction: Transaction, nodes: Sequence[KnowledgeNode]) -> None:
        time = now()
        for batch in batches(nodes, _BATCH):
            rows = [node_row(self._graph.id, node, time) for node in batch]
            transaction.run("put_nodes", rows=rows, label=self._graph.label)

    def _write_parents(self, transaction: Transaction, hierarchy: Hierarchy) -> None:
        write_parents(transaction, self._graph.name, hierarchy, self._node_key)

    def _existing(self, transaction: Transaction, query: str, keys: Sequence[str]) -> dict[str, str]:
        """Return the ids of the existing nodes or edges, by key."""
        return {row["key"]: row["id"] for batch in batches(keys, _BATCH) for row in transaction.run(query, keys=batch)}

    def _creation_times(self, transaction: Transaction, keys: Sequence[str]) -> dict[str, str]:
        """Return the ``created_at`` of the existing nodes with these keys, by id."""
        return {
            row["id"]: row["created_at"]
            for batch in batches(keys, _BATCH)
            for row in transaction.run("existing_nodes", keys=batch)
        }

    def _read(self, transaction: Transaction, node_id: str) -> KnowledgeNode:
        rows = transaction.run("nodes_by_key", keys=[self._node_key(node_id)])
        if not rows:
            raise GraphError(f"The graph {self._graph.name!r} has no node {node_id[:80]!r}.", "Add it with add_node.")
        return read_node(rows[0]["stored"], rows[0]["parent"], rows[0]["children"])

    def _edge_row(self, edge: KnowledgeEdge) -> dict[str, Any]:
        return edge_row(self._graph.id, edge, self._node_key(edge.source), self._node_key(edge.target))

    def _node_key(self, node_id: str) -> str:
        return node_key(self._graph.id, node_id)


def node_row(graph_id: str, node: KnowledgeNode, time: str) -> dict[str, Any]:
    """Return a node as a row of the queries ``put_nodes`` and ``load_nodes``."""
    stored = stored_node(graph_id, node, time)
    return {"key": stored["key"], "properties": stored, "vector": list(node.embedding) if node.embedding else None}


def edge_row(graph_id: str, edge: KnowledgeEdge, source_key: str, target_key: str) -> dict[str, Any]:
    """Return an edge as a row of the query ``put_edges``."""
    return {"source": source_key, "target": target_key, "properties": stored_edge(graph_id, edge)}


def refuse_missing_end(name: str, edges: Iterable[KnowledgeEdge], node_ids: set[str]) -> None:
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


def _refuse_repeated(ids: Sequence[str], kind: str) -> None:
    if repeated := [id_ for id_, count in Counter(ids).items() if count > 1]:
        raise GraphError(f"The batch holds the {_listed(kind, repeated)} more than once.", "Give each once.")


def _listed(kind: str, ids: Sequence[str]) -> str:
    shown = ", ".join(repr(id_[:80]) for id_ in sorted(ids)[:_MAX_SHOWN])
    more = f" and {len(ids) - _MAX_SHOWN:,} more" if len(ids) > _MAX_SHOWN else ""
    return f"{kind}{'s' if len(ids) > 1 else ''} {shown}{more}"
