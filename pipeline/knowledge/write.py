"""Changes to a named graph: each call is one transaction, which is rolled back on any error."""

import dataclasses
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self, TypedDict

from neo4j import Record

from pipeline.db.catalogue import NamedGraph
from pipeline.db.client import Transaction, batches
from pipeline.db.indexes import node_vectors_label
from pipeline.db.slots import NODE_FIELDS
from pipeline.errors import GraphError, UnknownNode
from pipeline.knowledge.catalogue import add_types
from pipeline.knowledge.clock import now
from pipeline.knowledge.records import Json, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store import codec
from pipeline.knowledge.store.neo4j import Neo4jStore
from pipeline.knowledge.visibility import ALL

_BATCH = 5_000  # rows of a query; chosen by hand, not measured
_MAX_SHOWN = 5  # ids in an error


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


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A change of parents and children, which are one ``CHILD_OF`` relationship, whether child or parent declares it.

    ``parents`` maps a child to its new parent. ``claimed`` are the children declared by the parent alone. ``cleared``
    are the nodes that lose their parent.
    """

    parents: dict[str, str]
    claimed: frozenset[str]
    cleared: tuple[str, ...]

    @classmethod
    def of(cls, nodes: Iterable[KnowledgeNode], cleared: Iterable[str] = ()) -> Self:
        """Return the hierarchy that nodes declare; raises GraphError if a node gets two parents."""
        nodes = list(nodes)
        parents = {node.id: node.parent_id for node in nodes if node.parent_id is not None}
        declared = frozenset(parents)
        for node in nodes:
            for child in node.child_ids:
                if parents.setdefault(child, node.id) != node.id:
                    raise _two_parents(child, parents[child], node.id)
        orphaned = tuple(node_id for node_id in cleared if node_id not in parents)
        return cls(parents, frozenset(parents) - declared, orphaned)

    @classmethod
    def change(cls, before: KnowledgeNode, after: KnowledgeNode) -> Self:
        """Return the change that an update of one node makes."""
        lost = [child for child in before.child_ids if child not in after.child_ids]
        if before.parent_id is not None and after.parent_id is None:
            lost.append(after.id)
        new = set(after.child_ids) - set(before.child_ids)
        parents = dict.fromkeys(sorted(new), after.id)
        if after.parent_id is not None and after.parent_id != before.parent_id:
            parents[after.id] = after.parent_id
        return cls(parents, frozenset(new), tuple(lost))


class Writer:
    """Writes to one named graph, and updates the store's; concurrent writers of a graph wait for each other."""

    def __init__(self, store: Neo4jStore) -> None:
        self._client = store.client
        self._store = store

    @property
    def _graph(self) -> NamedGraph:
        return self._store.graph

    def add(
        self, nodes: Sequence[KnowledgeNode] = (), edges: Sequence[KnowledgeEdge] = (), *, replace: bool = False
    ) -> None:
        """Write nodes, and edges between new or existing nodes; see ``add_nodes`` of the graph."""
        refuse_repeated(nodes, edges)
        dimension = common_dimension(nodes)
        self.add_types({node.type for node in nodes}, {edge.type for edge in edges})

        def work(transaction: Transaction) -> None:
            self.touch(transaction, dimension, [*nodes, *edges])
            stored = self.stored_nodes(transaction, [node.id for node in nodes])
            if stored and not replace:
                raise self._exists_already("node", stored, "Use update_node, or add_nodes(..., replace=True).")
            dated = [
                dataclasses.replace(node, created_at=node.created_at or stored[node.id]["created_at"])
                if node.id in stored
                else node
                for node in nodes
            ]
            self.put_nodes(transaction, dated, {node_id: row["type"] for node_id, row in stored.items()})
            self.write_parents(transaction, Hierarchy.of(nodes, cleared=stored))
            existing = self._existing_edges(transaction, [edge.id for edge in edges])
            if existing and not replace:
                raise self._exists_already("edge", existing, "Give another id, or replace=True.")
            self.delete_edges(transaction, existing)
            self.put_edges(transaction, edges)

        self._client.write_together(work)

    def add_types(self, node_types: Iterable[str], edge_types: Iterable[str] = ()) -> None:
        """Let the graph have these types; before a transaction, since it may make indexes."""
        labels, relationship_types = map(codec.label_of, node_types), map(codec.relationship_type_of, edge_types)
        self._store.graph = add_types(self._client, self._graph, labels, relationship_types)

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
            self.add_types([updates["type"]])

        def work(transaction: Transaction) -> KnowledgeNode:
            self.touch(transaction)
            before = self._read(transaction, node_id)
            properties = {name: value for name, value in before.properties.items() if name not in remove_properties}
            changes: dict[str, Any] = {"updated_at": now(), **updates}
            changes["properties"] = {**properties, **updates.get("properties", {})}
            after = dataclasses.replace(before, **changes)
            self.note(transaction, len(after.embedding) if after.embedding else None, [after])
            self.put_nodes(transaction, [after], {before.id: before.type})
            self.write_parents(transaction, Hierarchy.change(before, after))
            return self._read(transaction, node_id)

        return self._client.write_together(work)

    def remove(self, kind: str, ids: Sequence[str]) -> None:
        """Delete nodes with their edges, or edges, by ``kind``: all or none; raises GraphError naming any missing."""
        nodes = kind == "node"

        def work(transaction: Transaction) -> None:
            self.touch(transaction)
            existing = self.stored_nodes(transaction, ids) if nodes else self._existing_edges(transaction, ids)
            if missing := [id_ for id_ in dict.fromkeys(ids) if id_ not in existing]:
                listed = _listed(kind, missing)
                raise GraphError(f"The graph {self._graph.name!r} has no {listed}.", "Ask for what it has.")
            (self.delete_nodes if nodes else self.delete_edges)(transaction, ids)

        self._client.write_together(work)

    def touch(
        self,
        transaction: Transaction,
        dimension: int | None = None,
        records: Iterable[KnowledgeNode | KnowledgeEdge] = (),
    ) -> None:
        """Lock the graph for this transaction, count a change, and :meth:`note`; raises GraphError if it is gone."""
        rows = transaction.run("touch_graph", graph=self._graph.id)
        if not rows:
            raise GraphError(f"The graph {self._graph.name!r} was dropped meanwhile.", "Make it anew.")
        self._store.graph = NamedGraph.of(rows[0]["graph"])
        self.note(transaction, dimension, records)

    def note(
        self, transaction: Transaction, dimension: int | None, records: Iterable[KnowledgeNode | KnowledgeEdge]
    ) -> None:
        """Record that a locked graph gets times, or embeddings of this length; raises GraphError if it has another."""
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
        text_hashes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Create or overwrite nodes; ``types`` are the stored ones, ``text_hashes`` those of embedded texts, by id."""
        time = now()
        for batch in batches(nodes, _BATCH):
            rows = [node_row(self._graph.id, node, time, text_hashes.get(node.id)) for node in batch]
            for row, node in zip(rows, batch, strict=True):
                former = types.get(node.id, node.type)
                row["former"] = [codec.label_of(former)] if codec.label_of(former) not in row["labels"] else []
            graph, slot = self._graph, self._graph.slot
            labels = [graph.label, *([slot.texts] if slot else [])]
            transaction.run("put_nodes", rows=rows, labels=labels, copies=slot.pairs(NODE_FIELDS) if slot else [])

    def put_edges(self, transaction: Transaction, edges: Iterable[KnowledgeEdge], *, replace: bool = False) -> None:
        """Create edges, or ``replace`` those with their ids; raises GraphError naming an endpoint that is missing."""
        time = now()
        query = ("replace_edges", self._edge_types()) if replace else ("put_edges", {})
        for batch in batches(edges, _BATCH):
            rows = [
                {
                    "source": self._node_key(edge.source),
                    "target": self._node_key(edge.target),
                    "type": codec.relationship_type_of(edge.type),
                    "properties": codec.stored_edge(self._graph.id, edge, time),
                }
                for edge in batch
            ]
            if transaction.run(*query, rows=rows)[0]["written"] < len(batch):
                ends = dict.fromkeys(end for edge in batch for end in (edge.source, edge.target))
                refuse_missing_end(self._graph.name, batch, self.stored_nodes(transaction, ends))

    def delete_nodes(self, transaction: Transaction, ids: Iterable[str]) -> None:
        """Delete nodes with their edges."""
        for batch in batches(map(self._node_key, ids), _BATCH):
            transaction.run("delete_nodes", keys=batch)

    def delete_edges(self, transaction: Transaction, ids: Iterable[str]) -> None:
        """Delete edges."""
        for batch in self._edge_keys(ids):
            transaction.run("delete_edges", self._edge_types(), keys=batch)

    def write_parents(self, transaction: Transaction, hierarchy: Hierarchy) -> None:
        """Write a change of the hierarchy.

        Raises GraphError if a parent or child doesn't exist, if a parent claims a child of another parent, or if a node
        would become its own ancestor.
        """
        parents, key = hierarchy.parents, self._node_key
        if hierarchy.cleared:
            transaction.run("clear_parents", keys=list(map(key, hierarchy.cleared)))
        if not parents:
            return
        for row in transaction.run("parents", keys=list(map(key, sorted(hierarchy.claimed)))):
            if row["parent"] != parents[row["id"]]:
                raise _two_parents(row["id"], row["parent"], parents[row["id"]])
        rows = [{"child": key(child), "parent": key(parent)} for child, parent in parents.items()]
        if transaction.run("set_parents", rows=rows)[0]["written"] < len(rows):
            pairs = [pair for child, parent in parents.items() for pair in ((parent, child), (child, parent))]
            existing = self.stored_nodes(transaction, [node_id for node_id, _ in pairs])
            absent, relative = next((pair for pair in pairs if pair[0] not in existing), ("", ""))
            raise GraphError(
                f"The node {relative[:80]!r} names {absent[:80]!r} as its parent or child, "
                f"which the graph {self._graph.name!r} doesn't have.",
                "Add both, in one batch or the parent first.",
            )
        refuse_cycles(transaction.run("own_ancestors", keys=[row["child"] for row in rows]))

    def stored_nodes(self, transaction: Transaction, ids: Iterable[str]) -> dict[str, Record]:
        """Return ``type`` and ``created_at`` of the existing nodes with these ids, by id."""
        return {
            row["id"]: row
            for batch in batches(map(self._node_key, ids), _BATCH)
            for row in transaction.run("existing_nodes", keys=batch)
        }

    def _existing_edges(self, transaction: Transaction, ids: Sequence[str]) -> list[str]:
        """Return those of these ids that edges have."""
        if not self._graph.edge_types:
            return []
        return [
            row["id"]
            for batch in self._edge_keys(ids)
            for row in transaction.run("existing_edges", self._edge_types(), keys=batch)
        ]

    def _edge_keys(self, ids: Iterable[str]) -> Iterator[list[str]]:
        return batches((codec.edge_key(self._graph.id, edge_id) for edge_id in ids), _BATCH)

    def _edge_types(self) -> dict[str, str]:
        return {"edge_types": "|".join(sorted(self._graph.edge_types))}

    def _exists_already(self, kind: str, ids: Collection[str], fix: str) -> GraphError:
        return GraphError(f"The graph {self._graph.name!r} already has the {_listed(kind, ids)}.", fix)

    def _read(self, transaction: Transaction, node_id: str) -> KnowledgeNode:
        keys = [self._node_key(node_id)]
        rows = transaction.run("nodes_by_key", graph=self._graph.id, keys=keys, **ALL.params())
        if not rows:
            raise UnknownNode(f"The graph {self._graph.name!r} has no node {node_id[:80]!r}.", "Add it with add_node.")
        return codec.read_node(rows[0]["stored"], rows[0]["parent"], rows[0]["children"])

    def _node_key(self, node_id: str) -> str:
        return codec.node_key(self._graph.id, node_id)


def node_row(graph_id: str, node: KnowledgeNode, time: str, text_hash: str | None = None) -> dict[str, Any]:
    """Return a node as a row of the queries ``put_nodes`` and ``load_nodes``."""
    stored = codec.stored_node(graph_id, node, time)
    if text_hash:
        stored["text_hash"] = text_hash
    vector = list(node.embedding) if node.embedding else None
    labels = [codec.label_of(node.type), *([node_vectors_label(len(vector))] if vector else [])]
    return {"key": stored["key"], "properties": stored, "vector": vector, "labels": labels}


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


def refuse_repeated(nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge]) -> None:
    """Raise GraphError naming the ids that several of these nodes, or of these edges, have."""
    for kind, ids in (("node", [node.id for node in nodes]), ("edge", [edge.id for edge in edges])):
        if repeated := [id_ for id_, count in Counter(ids).items() if count > 1]:
            raise GraphError(f"The batch holds the {_listed(kind, repeated)} more than once.", "Give each once.")


def refuse_cycles(rows: Sequence[Record]) -> None:
    """Raise GraphError if there are any ``rows``: the nodes that are their own ancestors."""
    if rows:
        names = ", ".join(repr(str(row["id"])[:80]) for row in rows)
        raise GraphError(f"{names} would be their own ancestors.", "Let parents and children make a tree.")


def _two_parents(child: str, first: str, second: str) -> GraphError:
    return GraphError(
        f"The node {child[:80]!r} would have two parents, {first[:80]!r} and {second[:80]!r}.",
        "Name one; to move a node, update its parent_id.",
    )


def _listed(kind: str, ids: Collection[str]) -> str:
    shown = ", ".join(repr(id_[:80]) for id_ in sorted(ids)[:_MAX_SHOWN])
    more = f" and {len(ids) - _MAX_SHOWN:,} more" if len(ids) > _MAX_SHOWN else ""
    return f"{kind}{'s' if len(ids) > 1 else ''} {shown}{more}"
