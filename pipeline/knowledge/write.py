"""Changes to a named graph: each call is one transaction, and leaves nothing when it fails."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict, TypeVar

from pipeline.db.client import Client
from pipeline.db.transaction import Transaction
from pipeline.errors import GraphError
from pipeline.knowledge.catalogue import NamedGraph, now
from pipeline.knowledge.hierarchy import Hierarchy, place
from pipeline.knowledge.records import Json, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.codec import edge_key, node_key, read_node, stored_edge, stored_node

ROWS_AT_ONCE = 5_000
_Row = TypeVar("_Row")
_SHOWN = 5


class NodeUpdates(TypedDict, total=False):
    """What :meth:`pipeline.knowledge.KnowledgeGraph.update_node` can change."""

    type: str
    labels: Sequence[str]
    properties: Mapping[str, Json]
    embedding: Sequence[float] | None
    created_at: str
    updated_at: str
    parent_id: str | None
    child_ids: Sequence[str]


class Writer:
    """Writes to one named graph; two writers of one graph wait for each other."""

    def __init__(self, client: Client, graph: NamedGraph) -> None:
        self._client = client
        self._graph = graph

    def add(
        self, nodes: Sequence[KnowledgeNode] = (), edges: Sequence[KnowledgeEdge] = (), *, replace: bool = False
    ) -> None:
        """Write nodes and edges between them or to what is there.

        Raises GraphError if one is there already, unless it is to be replaced, or if an edge lacks an end.
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
        known = self._known(transaction, "known_nodes", [self._node(node.id) for node in nodes])
        if known and not replace:
            raise self._there_already("node", known, "Use update_node, or add_nodes(..., replace=True).")
        made = self._made(transaction, list(known))
        kept = [
            dataclasses.replace(node, created_at=node.created_at or made[node.id]) if node.id in made else node
            for node in nodes
        ]
        self._put(transaction, kept)
        self._place(transaction, Hierarchy.of(nodes, cleared=known.values()))

    def _add_edges(self, transaction: Transaction, edges: Sequence[KnowledgeEdge], *, replace: bool) -> None:
        known = self._known(transaction, "known_edges", [edge_key(self._graph.id, edge.id) for edge in edges])
        if known and not replace:
            raise self._there_already("edge", known, "Give another id, or replace=True.")
        if known:
            transaction.run("delete_edges", keys=list(known))
        for part in parts(edges, ROWS_AT_ONCE):
            rows = [self._edge_row(edge) for edge in part]
            if transaction.run("put_edges", rows=rows)[0]["written"] < len(part):
                ends = dict.fromkeys(end for edge in part for end in (edge.source, edge.target))
                found = self._known(transaction, "known_nodes", [self._node(end) for end in ends])
                refuse_missing_end(self._graph.name, part, set(found.values()))

    def update_node(
        self, node_id: str, updates: NodeUpdates, *, remove_properties: Sequence[str] = ()
    ) -> KnowledgeNode:
        """Change a node and return it as it is then; properties are merged with those that it has."""
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
            self._place(transaction, Hierarchy.change(before, after))
            return self._read(transaction, node_id)

        return self._client.write_together(work)

    def remove_nodes(self, ids: Sequence[str]) -> None:
        """Delete nodes with their edges; raises GraphError, and deletes none, if one isn't there."""
        self._remove(ids, "node", "known_nodes", "delete_nodes", [self._node(one) for one in ids])

    def remove_edges(self, ids: Sequence[str]) -> None:
        """Delete edges; raises GraphError, and deletes none, if one isn't there."""
        keys = [edge_key(self._graph.id, one) for one in ids]
        self._remove(ids, "edge", "known_edges", "delete_edges", keys)

    def _remove(self, ids: Sequence[str], kind: str, known: str, delete: str, keys: list[str]) -> None:
        def work(transaction: Transaction) -> None:
            self._touch(transaction, None)
            found = set(self._known(transaction, known, keys).values())
            if missing := [one for one in dict.fromkeys(ids) if one not in found]:
                raise GraphError(
                    f"The graph {self._graph.name!r} has no {_named(kind, missing)}.", "Ask for what it has."
                )
            for part in parts(keys, ROWS_AT_ONCE):
                transaction.run(delete, keys=list(part))

        self._client.write_together(work)

    def _there_already(self, kind: str, known: Mapping[str, str], fix: str) -> GraphError:
        return GraphError(f"The graph {self._graph.name!r} already has the {_named(kind, list(known.values()))}.", fix)

    def _touch(self, transaction: Transaction, dimension: int | None) -> None:
        """Take the graph for this transaction, and hold its embeddings to one length."""
        name = self._graph.name
        if not transaction.run("touch_graph", graph=self._graph.id):
            raise GraphError(f"The graph {name!r} was dropped meanwhile.", "Make it anew.")
        if dimension is not None:
            known = transaction.run("set_graph_dimension", graph=self._graph.id, dimension=dimension)[0]["dimension"]
            if known != dimension:
                raise GraphError(
                    f"An embedding has {dimension} numbers; those of the graph {name!r} have {known}.",
                    "Embed all nodes of a graph with one model.",
                )

    def _put(self, transaction: Transaction, nodes: Sequence[KnowledgeNode]) -> None:
        time = now()
        for part in parts(nodes, ROWS_AT_ONCE):
            rows = [node_row(self._graph.id, node, time) for node in part]
            transaction.run("put_nodes", rows=rows, label=self._graph.label)

    def _place(self, transaction: Transaction, hierarchy: Hierarchy) -> None:
        place(transaction, self._graph.name, hierarchy, self._node)

    def _known(self, transaction: Transaction, query: str, keys: Sequence[str]) -> dict[str, str]:
        """Return the ids, by key, of those that are there."""
        return {
            row["key"]: row["id"]
            for part in parts(keys, ROWS_AT_ONCE)
            for row in transaction.run(query, keys=list(part))
        }

    def _made(self, transaction: Transaction, keys: Sequence[str]) -> dict[str, str]:
        """Return when the nodes of these keys were made, by id."""
        return {
            row["id"]: row["created_at"]
            for part in parts(keys, ROWS_AT_ONCE)
            for row in transaction.run("known_nodes", keys=list(part))
        }

    def _read(self, transaction: Transaction, node_id: str) -> KnowledgeNode:
        rows = transaction.run("nodes_by_key", keys=[self._node(node_id)])
        if not rows:
            raise GraphError(f"The graph {self._graph.name!r} has no node {node_id[:80]!r}.", "Add it with add_node.")
        return read_node(rows[0]["stored"], rows[0]["parent"], rows[0]["children"])

    def _edge_row(self, edge: KnowledgeEdge) -> dict[str, Any]:
        return edge_row(self._graph.id, edge, self._node(edge.source), self._node(edge.target))

    def _node(self, node_id: str) -> str:
        return node_key(self._graph.id, node_id)


def node_row(graph_id: str, node: KnowledgeNode, time: str) -> dict[str, Any]:
    """Return a node as the query ``put_nodes`` takes it."""
    stored = stored_node(graph_id, node, time)
    return {"key": stored["key"], "properties": stored, "vector": list(node.embedding) if node.embedding else None}


def edge_row(graph_id: str, edge: KnowledgeEdge, source_key: str, target_key: str) -> dict[str, Any]:
    """Return an edge as the query ``put_edges`` takes it."""
    return {"source": source_key, "target": target_key, "properties": stored_edge(graph_id, edge)}


def refuse_missing_end(name: str, edges: Iterable[KnowledgeEdge], known: set[str]) -> None:
    """Raise GraphError naming the first of ``edges`` one of whose ends isn't among the ``known`` nodes."""
    for edge in edges:
        for end in (edge.source, edge.target):
            if end not in known:
                raise GraphError(
                    f"The edge {edge.id[:80]!r} needs the node {end[:80]!r}, which the graph {name!r} doesn't have.",
                    "Add the nodes first. Nothing of this batch was kept.",
                )


def common_dimension(nodes: Iterable[KnowledgeNode]) -> int | None:
    """Return the length of the nodes' embeddings; raises GraphError if they differ, returns None if there is none."""
    lengths = {len(node.embedding): node.id for node in nodes if node.embedding}
    if len(lengths) > 1:
        said = " and ".join(f"{length} ({node_id[:40]!r})" for length, node_id in sorted(lengths.items())[:2])
        raise GraphError(f"Embeddings of one graph have one length, not {said}.", "Embed them with one model.")
    return next(iter(lengths), None)


def parts(rows: Sequence[_Row], size: int) -> Iterator[Sequence[_Row]]:
    """Yield ``rows`` in parts of ``size``."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _updated(before: KnowledgeNode, updates: NodeUpdates, remove: Sequence[str]) -> KnowledgeNode:
    kept = {name: value for name, value in before.properties.items() if name not in remove}
    changes: dict[str, Any] = {"updated_at": now(), **updates}
    changes["properties"] = {**kept, **updates.get("properties", {})}
    return dataclasses.replace(before, **changes)


def _refuse_repeated(ids: Sequence[str], kind: str) -> None:
    if repeated := [one for one, count in Counter(ids).items() if count > 1]:
        raise GraphError(f"The batch holds the {_named(kind, repeated)} more than once.", "Give each once.")


def _named(kind: str, ids: Sequence[str]) -> str:
    shown = ", ".join(repr(one[:80]) for one in sorted(ids)[:_SHOWN])
    more = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
    return f"{kind}{'s' if len(ids) > 1 else ''} {shown}{more}"
