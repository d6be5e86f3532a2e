"""Edits of a named graph that are decided on what it holds, while nobody else writes to it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from pipeline.db.catalogue import NamedGraph
from pipeline.db.client import batches
from pipeline.db.transaction import Transaction
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.codec import node_key, read_edge, read_node
from pipeline.knowledge.store.neo4j import Neo4jStore
from pipeline.knowledge.visibility import ALL
from pipeline.knowledge.write import Writer, common_dimension, refuse_repeated

_BATCH = 5_000
_Result = TypeVar("_Result")


class EdgesRead(StrEnum):
    """The edges that a decision is made on, whenever they hold and are known."""

    NONE = "none"
    AMONG = "among"
    """edges whose endpoints are both among the nodes"""
    TOUCHING = "touching"
    """edges with an endpoint among the nodes"""


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


Decide = Callable[[Mapping[str, KnowledgeNode], Sequence[KnowledgeEdge]], tuple[Edits, _Result]]
"""A function from the stored nodes, by id, and the edges that are read, to the edits and a result for the caller.

Nobody else writes meanwhile. It is called again if the transaction is retried; the result of the last call counts.
"""


def edit(
    store: Neo4jStore,
    node_ids: Iterable[str],
    decide: Decide[_Result],
    *,
    node_types: Iterable[str],
    edge_types: Iterable[str],
    reads: EdgesRead,
    around: Iterable[str] | None = None,
) -> _Result:
    """Write the edits of ``decide`` in one transaction; see :meth:`pipeline.knowledge.KnowledgeGraph.edit`."""
    writer = Writer(store)
    writer.add_types(
        [KnowledgeNode("any", kind) for kind in node_types], [KnowledgeEdge("any", "any", kind) for kind in edge_types]
    )
    ids = list(dict.fromkeys(node_ids))
    with_edges = ids if around is None else list(dict.fromkeys(around))

    def work(transaction: Transaction) -> _Result:
        writer.touch(transaction, None)
        graph = store.graph
        nodes, hashes = _read_nodes(transaction, graph, ids)
        edits, result = decide(nodes, list(_read_edges(transaction, graph, with_edges, reads)))
        if edits:
            read = {node_id: nodes.get(node_id) for node_id in ids}
            _write(writer, transaction, edits, read, hashes)
        return result

    return store.client.write_together(work)


def _write(
    writer: Writer,
    transaction: Transaction,
    edits: Edits,
    read: Mapping[str, KnowledgeNode | None],
    hashes: Mapping[str, str],
) -> None:
    """Write edits; ``read`` has the nodes that were read, None for those that there aren't."""
    refuse_repeated([node.id for node in edits.nodes], "node")
    refuse_repeated([edge.id for edge in edits.edges], "edge")
    writer.note(transaction, common_dimension(edits.nodes), [*edits.nodes, *edits.edges])
    types = writer.stored_types(transaction, [node.id for node in edits.nodes if node.id not in read])
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


def _read_nodes(
    transaction: Transaction, graph: NamedGraph, ids: Sequence[str]
) -> tuple[dict[str, KnowledgeNode], dict[str, str]]:
    """Return the stored nodes and the hashes of the texts that they were embedded by, both by id."""
    nodes: dict[str, KnowledgeNode] = {}
    hashes: dict[str, str] = {}
    for keys in batches((node_key(graph.id, node_id) for node_id in ids), _BATCH):
        for row in transaction.run("nodes_by_key", graph=graph.id, keys=keys, **ALL.params()):
            node = read_node(row["stored"], row["parent"], row["children"])
            nodes[node.id] = node
            if "text_hash" in row["stored"]:
                hashes[node.id] = row["stored"]["text_hash"]
    return nodes, hashes


def _read_edges(
    transaction: Transaction, graph: NamedGraph, ids: Sequence[str], reads: EdgesRead
) -> Iterable[KnowledgeEdge]:
    """Return the edges that a decision is made on, each once."""
    if reads is EdgesRead.NONE or not ids:
        return ()
    wanted = frozenset(ids)
    edges: dict[str, KnowledgeEdge] = {}
    for keys in batches((node_key(graph.id, node_id) for node_id in ids), _BATCH):
        for row in transaction.run("edges_touching", keys=keys):
            if reads is EdgesRead.TOUCHING or wanted.issuperset((row["source"], row["target"])):
                edge = read_edge(row["stored"], row["source"], row["target"])
                edges[edge.id] = edge
    return edges.values()
