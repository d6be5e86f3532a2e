"""Edits of a named graph that are decided on what it holds, while nobody else writes to it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

from neo4j import Record

from pipeline.db.client import Transaction, batches
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.codec import node_key, read_edge, read_node
from pipeline.knowledge.store.neo4j import Neo4jStore
from pipeline.knowledge.visibility import ALL
from pipeline.knowledge.write import Writer, common_dimension, refuse_repeated

_BATCH = 5_000  # keys of a query; chosen by hand, not measured
_Result = TypeVar("_Result")
_Record = TypeVar("_Record", bound=KnowledgeNode | KnowledgeEdge)


class Overtaken(Exception):  # no error: the caller reads again
    """The graph has changed since what an edit is based on was read; nothing was written."""


class EdgesRead(StrEnum):
    """The edges that a decision is made on, whenever they hold and are known."""

    NONE = "none"
    AMONG = "among"  # edges whose endpoints are both among the nodes
    TOUCHING = "touching"  # edges with an endpoint among the nodes


@dataclass(frozen=True, slots=True)
class Edits:
    """Nodes and edges to create, or to overwrite by id, and ids to remove; false if there are none.

    An overwritten node keeps its edges and its children. ``text_hashes`` are the hashes of the texts behind new
    embeddings, by node id; a node whose embedding stays keeps its own.
    """

    nodes: Sequence[KnowledgeNode] = ()
    edges: Sequence[KnowledgeEdge] = ()
    removed_nodes: Sequence[str] = ()
    removed_edges: Sequence[str] = ()
    text_hashes: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any((self.nodes, self.edges, self.removed_nodes, self.removed_edges))

    def then(self, later: "Edits") -> "Edits":
        """Return these edits and later ones as one: of a node or an edge the later counts."""
        return Edits(
            list(_after(self.nodes, later.nodes, later.removed_nodes).values()),
            list(_after(self.edges, later.edges, later.removed_edges).values()),
            list(dict.fromkeys((*self.removed_nodes, *later.removed_nodes))),
            list(dict.fromkeys((*self.removed_edges, *later.removed_edges))),
            {**self.text_hashes, **later.text_hashes},
        )


def _after(stored: Iterable[_Record], put: Iterable[_Record], removed: Iterable[str]) -> dict[str, _Record]:
    """Return nodes or edges, by id, after some are put and others removed."""
    by_id = {record.id: record for record in (*stored, *put)}
    for id_ in removed:
        by_id.pop(id_, None)
    return by_id


Decide = Callable[[Mapping[str, KnowledgeNode], Sequence[KnowledgeEdge]], tuple[Edits, _Result]]
"""A function from the stored nodes, by id, and the edges that are read, to the edits and a result for the caller.

Nobody else writes meanwhile. It is called again if the transaction is retried; the result of the last call counts.
"""


@dataclass(frozen=True, slots=True)
class Change(Generic[_Result]):
    """A decision, and what it needs: see :meth:`pipeline.knowledge.KnowledgeGraph.edit` for all but ``decide``.

    The edges that touch the nodes ``around`` are read, by default those of ``node_ids``.
    """

    node_ids: Collection[str]
    decide: Decide[_Result]
    node_types: Collection[str] = ()
    edge_types: Collection[str] = ()
    around: Collection[str] | None = None


def in_turn(changes: Sequence[Change[Any]]) -> Change[list[Any]]:
    """Return changes as one, written together: each is decided on what those before it leave. Its results are theirs.

    A node that one removes is put by none after it.
    """

    def decide(nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, list[Any]]:
        together, results = Edits(), []
        for change in changes:
            edits, result = change.decide(nodes, edges)
            nodes = _after(nodes.values(), edits.nodes, edits.removed_nodes)
            edges = list(_after(edges, edits.edges, edits.removed_edges).values())
            together = together.then(edits)
            results.append(result)
        return together, results

    return Change(
        set().union(*(change.node_ids for change in changes)),
        decide,
        set().union(*(change.node_types for change in changes)),
        set().union(*(change.edge_types for change in changes)),
        set().union(*(change.node_ids if (near := change.around) is None else near for change in changes)),
    )


def edit(store: Neo4jStore, change: Change[_Result], reads: EdgesRead, since: int | None) -> _Result:
    """Write a change in one transaction; see :meth:`pipeline.knowledge.KnowledgeGraph.edit`."""
    writer = Writer(store)
    writer.add_types(change.node_types, change.edge_types)
    ids = list(dict.fromkeys(change.node_ids))
    with_edges = dict.fromkeys(ids if change.around is None else change.around)

    def rows(transaction: Transaction, name: str, ids: Iterable[str], **params: Any) -> Iterator[Record]:
        for keys in batches((node_key(store.graph.id, node_id) for node_id in ids), _BATCH):
            yield from transaction.run(name, keys=keys, **params)

    def work(transaction: Transaction) -> _Result:
        writer.touch(transaction)
        if since is not None and store.graph.version != since + 1:  # this transaction is one more change
            raise Overtaken
        nodes: dict[str, KnowledgeNode] = {}
        hashes: dict[str, str] = {}
        for row in rows(transaction, "nodes_by_key", ids, graph=store.graph.id, **ALL.params()):
            node = read_node(row["stored"], row["parent"], row["children"])
            nodes[node.id] = node
            if "text_hash" in row["stored"]:
                hashes[node.id] = row["stored"]["text_hash"]
        edges: dict[str, KnowledgeEdge] = {}
        if reads is not EdgesRead.NONE:
            for row in rows(transaction, "edges_touching", with_edges):
                if reads is EdgesRead.TOUCHING or with_edges.keys() >= {row["source"], row["target"]}:
                    edge = read_edge(row["stored"], row["source"], row["target"])
                    edges[edge.id] = edge
        edits, result = change.decide(nodes, list(edges.values()))
        _write(writer, transaction, edits, {node_id: nodes.get(node_id) for node_id in ids}, hashes)
        return result

    return store.client.write_together(work)


def _write(
    writer: Writer,
    transaction: Transaction,
    edits: Edits,
    read: Mapping[str, KnowledgeNode | None],
    hashes: Mapping[str, str],
) -> None:
    """Write edits; ``read`` has the nodes that were read, None for those that don't exist, ``hashes`` their texts'."""
    if not edits:
        return
    refuse_repeated(edits.nodes, edits.edges)
    writer.note(transaction, common_dimension(edits.nodes), [*edits.nodes, *edits.edges])
    unread = writer.stored_nodes(transaction, [node.id for node in edits.nodes if node.id not in read])
    types = {node_id: row["type"] for node_id, row in unread.items()}
    types |= {node_id: node.type for node_id, node in read.items() if node}
    kept = {
        node.id: hashes[node.id]
        for node in edits.nodes
        if node.id in hashes and (stored := read.get(node.id)) and node.embedding == stored.embedding
    }
    writer.delete_edges(transaction, edits.removed_edges)
    writer.delete_nodes(transaction, edits.removed_nodes)
    writer.put_nodes(transaction, edits.nodes, types, {**kept, **edits.text_hashes})
    writer.put_edges(transaction, edits.edges, replace=True)
