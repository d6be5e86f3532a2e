"""Bulk load of a whole graph of any size; readers don't see it until it is complete."""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from pipeline.db.background_writer import BackgroundWriter
from pipeline.db.catalogue import NamedGraph
from pipeline.db.client import Client, batches
from pipeline.errors import GraphError
from pipeline.knowledge.catalogue import add_types, replacing
from pipeline.knowledge.clock import now
from pipeline.knowledge.exchange import Content
from pipeline.knowledge.records import GraphSize, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.codec import edge_key, label_of, node_key, other_edge_properties, relationship_type_of
from pipeline.knowledge.write import (
    Hierarchy,
    common_dimension,
    is_temporal,
    node_row,
    refuse_cycles,
    refuse_missing_end,
)
from pipeline.progress import Progress

_BATCH = 2_000
"""Nodes, or edges, in a transaction. At 10,000 edges the server's garbage collector copies the open transaction
repeatedly, which costs a third of the write time. At 1,000 the commits become noticeable."""


def load(client: Client, name: str, content: Content, progress: Progress) -> GraphSize:
    """Replace the graph of that name by ``content``; return its size.

    Raises GraphError naming what is wrong; after any error the graph that had the name is unchanged.
    """
    nodes, edges = content
    with ExitStack() as readers:
        for part in content:
            if isinstance(part, Generator):
                readers.callback(part.close)  # or else an error's traceback would keep the file open
        with replacing(client, name) as graph:
            loader = _Loader(client, graph)
            with progress.stage("nodes") as done:
                written = loader.nodes(nodes, done)
            with progress.stage("edges") as done:
                linked = loader.edges(edges, done)
    return GraphSize(written, linked)


class _Loader:
    """Writes to an unpublished graph that has no other writer; prepares each batch while the previous is written."""

    def __init__(self, client: Client, graph: NamedGraph) -> None:
        self._client = client
        self._graph = graph
        self._time = now()
        self._temporal = False
        self._keys: dict[str, str] = {}
        self._element_ids: dict[str, str] = {}
        self._edge_keys: set[str] = set()

    def nodes(self, nodes: Iterable[KnowledgeNode], done: Callable[[int], None]) -> int:
        """Write nodes and their hierarchy; return their number."""
        family: list[KnowledgeNode] = []
        lengths: set[int] = set()
        with BackgroundWriter() as writer:
            for batch in batches(nodes, _BATCH):
                for node in batch:
                    if node.id in self._keys:
                        raise GraphError(f"The node {node.id[:80]!r} is there more than once.", "Give each node once.")
                    self._keys[node.id] = node_key(self._graph.id, node.id)
                family += [node for node in batch if node.parent_id is not None or node.child_ids]
                lengths |= {len(node.embedding) for node in batch if node.embedding}
                common_dimension(batch)
                self._note(batch, map(label_of, {node.type for node in batch}), ())
                writer.submit(self._write_nodes, [node_row(self._graph.id, node, self._time) for node in batch])
                done(len(batch))
        if len(lengths) > 1:
            raise GraphError(
                f"Embeddings of one graph have one length, not {' and '.join(map(str, sorted(lengths)[:2]))}.",
                "Embed all nodes with one model.",
            )
        for length in lengths:
            self._client.write("set_graph_dimension", graph=self._graph.id, dimension=length)
        self._write_parents(family)
        return len(self._keys)

    def edges(self, edges: Iterable[KnowledgeEdge], done: Callable[[int], None]) -> int:
        """Write edges between the nodes; return their number."""
        with BackgroundWriter() as writer:
            for batch in batches(edges, _BATCH):
                refuse_missing_end(self._graph.name, batch, self._element_ids)
                self._note(batch, (), map(relationship_type_of, {edge.type for edge in batch}))
                rows = [self._edge_row(edge) for edge in batch]
                writer.submit(partial(self._client.write, "load_edges", rows=rows))
                done(len(batch))
        return len(self._edge_keys)

    def _note(
        self, batch: Sequence[KnowledgeNode | KnowledgeEdge], labels: Iterable[str], edge_types: Iterable[str]
    ) -> None:
        """Record the labels, relationship types and times of a batch before it is written."""
        self._graph = add_types(self._client, self._graph, labels, edge_types)
        if not self._temporal and is_temporal(batch):
            self._client.write("mark_temporal", graph=self._graph.id)
            self._temporal = True

    def _write_nodes(self, rows: list[dict[str, Any]]) -> None:
        for row in self._client.write("load_nodes", rows=rows, label=self._graph.label):
            self._element_ids[row["id"]] = row["element_id"]

    def _edge_row(self, edge: KnowledgeEdge) -> list[Any]:
        key = edge_key(self._graph.id, edge.id)
        if key in self._edge_keys:
            raise GraphError(
                f"The edge {edge.id[:80]!r} is there more than once.",
                "Give each edge once, or parallel ones ids of their own.",
            )
        self._edge_keys.add(key)
        ends = (self._element_ids[edge.source], self._element_ids[edge.target])
        supported = edge.supported_edge_type.value if edge.supported_edge_type else None
        own = (key, edge.id, edge.type, edge.weight, edge.directed, supported, edge.created_at or self._time)
        return [*ends, relationship_type_of(edge.type), *own, other_edge_properties(edge)]

    def _write_parents(self, family: list[KnowledgeNode]) -> None:
        parents = Hierarchy.of(family).parents
        for child, parent in parents.items():
            for node_id, relative in ((parent, child), (child, parent)):
                if node_id not in self._keys:
                    raise GraphError(
                        f"The node {relative[:80]!r} names {node_id[:80]!r} as its parent or child, which isn't there.",
                        "Give both.",
                    )
        rows = [{"child": self._keys[child], "parent": self._keys[parent]} for child, parent in parents.items()]
        for batch in batches(rows, _BATCH):
            self._client.write("set_parents", rows=batch)
        for batch in batches(rows, _BATCH):
            refuse_cycles(self._client.read("own_ancestors", keys=[row["child"] for row in batch]))
