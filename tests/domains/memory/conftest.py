"""Memories, and graphs of memories, under names of their own."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.client import Client
from pipeline.domains.memory.dedupe.apply import apply
from pipeline.domains.memory.dedupe.plan import plan
from pipeline.domains.memory.memory import MERGES, AgentMemory
from pipeline.domains.memory.settings import MemorySettings
from pipeline.embedding.embedder import Embedder
from pipeline.errors import GraphError
from pipeline.knowledge.catalogue import derived_graph, make_graph
from pipeline.settings import load_settings
from tests.domains.memory.duplicates import Made, Merged, NewGraph, contents, surreal

NewMemory = Callable[[], AbstractContextManager[AgentMemory]]


@pytest.fixture(scope="session")
def new_memory(hoprank: HopRank) -> NewMemory:
    """Make memories that are dropped when their ``with`` ends."""

    @contextmanager
    def make() -> Iterator[AgentMemory]:
        memory = AgentMemory(hoprank, f"memory-{uuid.uuid4().hex[:12]}")
        try:
            yield memory
        finally:
            memory.drop()

    return make


@pytest.fixture
def memory(new_memory: NewMemory) -> Iterator[AgentMemory]:
    """An empty memory."""
    with new_memory() as made:
        yield made


@pytest.fixture(scope="session")
def memory_settings() -> MemorySettings:
    """The default settings of memories."""
    return load_settings().section(MemorySettings)


@pytest.fixture
def new_graph(client: Client, embedder: Embedder) -> Iterator[NewGraph]:
    """Make a graph of entities, facts and mentions, with its journal."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    graphs: list[KnowledgeGraph] = []

    def fill(entities: list[Any], edges: list[KnowledgeEdge], vectors: dict[str, list[float]] | None = None) -> Made:
        made = (make_graph(client, name), derived_graph(client, name, MERGES))
        graphs.extend(KnowledgeGraph(graph, client=client, embedder=embedder) for graph in made)
        found = vectors or {}
        nodes = [one if isinstance(one, KnowledgeNode) else one.to_node(found.get(one.id)) for one in entities]
        graphs[0].add_nodes(nodes)
        graphs[0].add_edges(edges)
        return Made(*graphs)

    yield fill
    for graph in graphs:
        with contextlib.suppress(GraphError):
            graph.drop()


@pytest.fixture
def merged(new_graph: NewGraph, memory_settings: MemorySettings) -> Merged:
    """A graph whose three names of one library were merged."""
    graph, journal = surreal(new_graph)
    before = contents(graph)
    done = apply(graph, journal, plan(graph, memory_settings))
    assert done is not None
    return Merged(graph, journal, before, done)
