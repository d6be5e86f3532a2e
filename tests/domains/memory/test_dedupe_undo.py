"""The undoing of merges, on a real Neo4j: what is undone is equal node by node and edge by edge."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.domains.memory.dedupe.apply import apply, mark, merges, undo
from pipeline.domains.memory.dedupe.plan import Plan, plan
from pipeline.domains.memory.records import Entity
from pipeline.domains.memory.settings import MemorySettings
from pipeline.errors import GraphError
from tests.domains.memory.duplicates import (
    APP,
    CASE,
    HONO,
    LATER,
    NPM,
    SAID,
    SDB,
    T1,
    T2,
    T3,
    Merged,
    NewGraph,
    contents,
    fact,
)


def only(made: Plan, entity: Entity) -> Plan:
    """Return the part of a plan that merges an entity."""
    return replace(made, groups=tuple(group for group in made.groups if entity.id in group.members))


def test_an_undone_merge_leaves_an_equal_graph(merged: Merged) -> None:
    graph, journal, before, done = merged
    assert contents(graph) != before

    undone = undo(graph, journal)

    assert contents(graph) == before
    assert undone.merge == done
    assert undone.restored == tuple(sorted((CASE.id, NPM.id)))
    assert undone.notes == ()
    assert merges(journal) == []
    assert journal.size().nodes == 0


def test_what_comes_after_a_merge_stays_with_the_survivor(merged: Merged) -> None:
    graph, journal, (before_nodes, before_edges), _ = merged
    new = fact(SDB, "depends_on", HONO, T3, valid_at=T3)
    graph.add_edge(new)
    graph.update_node(SDB.id, properties={"mention_count": 10})

    undone = undo(graph, journal)

    nodes, edges = contents(graph)
    assert edges == before_edges | {new.id: graph.get_edge(new.id)}
    assert undone.notes == (f"1 facts or mentions that came since stay with {SDB.id}",)
    survivor, was = nodes.pop(SDB.id), before_nodes.pop(SDB.id)
    assert survivor.properties == {**was.properties, "mention_count": 5 + 2}
    assert survivor.embedding == was.embedding
    assert nodes == before_nodes


def test_a_moved_fact_that_expired_since_is_expired_after_the_undo(merged: Merged) -> None:
    graph, journal, (_, before_edges), _ = merged
    (was,) = (edge for edge in before_edges.values() if edge.source == NPM.id)
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


def test_what_was_removed_since_is_not_restored(merged: Merged) -> None:
    merged.graph.remove_nodes([HONO.id, SDB.id])

    undone = undo(merged.graph, merged.journal)

    assert contents(merged.graph)[0].keys() == {APP.id, SAID.id, LATER.id}
    assert contents(merged.graph)[1] == {}
    assert f"{SDB.id} was removed since: it isn't restored" in undone.notes


@pytest.mark.slow
def test_two_merges_are_undone_in_order(new_graph: NewGraph, memory_settings: MemorySettings) -> None:
    other = Entity("Hono", "library", mention_count=3, created_at=T2)
    graph, journal = new_graph(
        [SDB, CASE, HONO, other], [fact(SDB, "depends_on", HONO), fact(CASE, "depends_on", other, evidence=("x",))]
    )
    states = [contents(graph)]
    made = plan(graph, memory_settings)
    first = apply(graph, journal, only(made, SDB))
    states.append(contents(graph))
    second = apply(graph, journal, only(made, HONO))
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


def test_merges_that_share_nothing_are_undone_in_any_order(
    new_graph: NewGraph, memory_settings: MemorySettings
) -> None:
    pair = [Entity("Error budget", "concept", created_at=T1), Entity("error budget", "concept", created_at=T2)]
    graph, journal = new_graph([SDB, CASE, *pair], [])
    before = contents(graph)
    made = plan(graph, memory_settings)
    first = apply(graph, journal, only(made, SDB))
    second = apply(graph, journal, only(made, pair[0]))
    assert first
    assert second

    undo(graph, journal, first.id)
    undo(graph, journal, second.id)

    assert contents(graph) == before


def test_an_interrupted_merge_is_undone_without_harm(merged: Merged) -> None:
    mark(merged.journal, merged.done.id, complete=False)

    assert [merge.complete for merge in merges(merged.journal)] == [False]
    undo(merged.graph, merged.journal)

    assert contents(merged.graph) == merged.before


def test_an_undo_that_was_interrupted_at_its_end_changes_nothing_more(
    merged: Merged, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("pipeline.domains.memory.dedupe.apply._remove", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            undo(merged.graph, merged.journal)

    undo(merged.graph, merged.journal)

    assert contents(merged.graph) == merged.before
    assert merges(merged.journal) == []


def test_a_loser_that_came_back_is_counted_again(merged: Merged) -> None:
    merged.graph.add_node(CASE.to_node())

    undo(merged.graph, merged.journal)

    nodes, edges = contents(merged.graph)
    assert nodes[CASE.id].properties == {**merged.before[0][CASE.id].properties, "mention_count": 4}
    assert edges == merged.before[1]
