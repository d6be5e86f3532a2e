"""The same files in any order, once or several times, give the same memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pipeline import HopRank, Memory
from pipeline.domains.memory import understand
from pipeline.domains.memory.entities import upsert
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.patterns import by_type, related
from pipeline.domains.memory.records import Entity, Fact, When
from pipeline.domains.memory.remember import add_text
from pipeline.domains.memory.revise import add_facts
from pipeline.domains.memory.schema import MENTIONS
from pipeline.domains.memory.understand import Understood
from pipeline.errors import GraphError
from pipeline.knowledge.clock import now
from tests.domains.memory.conftest import NewMemory


def lib(name: str) -> dict[str, str]:
    return {"type": "library", "name": name}


def depends(**times: str) -> dict[str, Any]:
    return {"source": lib("api-server"), "type": "depends_on", "target": lib("express"), **times}


FILES: dict[str, list[dict[str, Any]]] = {
    "january": [
        {"text": "Rule: every table of ledger has a column for the time.", "speaker": "Ada"},
        {"text": "Convention: short names in scripts/", "speaker": "Bo"},
        {"text": "The stuck valve triggers the pump alarm.", "speaker": "Ada"},
        {"text": "The sync crash was fixed by adding a lock to the reader.", "speaker": "Bo"},
        {"text": "api-server runs on express. We ask Grafana, and Orme Lock.", "facts": [depends()]},
    ],
    "february": [
        {"text": "Error: stuck valve", "speaker": "Bo"},
        {"text": "Error: pump alarm", "speaker": "Bo"},
        {"text": "The keeper of Orme Lock looks at grafana daily.", "speaker": "Ada"},
        {"text": "The sync crash was fixed by adding a lock.", "speaker": "Ada"},
        {"text": "We left express behind.", "facts": [depends(invalid_at="2026-02-10")]},
        {"text": "Error: Sync Crash", "speaker": "Ada"},
    ],
    "march": [
        {"text": "We moved the ledger.", "entities": [lib("ledger"), {"type": "module", "name": "scripts/"}]},
        {"text": "In Grafana the lock is green, says Cy.", "speaker": "Cy"},
        {"text": "The reader is new.", "entities": [{"type": "function", "name": "reader", "aliases": ["the reader"]}]},
        {"text": "Cy and Ada went for a walk around Orme Lock.", "entities": [{"type": "concept", "name": "walk"}]},
    ],
}


def held(memory: AgentMemory) -> tuple[Any, ...]:
    """All that is known now, without the times of writing."""
    graph = memory.graph()
    nodes = {node.id: {name: sorted(str(value)) for name, value in node.properties.items()} for node in graph.nodes()}
    edges = [edge for edge in graph.edges() if edge.expired_at is None]
    mentions = {(edge.source, edge.target, str(edge.properties)) for edge in edges if edge.type == MENTIONS}
    facts = {
        (edge.source, edge.type, edge.target, edge.valid_at, edge.invalid_at, edge.weight, str(edge.properties))
        for edge in edges
        if edge.type != MENTIONS
    }
    return nodes, mentions, facts


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    for month, (name, texts) in enumerate(FILES.items(), 1):
        turns = [{"date": f"2026-{month:02}-{day:02}", **turn} for day, turn in enumerate(texts, 1)]
        (folder / f"{name}.json").write_text(json.dumps({"conversation": name, "messages": turns}))
    return {name: folder / f"{name}.json" for name in FILES}


@pytest.fixture(scope="module")
def in_order(hoprank: HopRank, new_memory: NewMemory, files: dict[str, Path]) -> tuple[Any, ...]:
    with new_memory() as memory:
        for file in files.values():
            Memory(hoprank, memory.name).import_chats(file)
        return held(memory)


@pytest.mark.slow
def test_what_texts_state_is_as_they_say_it(in_order: tuple[Any, ...]) -> None:
    nodes, _, facts = in_order

    names = {id_.partition("|")[2] for id_ in nodes if "|memory|" not in id_}
    stated = {(source.split("|")[2], type_, target.split("|")[2]) for source, type_, target, *_ in facts}
    assert "convention|every table of ledger has a column for the time" in names
    assert "convention|every table" not in names
    assert {"concept|Grafana", "concept|Orme Lock"} <= names
    assert stated == {
        ("scripts/", "has_convention", "short names"),
        ("stuck valve", "triggers", "pump alarm"),
        ("Sync Crash", "fixed_by", "reader"),
        ("Sync Crash", "fixed_by", "adding a lock"),
        ("api-server", "depends_on", "express"),
    }


@pytest.mark.slow
@settings(max_examples=3, deadline=None, phases=[Phase.generate])
@given(st.permutations(sorted(FILES)), st.lists(st.sampled_from(sorted(FILES)), max_size=2))
def test_the_order_of_files_makes_no_difference(
    hoprank: HopRank,
    new_memory: NewMemory,
    files: dict[str, Path],
    in_order: tuple[Any, ...],
    order: list[str],
    again: list[str],
) -> None:
    with new_memory() as memory:
        for name in (*order, *again):
            Memory(hoprank, memory.name).import_chats(files[name])

        assert held(memory) == in_order


FIX = "The sync crash was fixed by adding a lock to the reader."
READER = {"type": "function", "name": "reader", "aliases": ["the reader"]}


@pytest.mark.slow
def test_what_was_read_before_a_name_was_known_can_still_be_asked_for(memory: AgentMemory) -> None:
    add_text(memory, FIX, key="fix", date="2026-01-01")
    before = now()
    add_text(memory, "The reader is new.", key="new", date="2026-01-02", entities=[READER])

    def fixes(when: When) -> list[str]:
        crash = memory.resolve("sync crash", when=when)
        return [found.entity.name for found in related(memory, crash, when=when)]

    assert fixes(When()) == ["reader"]
    assert fixes(When(known_at=before)) == ["adding a lock to the reader"]
    assert [entity.name for entity in by_type(memory, "concept")] == []

    with pytest.raises(GraphError, match="no entity"):
        memory.resolve("adding a lock to the reader")

    upsert(memory, [Entity("adding a lock to the reader", "concept", description="As Bo put it.")])

    assert memory.resolve("adding a lock to the reader").description == "As Bo put it."


@pytest.mark.slow
def test_what_was_given_by_hand_stays_when_texts_are_read_again(memory: AgentMemory) -> None:
    add_text(memory, FIX, key="fix", date="2026-01-01")
    upsert(memory, [Entity("adding a lock to the reader", "concept")])
    [fixed] = [Fact.of(edge) for edge in memory.graph().edges() if edge.type == "fixed_by"]
    add_facts(memory, [replace(fixed, evidence=("Bo said so",), metadata={})])
    add_text(memory, "The reader is new.", key="new", date="2026-01-02", entities=[READER])

    crash = memory.resolve("sync crash")
    assert [found.entity.name for found in related(memory, crash)] == ["adding a lock to the reader"]

    add_text(memory, "All is well with the reader.", key="fix", date="2026-01-01")

    assert [found.entity.name for found in related(memory, crash)] == ["adding a lock to the reader"]


@pytest.mark.slow
def test_a_text_that_changes_states_what_it_says_now(memory: AgentMemory) -> None:
    add_text(memory, "Error: stuck valve. The stuck valve triggers the pump alarm error.", key="a", date="2026-01-01")
    add_text(memory, "The valve is fine.", key="a", date="2026-01-01")

    assert [entity.name for entity in by_type(memory, "error_pattern")] == []


@pytest.mark.slow
def test_what_another_writer_adds_meanwhile_is_read(memory: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    add_text(memory, "We begin.", key="first", date="2026-01-01")
    reading, others = understand.understand, iter(["The `reader` broke."])

    def overtaken(opened: AgentMemory, *given: Any) -> Understood:
        read = reading(opened, *given)
        for text in others:
            add_text(memory, text, key="other", date="2026-01-02")
        return read

    monkeypatch.setattr("pipeline.domains.memory.remember.understand", overtaken)
    add_text(memory, "The reader is new.", key="new", date="2026-01-02", entities=[READER])

    assert memory.texts_of(memory.resolve("reader").id) == ["new", "other"]
