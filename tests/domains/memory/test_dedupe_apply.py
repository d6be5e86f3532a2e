"""Merges and their undoing, on a real Neo4j: what is undone is equal node by node and edge by edge."""

from __future__ import annotations

import contextlib
import tempfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.client import Client
from pipeline.domains.memory.dedupe.apply import apply, undo
from pipeline.domains.memory.dedupe.journal import discard, mark, merges
from pipeline.domains.memory.dedupe.plan import Plan, accepted, plan
from pipeline.domains.memory.memory import journal_name
from pipeline.domains.memory.records import Entity, Fact, Memory
from pipeline.domains.memory.schema import MENTIONS
from pipeline.domains.memory.settings import MemorySettings
from pipeline.embedding.embedder import Embedder
from pipeline.errors import GraphError
from pipeline.knowledge.exchange import read_graph
from pipeline.settings import load_settings

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


@pytest.fixture(scope="session")
def settings() -> MemorySettings:
    return load_settings().section(MemorySettings)


@pytest.fixture
def make(client: Client, embedder: Embedder) -> Iterator[Callable[..., Made]]:
    """Make a graph of entities, facts and mentions, with its journal."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    graphs: list[KnowledgeGraph] = []

    def fill(entities: list[Any], edges: list[KnowledgeEdge], vectors: dict[str, list[float]] | None = None) -> Made:
        graphs.extend(KnowledgeGraph(named, client=client, embedder=embedder) for named in (name, journal_name(name)))
        found = vectors or {}
        nodes = [one if isinstance(one, KnowledgeNode) else one.to_node(found.get(one.id)) for one in entities]
        graphs[0].add_nodes(nodes)
        graphs[0].add_edges(edges)
        return Made(*graphs)

    yield fill
    for graph in graphs:
        with contextlib.suppress(GraphError):
            graph.drop()


def fact(source: Entity, type_: str, target: Entity, created: str = T1, **fields: Any) -> KnowledgeEdge:
    return Fact(source.id, type_, target.id, created_at=created, **fields).to_edge()


def mention(memory: KnowledgeNode, entity: Entity, created: str = T1) -> KnowledgeEdge:
    return KnowledgeEdge(memory.id, entity.id, MENTIONS, created_at=created)


def surreal(make: Callable[..., Made]) -> Made:
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
    return make([SDB, CASE, NPM, HONO, APP, SAID, LATER], edges, vectors)


def contents(graph: KnowledgeGraph) -> tuple[dict[str, KnowledgeNode], dict[str, KnowledgeEdge]]:
    """All nodes and edges of a graph, of any time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.jsonl")
        graph.export(path)
        nodes, edges = read_graph(path, None)
        return {node.id: node for node in nodes}, {edge.id: edge for edge in edges}


def test_a_merge_leaves_one_entity_that_has_what_all_had(make: Callable[..., Made], settings: MemorySettings) -> None:
    graph, journal = surreal(make)

    done = apply(graph, journal, plan(graph, settings))

    assert done is not None
    assert done.complete
    assert [group.members for group in done.groups] == [(SDB.id, CASE.id, NPM.id)]
    nodes, edges = contents(graph)
    assert nodes.keys() == {SDB.id, HONO.id, APP.id, SAID.id, LATER.id}
    merged = Entity.of(nodes[SDB.id])
    assert (merged.mention_count, merged.description) == (8, CASE.description)
    assert merged.aliases == ("SurrealDB", "surrealdb npm package")
    assert (merged.created_at, merged.metadata) == (T1, {"tags": ["a", "b"], "seen": 1})
    assert nodes[SDB.id].embedding == SDB.to_node([1.0, 0.1, 0.0]).embedding
    facts = [Fact.of(edge) for edge in edges.values() if edge.type == "imports"]
    assert {(one.target, one.valid_at, one.invalid_at, one.created_at, one.expired_at) for one in facts} == {
        (SDB.id, None, None, T1, None),
        (SDB.id, T1, T2, T1, None),
        (SDB.id, None, None, T1, T2),
    }
    (open_one,) = (one for one in facts if one.valid_at is None and one.expired_at is None)
    assert (open_one.weight, open_one.confidence, set(open_one.evidence)) == (0.9, 0.7, {"app.ts", "package.json"})
    assert [edge.target for edge in edges.values() if edge.type == "depends_on"] == [HONO.id]
    assert {edge.source for edge in edges.values() if edge.type == MENTIONS} == {SAID.id, LATER.id}
    assert sum(edge.type == MENTIONS for edge in edges.values()) == 2


def test_an_undone_merge_leaves_an_equal_graph(make: Callable[..., Made], settings: MemorySettings) -> None:
    graph, journal = surreal(make)
    before = contents(graph)

    done = apply(graph, journal, plan(graph, settings))
    assert done is not None
    assert contents(graph) != before
    undone = undo(graph, journal)

    assert contents(graph) == before
    assert undone.merge == done
    assert undone.restored == tuple(sorted((CASE.id, NPM.id)))
    assert undone.notes == ()
    assert merges(journal) == []
    assert journal.size().nodes == 0


def test_a_plan_survives_a_file_and_is_refused_when_edited(
    make: Callable[..., Made], settings: MemorySettings, tmp_path: Path
) -> None:
    graph, _ = surreal(make)
    made = plan(graph, settings)

    made.write(tmp_path / "plan.json")

    assert Plan.read(tmp_path / "plan.json") == made
    edited = made.to_json() | {"graph": "other"}
    with pytest.raises(GraphError, match="was edited"):
        Plan.of(edited)
    with pytest.raises(GraphError, match="no plan"):
        Plan.of({"groups": 1})


@pytest.mark.parametrize("what", ["changed", "gone"])
def test_a_stale_plan_is_refused(make: Callable[..., Made], settings: MemorySettings, what: str) -> None:
    graph, journal = surreal(make)
    made = plan(graph, settings)
    if what == "gone":
        graph.remove_node(CASE.id)
    else:
        graph.update_node(CASE.id, properties={"description": "A star."})
    before = contents(graph)

    with pytest.raises(GraphError, match=f"stale: {CASE.id.replace('|', '.')} {what}"):
        apply(graph, journal, made)

    assert contents(graph) == before
    assert merges(journal) == []
    assert journal.size().nodes == 0


def test_another_mention_leaves_a_plan_fresh(make: Callable[..., Made], settings: MemorySettings) -> None:
    graph, journal = surreal(make)
    made = plan(graph, settings)
    graph.update_node(CASE.id, properties={"mention_count": 3})

    assert apply(graph, journal, made) is not None
    node = graph.get_node(SDB.id)
    assert node
    assert node.properties["mention_count"] == 9


def test_what_comes_after_a_merge_stays_with_the_survivor(make: Callable[..., Made], settings: MemorySettings) -> None:
    graph, journal = surreal(make)
    before_nodes, before_edges = contents(graph)
    apply(graph, journal, plan(graph, settings))
    new = fact(SDB, "depends_on", HONO, T3, valid_at=T3)
    graph.add_edge(new)
    graph.update_node(SDB.id, properties={"mention_count": 10})

    undone = undo(graph, journal)

    nodes, edges = contents(graph)
    assert edges == before_edges | {new.id: graph.get_edge(new.id)}
    assert undone.notes == (f"1 facts or mentions that came since stay with {SDB.id}",)
    assert nodes[SDB.id].properties == {**before_nodes[SDB.id].properties, "mention_count": 5 + 2}
    assert nodes[SDB.id].embedding == before_nodes[SDB.id].embedding
    assert {id_: nodes[id_] for id_ in nodes if id_ != SDB.id} == {
        id_: before_nodes[id_] for id_ in nodes if id_ != SDB.id
    }


def test_a_moved_fact_that_expired_since_is_expired_after_the_undo(
    make: Callable[..., Made], settings: MemorySettings
) -> None:
    graph, journal = surreal(make)
    (was,) = (edge for edge in contents(graph)[1].values() if edge.source == NPM.id)
    apply(graph, journal, plan(graph, settings))
    (moved,) = (edge for edge in contents(graph)[1].values() if edge.target == HONO.id)
    end = "2026-12-31T00:00:00+00:00"
    graph.add_edges(
        [replace(moved, expired_at=end, properties={**moved.properties, "retracted": "wrong"})], replace=True
    )

    undone = undo(graph, journal)

    assert contents(graph)[1][was.id] == replace(
        was, expired_at=end, properties={**was.properties, "retracted": "wrong"}
    )
    assert undone.notes == ("1 edges changed since: they keep the change",)


def test_what_was_removed_since_is_not_restored(make: Callable[..., Made], settings: MemorySettings) -> None:
    graph, journal = surreal(make)
    apply(graph, journal, plan(graph, settings))
    graph.remove_nodes([HONO.id, SDB.id])

    undone = undo(graph, journal)

    assert contents(graph)[0].keys() == {APP.id, SAID.id, LATER.id}
    assert contents(graph)[1] == {}
    assert f"{SDB.id} was removed since: it isn't restored" in undone.notes


def test_two_merges_are_undone_in_order(make: Callable[..., Made], settings: MemorySettings) -> None:
    other = Entity("Hono", "library", mention_count=3, created_at=T2)
    graph, journal = make(
        [SDB, CASE, HONO, other], [fact(SDB, "depends_on", HONO), fact(CASE, "depends_on", other, evidence=("x",))]
    )
    states = [contents(graph)]
    made = plan(graph, settings)
    first = apply(graph, journal, made, only=[SDB.id])
    states.append(contents(graph))
    second = apply(graph, journal, made, only=[HONO.id])
    assert first
    assert second

    assert [merge.id for merge in merges(journal)] == [second.id, first.id]
    with pytest.raises(GraphError, match=f"{second.id} came later"):
        undo(graph, journal, first.id)
    undo(graph, journal)
    assert contents(graph) == states[1]
    undo(graph, journal)
    assert contents(graph) == states[0]
    with pytest.raises(GraphError, match="no merge to undo"):
        undo(graph, journal)


def test_merges_that_share_nothing_are_undone_in_any_order(make: Callable[..., Made], settings: MemorySettings) -> None:
    pair = [Entity("Error budget", "concept", created_at=T1), Entity("error budget", "concept", created_at=T2)]
    graph, journal = make([SDB, CASE, *pair], [])
    before = contents(graph)
    made = plan(graph, settings)
    first = apply(graph, journal, made, only=[SDB.id])
    second = apply(graph, journal, made, only=[pair[0].id])
    assert first
    assert second

    undo(graph, journal, first.id)
    undo(graph, journal, second.id)

    assert contents(graph) == before


def test_an_interrupted_merge_is_undone_without_harm(make: Callable[..., Made], settings: MemorySettings) -> None:
    graph, journal = surreal(make)
    before = contents(graph)
    done = apply(graph, journal, plan(graph, settings))
    assert done
    mark(journal, done.id, complete=False)

    assert [merge.complete for merge in merges(journal)] == [False]
    undo(graph, journal)

    assert contents(graph) == before


def test_an_undo_that_was_interrupted_at_its_end_changes_nothing_more(
    make: Callable[..., Made], settings: MemorySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, journal = surreal(make)
    before = contents(graph)
    apply(graph, journal, plan(graph, settings))
    with monkeypatch.context() as patched:
        patched.setattr("pipeline.domains.memory.dedupe.journal.remove", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            undo(graph, journal)

    undo(graph, journal)

    assert contents(graph) == before
    assert merges(journal) == []


def test_a_loser_that_came_back_is_counted_again(make: Callable[..., Made], settings: MemorySettings) -> None:
    graph, journal = surreal(make)
    before = contents(graph)
    apply(graph, journal, plan(graph, settings))
    graph.add_node(CASE.to_node())

    undo(graph, journal)

    nodes, edges = contents(graph)
    assert nodes[CASE.id].properties == {**before[0][CASE.id].properties, "mention_count": 4}
    assert edges == before[1]


def test_what_is_forgotten_leaves_the_journal(make: Callable[..., Made], settings: MemorySettings) -> None:
    graph, journal = surreal(make)
    done = apply(graph, journal, plan(graph, settings))

    assert discard(journal, [HONO.name]) == []
    assert discard(journal, [NPM.id]) == [done]
    assert journal.size().nodes == 0


def test_a_reviewed_candidate_is_merged_when_accepted(make: Callable[..., Made], settings: MemorySettings) -> None:
    jane = Entity("Jane Doe", "person", mention_count=3, created_at=T1)
    initial = Entity("J. Doe", "person", created_at=T1)
    graph, journal = make([jane, initial], [])
    before = contents(graph)
    made = plan(graph, settings)
    assert made.groups == ()
    assert [candidate.pair for candidate in made.review] == [(initial.id, jane.id)]

    assert apply(graph, journal, made) is None
    done = apply(graph, journal, accepted(made, [(jane.id, initial.id)]))

    assert done
    assert done.groups[0].members == (jane.id, initial.id)
    assert contents(graph)[0].keys() == {jane.id}
    undo(graph, journal)
    assert contents(graph) == before
    with pytest.raises(GraphError, match="isn't up for review"):
        accepted(made, [(jane.id, "x")])


def test_names_that_the_plan_lacks_are_refused(make: Callable[..., Made], settings: MemorySettings) -> None:
    graph, journal = surreal(make)
    made = plan(graph, settings)

    with pytest.raises(GraphError, match="merges no nobody"):
        apply(graph, journal, made, only=["nobody"])
    apply(graph, journal, made)
    with pytest.raises(GraphError, match="no merge 'nothing'"):
        undo(graph, journal, "nothing")
    with pytest.raises(GraphError, match="for"):
        apply(journal, journal, made)
