"""Plans and merges, on a real Neo4j."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import TransientError

from pipeline import KnowledgeGraph
from pipeline.domains.memory import entities
from pipeline.domains.memory.dedupe.apply import Merge, _write, apply, discard, mark, merges, undo
from pipeline.domains.memory.dedupe.merge import Rewrite
from pipeline.domains.memory.dedupe.plan import Group, Plan, accepted, plan
from pipeline.domains.memory.entities import survivors, upsert
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity, Fact
from pipeline.domains.memory.schema import MENTIONS
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
    Merged,
    NewGraph,
    contents,
    surreal,
)


def test_a_merge_leaves_one_entity_that_has_what_all_had(merged: Merged) -> None:
    graph, _, _, done = merged

    assert done.complete
    assert [group.members for group in done.groups] == [(SDB.id, CASE.id, NPM.id)]
    nodes, edges = contents(graph)
    assert nodes.keys() == {SDB.id, HONO.id, APP.id, SAID.id, LATER.id}
    survivor = Entity.of(nodes[SDB.id])
    assert (survivor.mention_count, survivor.description) == (8, CASE.description)
    assert survivor.aliases == ("SurrealDB", "surrealdb npm package")
    assert (survivor.created_at, survivor.metadata) == (T1, {"tags": ["a", "b"], "seen": 1})
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


def test_a_plan_survives_a_file_and_is_refused_when_edited(
    new_graph: NewGraph, memory_settings: MemorySettings, tmp_path: Path
) -> None:
    graph, _ = surreal(new_graph)
    made = plan(graph, memory_settings)

    made.write(tmp_path / "plan.json")

    assert Plan.read(tmp_path / "plan.json") == made
    edited = made.to_json() | {"graph": "other"}
    with pytest.raises(GraphError, match="was edited"):
        Plan.from_json(edited)
    with pytest.raises(GraphError, match="no plan"):
        Plan.from_json({"groups": 1})


@pytest.mark.parametrize("what", ["changed", "gone"])
def test_a_stale_plan_is_refused(new_graph: NewGraph, memory_settings: MemorySettings, what: str) -> None:
    graph, journal = surreal(new_graph)
    made = plan(graph, memory_settings)
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


def test_another_mention_leaves_a_plan_fresh(new_graph: NewGraph, memory_settings: MemorySettings) -> None:
    graph, journal = surreal(new_graph)
    made = plan(graph, memory_settings)
    graph.update_node(CASE.id, properties={"mention_count": 3})

    assert apply(graph, journal, made) is not None
    node = graph.get_node(SDB.id)
    assert node
    assert node.properties["mention_count"] == 9


def test_what_is_forgotten_leaves_the_journal(merged: Merged, monkeypatch: pytest.MonkeyPatch) -> None:
    _, journal, _, done = merged
    with monkeypatch.context() as patched:  # no query for each merge
        for name in ("get_node", "get_nodes"):
            patched.setattr(journal, name, lambda *_: pytest.fail("a merge was read by itself"))
        assert discard(journal, [HONO.name]) == []
    assert discard(journal, [NPM.id]) == [done]
    assert journal.size().nodes == 0


def test_a_reviewed_candidate_is_merged_when_accepted(new_graph: NewGraph, memory_settings: MemorySettings) -> None:
    jane = Entity("Jane Doe", "person", mention_count=3, created_at=T1)
    initial = Entity("J. Doe", "person", created_at=T1)
    graph, journal = new_graph([jane, initial], [])
    before = contents(graph)
    made = plan(graph, memory_settings)
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


def test_an_unknown_merge_and_a_plan_of_another_graph_are_refused(
    new_graph: NewGraph, memory_settings: MemorySettings
) -> None:
    graph, journal = surreal(new_graph)
    made = plan(graph, memory_settings)

    apply(graph, journal, made)
    with pytest.raises(GraphError, match="no merge 'nothing'"):
        undo(graph, journal, "nothing")
    with pytest.raises(GraphError, match="for"):
        apply(journal, journal, made)


def test_a_merge_that_was_killed_before_it_changed_anything_leaves_the_journal(
    new_graph: NewGraph, memory_settings: MemorySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, journal = surreal(new_graph)
    wanted = plan(graph, memory_settings)

    def noted(*given: Any) -> None:
        _write(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("pipeline.domains.memory.dedupe.apply._write", noted)
        with pytest.raises(KeyboardInterrupt):
            apply(graph, journal, wanted)
    assert [merge.complete for merge in merges(journal)] == [False]

    apply(graph, journal, wanted)

    assert [merge.complete for merge in merges(journal)] == [True]


def test_a_merge_that_was_killed_when_it_was_done_is_done_for_its_plan(
    new_graph: NewGraph, memory_settings: MemorySettings
) -> None:
    graph, journal = surreal(new_graph)
    wanted = plan(graph, memory_settings)
    done = apply(graph, journal, wanted)
    assert done
    mark(journal, done.id, complete=False)
    merged = contents(graph)

    assert apply(graph, journal, wanted) == done
    assert contents(graph) == merged
    assert [merge.complete for merge in merges(journal)] == [True]


def test_a_transaction_that_is_tried_again_withdraws_what_was_killed_once(
    new_graph: NewGraph, memory_settings: MemorySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, journal = surreal(new_graph)
    wanted = plan(graph, memory_settings)
    faults: list[BaseException] = [KeyboardInterrupt(), TransientError("The server had no time.")]

    def noted(*given: Any) -> None:
        fault = faults.pop(0) if faults else None
        if isinstance(fault, TransientError):  # before anything is noted again
            raise fault
        _write(*given)
        if fault:
            raise fault

    monkeypatch.setattr("pipeline.domains.memory.dedupe.apply._write", noted)
    with pytest.raises(KeyboardInterrupt):
        apply(graph, journal, wanted)

    apply(graph, journal, wanted)

    assert not faults
    assert [merge.complete for merge in merges(journal)] == [True]


def test_the_record_of_merges_is_read_once_until_it_changes(
    memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [Entity("SurrealDB", "library", mention_count=2), Entity("surrealdb", "library")]
    upsert(memory, known)
    journal = memory.made_journal()
    read: list[str] = []

    def spy(graph: KnowledgeGraph) -> list[Merge]:
        read.append(graph.name)
        return merges(graph)

    monkeypatch.setattr(entities, "merges", spy)
    assert [survivors(memory) for _ in range(2)] == [{}, {}]
    assert len(read) == 1

    group = Group(known[0].id, (known[1].id,), ())
    _write(journal, Merge("m1", T1, "p", (group,), 0, 0, complete=True), Rewrite())

    assert [survivors(memory) for _ in range(2)] == [{known[1].id: known[0].id}] * 2
    assert len(read) == 2
