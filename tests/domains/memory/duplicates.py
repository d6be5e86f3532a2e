"""A graph with an entity under three names, which tests merge and unmerge."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.domains.memory.dedupe.apply import Merge
from pipeline.domains.memory.records import Entity, Fact, Memory
from pipeline.domains.memory.schema import MENTIONS
from pipeline.knowledge.exchange import read_graph

T1, T2, T3 = "2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00", "2026-03-01T00:00:00+00:00"
SDB = Entity(
    "surrealdb", "library", mention_count=5, description="A database.", created_at=T2, metadata={"tags": ["a"]}
)
CASE = Entity("SurrealDB", "library", mention_count=2, description="A database of many models.", created_at=T1)
NPM = Entity("surrealdb npm package", "library", created_at=T3, metadata={"tags": ["b"], "seen": 1})
HONO = Entity("hono", "library", created_at=T1)
APP = Entity("app.ts", "file", created_at=T1)
SAID = KnowledgeNode(Memory("chat-1", "We use SurrealDB.", T1).node_id, "memory", created_at=T1)
LATER = KnowledgeNode(Memory("chat-2", "Still surrealdb.", T2).node_id, "memory", created_at=T2)


class Made(NamedTuple):
    """A memory's graph and the journal of its merges."""

    graph: KnowledgeGraph
    journal: KnowledgeGraph


class Merged(NamedTuple):
    """A graph and its journal after a merge, what the graph held before it, and the merge."""

    graph: KnowledgeGraph
    journal: KnowledgeGraph
    before: tuple[dict[str, KnowledgeNode], dict[str, KnowledgeEdge]]
    done: Merge


NewGraph = Callable[..., Made]
"""Makes a graph of entities and edges, and of embeddings by the ids of entities."""


def fact(source: Entity, type_: str, target: Entity, created: str = T1, **fields: Any) -> KnowledgeEdge:
    return Fact(source.id, type_, target.id, created_at=created, **fields).to_edge()


def mention(memory: KnowledgeNode, entity: Entity, created: str = T1) -> KnowledgeEdge:
    return KnowledgeEdge(memory.id, entity.id, MENTIONS, created_at=created)


def surreal(new_graph: NewGraph) -> Made:
    edges = [
        fact(APP, "imports", SDB, T2, evidence=("package.json",), confidence=0.6),
        fact(APP, "imports", CASE, T1, evidence=("app.ts",), weight=0.9),
        fact(APP, "imports", CASE, T1, valid_at=T1, invalid_at=T2, ended="migrated"),
        fact(APP, "imports", NPM, T1, expired_at=T2),
        fact(NPM, "depends_on", HONO, T2, valid_at=T2),
        fact(SDB, "depends_on", NPM, T3, evidence=("odd",)),
        mention(SAID, SDB),
        mention(SAID, CASE),
        mention(LATER, CASE, T2),
    ]
    vectors = {SDB.id: [1.0, 0.1, 0.0], CASE.id: [1.0, 0.0, 0.1], HONO.id: [0.0, 0.3, 1.0]}
    return new_graph([SDB, CASE, NPM, HONO, APP, SAID, LATER], edges, vectors)


def contents(graph: KnowledgeGraph) -> tuple[dict[str, KnowledgeNode], dict[str, KnowledgeEdge]]:
    """All nodes and edges of a graph, of any time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.jsonl")
        graph.export(path)
        nodes, edges = read_graph(path, None)
        return {node.id: node for node in nodes}, {edge.id: edge for edge in edges}
