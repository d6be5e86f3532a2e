"""Loading a whole graph, of any size: nobody sees it until all of it is there."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from neo4j.exceptions import ConstraintError

from pipeline.db.client import Client
from pipeline.errors import GraphError
from pipeline.knowledge.catalogue import NamedGraph, now, replacing
from pipeline.knowledge.exchange import Content
from pipeline.knowledge.hierarchy import Hierarchy, refuse_cycles
from pipeline.knowledge.records import GraphSize, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.codec import edge_key, node_key, stored_properties
from pipeline.knowledge.write import common_dimension, node_row, refuse_missing_end
from pipeline.progress import Progress

_NODES_AT_ONCE = 2_000
# Of 10,000 the server's garbage collector copies the open transaction again and again, which takes as long as a third
# of the writing; of 1,000 the commits begin to tell.
_EDGES_AT_ONCE = 2_000
_NONE: dict[str, Any] = {}
_Record = TypeVar("_Record")
_Row = TypeVar("_Row")


def load(client: Client, name: str, content: Content, progress: Progress) -> GraphSize:
    """Make the graph of that name hold ``content``, and nothing else; return its size.

    It is written in many transactions to a graph that nobody sees, which takes the name at the end. Raises GraphError
    naming what is wrong; then, and after any other error, the graph that had the name is as it was.
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
    """Close the file that is read, also after an error, whose traceback would hold it open."""
    try:
        yield
    finally:
        for part in content:
            if isinstance(part, Generator):
                part.close()


class _Loader:
    """Writes to a graph that nobody else writes to; what is made ready and what is written overlap."""

    def __init__(self, client: Client, graph: NamedGraph) -> None:
        self._client = client
        self._graph = graph
        self._keys: dict[str, str] = {}
        self._places: dict[str, str] = {}

    def nodes(self, nodes: Iterable[KnowledgeNode], done: Callable[[int], None]) -> int:
        time, family = now(), []
        lengths: dict[int, str] = {}

        def ready(part: list[KnowledgeNode]) -> list[dict[str, Any]]:
            for node in part:
                if node.id in self._keys:
                    raise GraphError(f"The node {node.id[:80]!r} is there more than once.", "Give each node once.")
                self._keys[node.id] = node_key(self._graph.id, node.id)
                if node.parent_id is not None or node.child_ids:
                    family.append(node)
                if node.embedding:
                    lengths.setdefault(len(node.embedding), node.id)
            common_dimension(part)
            return [node_row(self._graph.id, node, time) for node in part]

        total = self._overlapping(nodes, _NODES_AT_ONCE, ready, self._put_nodes, done)
        if len(lengths) > 1:
            raise GraphError(
                f"Embeddings of one graph have one length, not {' and '.join(map(str, sorted(lengths)[:2]))}.",
                "Embed all nodes with one model.",
            )
        for length in lengths:
            self._client.write("set_graph_dimension", graph=self._graph.id, dimension=length)
        self._place(family)
        return total

    def edges(self, edges: Iterable[KnowledgeEdge], done: Callable[[int], None]) -> int:
        places = self._places

        def ready(part: list[KnowledgeEdge]) -> list[list[Any]]:
            try:
                return [self._edge_row(edge, places[edge.source], places[edge.target]) for edge in part]
            except KeyError:
                refuse_missing_end(self._graph.name, part, set(places))
                raise

        return self._overlapping(edges, _EDGES_AT_ONCE, ready, self._put_edges, done)

    def _put_nodes(self, rows: list[dict[str, Any]]) -> None:
        for row in self._client.write("load_nodes", rows=rows, label=self._graph.label):
            self._places[row["id"]] = row["place"]

    def _edge_row(self, edge: KnowledgeEdge, source: str, target: str) -> list[Any]:
        key = edge_key(self._graph.id, edge.id)
        supported = edge.supported_edge_type.value if edge.supported_edge_type else None
        own = stored_properties(edge.properties) if edge.properties else _NONE
        return [source, target, key, edge.id, edge.type, edge.weight, edge.directed, supported, own]

    def _put_edges(self, rows: list[list[Any]]) -> None:
        try:
            self._client.write("load_edges", rows=rows, graph=self._graph.id)
        except ConstraintError as error:
            raise GraphError(
                f"Two edges have one id ({_edge_id(rows)}).", "Give each edge once, or parallel ones ids of their own."
            ) from error

    def _place(self, family: list[KnowledgeNode]) -> None:
        parents = Hierarchy.of(family).parents
        for child, parent in parents.items():
            for one, other in ((parent, child), (child, parent)):
                if one not in self._keys:
                    raise GraphError(
                        f"The node {other[:80]!r} names {one[:80]!r} as its parent or child, which isn't there.",
                        "Give both.",
                    )
        rows = [{"child": self._keys[child], "parent": self._keys[parent]} for child, parent in parents.items()]
        self._client.write_rows("set_parents", rows, batch=_EDGES_AT_ONCE)
        for part in _parts(iter(rows), _EDGES_AT_ONCE):
            refuse_cycles(self._client.read("own_ancestors", keys=[row["child"] for row in part]))

    def _overlapping(
        self,
        records: Iterable[_Record],
        size: int,
        ready: Callable[[list[_Record]], list[_Row]],
        put: Callable[[list[_Row]], None],
        done: Callable[[int], None],
    ) -> int:
        """Write records in parts, each while the next is made ready; return how many there were."""
        total = 0
        pending: Future[None] | None = None
        with ThreadPoolExecutor(1, "hoprank-load") as pool:
            for part in _parts(iter(records), size):
                rows = ready(part)
                if pending:
                    pending.result()
                pending = pool.submit(put, rows)
                total += len(part)
                done(len(part))
            if pending:
                pending.result()
        return total


def _edge_id(rows: list[list[Any]]) -> str:
    ids: list[str] = [row[3] for row in rows]
    seen: set[str] = set()
    repeated = next((one for one in ids if one in seen or seen.add(one)), None)  # type: ignore[func-returns-value]
    return repr(repeated[:80]) if repeated else f"one of {ids[0][:40]!r} ... {ids[-1][:40]!r}, and an earlier one"


def _parts(records: Iterator[_Record], size: int) -> Iterator[list[_Record]]:
    while part := list(islice(records, size)):
        yield part
