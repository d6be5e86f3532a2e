"""Bulk load of a whole graph of any size; readers don't see it until it is complete."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from neo4j.exceptions import ConstraintError

from pipeline.db.client import Client, batches
from pipeline.errors import GraphError
from pipeline.knowledge.catalogue import NamedGraph, now, replacing
from pipeline.knowledge.exchange import Content
from pipeline.knowledge.hierarchy import Hierarchy, refuse_cycles
from pipeline.knowledge.records import GraphSize, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.codec import edge_key, node_key, stored_properties
from pipeline.knowledge.write import common_dimension, node_row, refuse_missing_end
from pipeline.progress import Progress

_NODE_BATCH = 2_000
# At 10,000 the server's garbage collector copies the open transaction repeatedly, which costs a third of the write
# time. At 1,000 the commits become noticeable.
_EDGE_BATCH = 2_000
_NO_PROPERTIES: dict[str, Any] = {}
_Record = TypeVar("_Record")
_Row = TypeVar("_Row")


def load(client: Client, name: str, content: Content, progress: Progress) -> GraphSize:
    """Replace the graph of that name by ``content``; return its size.

    Many transactions write to an unpublished graph, which takes the name at the end. Raises GraphError naming what is
    wrong. After any error the graph that had the name is unchanged.
    """
    nodes, edges = content
    with _closing_readers(content), replacing(client, name) as graph:
        loader = _Loader(client, graph)
        with progress.stage("nodes") as done:
            written = loader.nodes(nodes, done)
        with progress.stage("edges") as done:
            linked = loader.edges(edges, done)
    return GraphSize(written, linked)


@contextmanager
def _closing_readers(content: Content) -> Iterator[None]:
    """Close the file that is read, also after an error: its traceback would keep the file open."""
    try:
        yield
    finally:
        for part in content:
            if isinstance(part, Generator):
                part.close()


class _Loader:
    """Writes to an unpublished graph that has no other writer; prepares each batch while the previous is written."""

    def __init__(self, client: Client, graph: NamedGraph) -> None:
        self._client = client
        self._graph = graph
        self._keys: dict[str, str] = {}
        self._element_ids: dict[str, str] = {}

    def nodes(self, nodes: Iterable[KnowledgeNode], done: Callable[[int], None]) -> int:
        time, family = now(), []
        lengths: set[int] = set()

        def prepare(batch: list[KnowledgeNode]) -> list[dict[str, Any]]:
            for node in batch:
                if node.id in self._keys:
                    raise GraphError(f"The node {node.id[:80]!r} is there more than once.", "Give each node once.")
                self._keys[node.id] = node_key(self._graph.id, node.id)
                if node.parent_id is not None or node.child_ids:
                    family.append(node)
                if node.embedding:
                    lengths.add(len(node.embedding))
            common_dimension(batch)
            return [node_row(self._graph.id, node, time) for node in batch]

        total = self._pipelined(nodes, _NODE_BATCH, prepare, self._write_nodes, done)
        if len(lengths) > 1:
            raise GraphError(
                f"Embeddings of one graph have one length, not {' and '.join(map(str, sorted(lengths)[:2]))}.",
                "Embed all nodes with one model.",
            )
        for length in lengths:
            self._client.write("set_graph_dimension", graph=self._graph.id, dimension=length)
        self._write_parents(family)
        return total

    def edges(self, edges: Iterable[KnowledgeEdge], done: Callable[[int], None]) -> int:
        element_ids = self._element_ids

        def prepare(batch: list[KnowledgeEdge]) -> list[list[Any]]:
            try:
                return [self._edge_row(edge, element_ids[edge.source], element_ids[edge.target]) for edge in batch]
            except KeyError:
                refuse_missing_end(self._graph.name, batch, set(element_ids))
                raise

        return self._pipelined(edges, _EDGE_BATCH, prepare, self._write_edges, done)

    def _write_nodes(self, rows: list[dict[str, Any]]) -> None:
        for row in self._client.write("load_nodes", rows=rows, label=self._graph.label):
            self._element_ids[row["id"]] = row["element_id"]

    def _edge_row(self, edge: KnowledgeEdge, source: str, target: str) -> list[Any]:
        key = edge_key(self._graph.id, edge.id)
        supported = edge.supported_edge_type.value if edge.supported_edge_type else None
        properties = stored_properties(edge.properties) if edge.properties else _NO_PROPERTIES
        return [source, target, key, edge.id, edge.type, edge.weight, edge.directed, supported, properties]

    def _write_edges(self, rows: list[list[Any]]) -> None:
        try:
            self._client.write("load_edges", rows=rows, graph=self._graph.id)
        except ConstraintError as error:
            raise GraphError(
                f"Two edges have one id ({_edge_id(rows)}).", "Give each edge once, or parallel ones ids of their own."
            ) from error

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
        self._client.write_rows("set_parents", rows, batch=_EDGE_BATCH)
        for batch in batches(rows, _EDGE_BATCH):
            refuse_cycles(self._client.read("own_ancestors", keys=[row["child"] for row in batch]))

    def _pipelined(
        self,
        records: Iterable[_Record],
        size: int,
        prepare: Callable[[list[_Record]], list[_Row]],
        write: Callable[[list[_Row]], None],
        done: Callable[[int], None],
    ) -> int:
        """Write records in batches of ``size``, each while the next is prepared; return their number."""
        total = 0
        pending: Future[None] | None = None
        with ThreadPoolExecutor(1, "hoprank-load") as pool:
            for batch in batches(records, size):
                rows = prepare(batch)
                if pending:
                    pending.result()
                pending = pool.submit(write, rows)
                total += len(batch)
                done(len(batch))
            if pending:
                pending.result()
        return total


def _edge_id(rows: list[list[Any]]) -> str:
    ids: list[str] = [row[3] for row in rows]
    seen: set[str] = set()
    repeated = next((id_ for id_ in ids if id_ in seen or seen.add(id_)), None)  # type: ignore[func-returns-value]
    return repr(repeated[:80]) if repeated else f"one of {ids[0][:40]!r} ... {ids[-1][:40]!r}, and an earlier one"
