"""Knowledge graphs for the tests of this folder; each is dropped afterwards."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

import networkx as nx
import pytest

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.client import Client
from pipeline.embedding.embedder import Embedder
from pipeline.errors import GraphError

NewGraph = Callable[[], AbstractContextManager[KnowledgeGraph]]


@pytest.fixture(scope="session")
def new_graph(client: Client, embedder: Embedder) -> NewGraph:
    """Make graphs that are dropped when their ``with`` ends."""

    @contextmanager
    def make() -> Iterator[KnowledgeGraph]:
        graph = KnowledgeGraph(f"test-{uuid.uuid4().hex[:12]}", client=client, embedder=embedder)
        try:
            yield graph
        finally:
            with contextlib.suppress(GraphError):
                KnowledgeGraph(graph.name, client=client, create=False).drop()

    return make


@pytest.fixture(scope="module")
def emptied_graph(new_graph: NewGraph) -> Iterator[NewGraph]:
    """Empty one graph for each ``with``: a graph of its own makes and drops an index, and all queries are replanned."""
    with new_graph() as shared:

        @contextmanager
        def empty() -> Iterator[KnowledgeGraph]:
            shared.remove_nodes([node.id for node in shared.nodes()])
            yield shared

        yield empty


@pytest.fixture
def graph(new_graph: NewGraph) -> Iterator[KnowledgeGraph]:
    """An empty graph."""
    with new_graph() as made:
        yield made


@pytest.fixture
def filled(new_graph: NewGraph) -> Iterator[Callable[..., KnowledgeGraph]]:
    """Make a graph of edges, whose ends become nodes, and of further nodes."""
    with contextlib.ExitStack() as stack:
        yield lambda *content: fill(stack.enter_context(new_graph()), *content)


@pytest.fixture
def refilled(emptied_graph: NewGraph) -> Iterator[Callable[..., KnowledgeGraph]]:
    """As ``filled``, for one graph of a test, which it may change, but not drop."""
    with emptied_graph() as graph:
        yield lambda *content: fill(graph, *content)


def fill(graph: KnowledgeGraph, edges: Iterable[KnowledgeEdge], nodes: Iterable[KnowledgeNode] = ()) -> KnowledgeGraph:
    edges, nodes = list(edges), list(nodes)
    ends = {end for edge in edges for end in (edge.source, edge.target)} - {node.id for node in nodes}
    graph.add_nodes([*nodes, *(KnowledgeNode(end, "thing") for end in sorted(ends))])
    graph.add_edges(edges)
    return graph


@pytest.fixture(scope="session")
def as_networkx() -> Callable[..., nx.MultiDiGraph]:
    """Return networkx's idea of a graph: what is undirected runs both ways."""

    def convert(
        nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge], direction: str = "out"
    ) -> nx.MultiDiGraph:
        found = nx.MultiDiGraph()
        found.add_nodes_from(node.id for node in nodes)
        for edge in edges:
            ends = (edge.source, edge.target) if direction != "in" else (edge.target, edge.source)
            found.add_edge(*ends, key=edge.id, weight=edge.weight, type=edge.type)
            if (not edge.directed or direction == "both") and edge.source != edge.target:
                found.add_edge(*ends[::-1], key=edge.id, weight=edge.weight, type=edge.type)
        return found

    return convert
