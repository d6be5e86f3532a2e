"""Facts over two times: every answer is that of a model in plain Python, which replays the history of the changes."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from pipeline import HopRank
from pipeline.domains.memory import patterns
from pipeline.domains.memory.entities import upsert
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.patterns import history
from pipeline.domains.memory.records import Entity, Fact, When
from pipeline.domains.memory.revise import add_facts, invalidate, retract, supersede
from pipeline.domains.memory.versions import Triple
from pipeline.errors import GraphError
from pipeline.knowledge import Direction

NAMES = ("api", "express", "hono")
WORLD = (
    "1912-04-15T02:20:00+00:00",
    "1969-12-31T23:59:59+00:00",
    "2026-01-15T00:00:00+00:00",
    "2026-02-10T09:00:00+01:00",
    "2026-02-10T08:00:00+00:00",  # the same instant
    "2026-03-01T00:00:00+00:00",
)
names = st.sampled_from(NAMES)
instants = st.sampled_from(WORLD)
starts = st.one_of(st.none(), instants)


@dataclass
class Model:
    """The changes in order; each answer replays them. ``log`` holds (known from, kind, triple, period or time)."""

    log: list[tuple[str, str, Triple, tuple[str | None, str | None]]] = field(default_factory=list)

    def periods(self, known_at: str) -> dict[Triple, set[tuple[str | None, str | None]]]:
        believed: dict[Triple, set[tuple[str | None, str | None]]] = {}
        for known, kind, triple, (start, end) in self.log:
            if known > known_at:
                continue
            if kind == "add":
                believed.setdefault(triple, set()).add((start, end))
            elif kind == "retract":
                believed[triple] = set()
            else:
                at = str(start)
                over = {period for period in believed.get(triple, ()) if within(at, period)}
                believed[triple] = believed.get(triple, set()) - over | {(first, at) for first, _ in over}
        return believed

    def holds(self, as_of: str, known_at: str) -> set[Triple]:
        periods = self.periods(known_at)
        return {triple for triple, over in periods.items() if any(within(as_of, period) for period in over)}


def within(at: str, period: tuple[str | None, str | None]) -> bool:
    start, end = period
    return (start is None or start <= at) and (end is None or at < end)


def utc(time: str | None) -> str | None:
    return None if time is None else Fact("a", "t", "b", valid_at=time).valid_at


def entity_id(name: str) -> str:
    return Entity(name, "library").id


class Facts(RuleBasedStateMachine):
    """Changes of facts in any order, some at one instant of knowledge."""

    hoprank: HopRank
    time_now: str

    @initialize()
    def begin(self) -> None:
        self.memory = AgentMemory(self.hoprank, f"memory-{uuid.uuid4().hex[:12]}")
        self.model = Model()
        self.clock = 0
        Facts.time_now = self.time
        upsert(self.memory, [Entity(name, "library", created_at="2020-01-01") for name in NAMES])

    def teardown(self) -> None:
        with suppress(AttributeError):
            self.memory.drop()

    @property
    def time(self) -> str:
        return f"2026-06-01T00:00:{self.clock:02}+00:00"

    @rule()
    def wait(self) -> None:
        self.clock += 1
        Facts.time_now = self.time

    @rule(source=names, goal=names, start=starts, end=starts)
    def add(self, source: str, goal: str, start: str | None, end: str | None) -> None:
        start, end = utc(start), utc(end)
        if start and end and end < start:
            start, end = end, start
        triple = (entity_id(source), "depends_on", entity_id(goal))
        fact = Fact(*triple, start, end, evidence=("said so",))
        add_facts(self.memory, [fact])
        self.model.log.append((self.time, "add", triple, (start, end)))

    @rule(source=names, goal=names, at=instants)
    def end(self, source: str, goal: str, at: str) -> None:
        triple = (entity_id(source), "depends_on", entity_id(goal))
        at = str(utc(at))
        if triple in self.model.holds(at, self.time):
            invalidate(self.memory, triple, at, "said so")
            self.model.log.append((self.time, "end", triple, (at, None)))
        else:
            with pytest.raises(GraphError):
                invalidate(self.memory, triple, at, "said so")

    @rule(source=names, goal=names, other=names, at=instants)
    def replace(self, source: str, goal: str, other: str, at: str) -> None:
        triple = (entity_id(source), "depends_on", entity_id(goal))
        new = (entity_id(source), "depends_on", entity_id(other))
        at = str(utc(at))
        if triple not in self.model.holds(at, self.time) or triple == new:
            return
        supersede(self.memory, triple, Fact(*new), at, "moved")
        self.model.log += [(self.time, "end", triple, (at, None)), (self.time, "add", new, (at, None))]

    @rule(source=names, goal=names)
    def withdraw(self, source: str, goal: str) -> None:
        triple = (entity_id(source), "depends_on", entity_id(goal))
        if self.model.periods(self.time).get(triple):
            retract(self.memory, triple, "was wrong")
            self.model.log.append((self.time, "retract", triple, (None, None)))

    @rule(as_of=instants, back=st.integers(0, 3))
    def ask(self, as_of: str, back: int) -> None:
        known_at = f"2026-06-01T00:00:{max(self.clock - back, 0):02}+00:00"
        when = When(utc(as_of), known_at)
        expected = self.model.holds(str(utc(as_of)), known_at)

        graph = self.memory.graph_at(when)
        assert {(edge.source, edge.type, edge.target) for edge in graph.edges()} == expected
        for name in NAMES:
            entity = Entity(name, "library")
            targets = {related.fact.triple for related in patterns.related(self.memory, entity, when=when)}
            sources = {
                related.fact.triple for related in patterns.related(self.memory, entity, when=when, reverse=True)
            }
            assert targets == {triple for triple in expected if triple[0] == entity.id}
            assert sources == {triple for triple in expected if triple[2] == entity.id}
            near = patterns.hops(self.memory, entity, 3, when=when, direction=Direction.OUT)
            assert {one.entity.id for one in near} == reachable(expected, entity.id)

    @invariant()
    def nothing_is_lost(self) -> None:
        # Each change of what is believed can be read back: the stored versions hold all periods ever believed.
        if not hasattr(self, "memory") or self.clock % 3:
            return
        stored = {(fact.valid_at, fact.invalid_at) for fact in all_versions(self.memory)}
        believed = {period for over in self.model.periods(self.time).values() for period in over}
        assert believed <= stored


def reachable(triples: set[Triple], start: str) -> set[str]:
    reached, frontier = {start}, {start}
    for _ in range(3):
        frontier = {target for source, _, target in triples if source in frontier} - reached
        reached |= frontier
    return reached - {start}


def all_versions(memory: AgentMemory) -> list[Fact]:
    return [fact for name in NAMES for fact in history(memory, Entity(name, "library"))]


def test_every_answer_is_that_of_the_model(hoprank: HopRank, monkeypatch: pytest.MonkeyPatch) -> None:
    Facts.hoprank = hoprank
    monkeypatch.setattr("pipeline.domains.memory.revise.now", lambda: Facts.time_now)
    run_state_machine_as_test(
        Facts,
        settings=settings(
            max_examples=12,
            stateful_step_count=15,
            suppress_health_check=list(HealthCheck),
        ),
    )
