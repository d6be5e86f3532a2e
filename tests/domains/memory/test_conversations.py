"""Long conversations in which facts change: asked for before and after the change, in words and by pattern."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.domains.memory import patterns
from pipeline.domains.memory.chats.messages import Read
from pipeline.domains.memory.chats.read import read_memories
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.patterns import conflicts, history
from pipeline.domains.memory.recall.levels import Level, fuse, levels_of, ranks_of
from pipeline.domains.memory.recall.recall import FoundEntity, FoundText, Recall, hybrid, levels_named, recall
from pipeline.domains.memory.records import Fact, When
from pipeline.domains.memory.remember import remember
from pipeline.domains.memory.revise import add_facts
from pipeline.errors import GraphError, QuestionError
from pipeline.knowledge import Direction
from tests.domains.memory.conftest import NewMemory

HARBOUR = Path(__file__).parent / "conversations" / "harbour.json"
BEFORE, AFTER, LATER = When("2026-01-31"), When("2026-02-20"), When("2026-06-30")


@pytest.fixture(scope="module")
def harbour(new_memory: NewMemory) -> Iterator[AgentMemory]:
    """The conversation, which tests only read."""
    with new_memory() as memory:
        remember(memory, read_memories(HARBOUR))
        yield memory


def needs(memory: AgentMemory, when: When) -> set[str]:
    service = memory.resolve("tide-service")
    return {one.entity.name for one in patterns.related(memory, service, ["depends_on"], when)}


def texts(found: Recall) -> list[str]:
    return [item.key.removeprefix("harbour/") for item in found.items if isinstance(item, FoundText)]


def entities(found: Recall) -> list[str]:
    return [item.entity.name for item in found.items if isinstance(item, FoundEntity)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (When("2026-01-01"), set()),
        (BEFORE, {"express", "tidebase"}),
        (When("2026-02-10T08:59:59+00:00"), {"express", "tidebase"}),
        (AFTER, {"hono", "tidebase"}),
        (When(None, "2020-01-01"), set()),
    ],
)
def test_a_fact_is_told_as_it_was(harbour: AgentMemory, when: When, expected: set[str]) -> None:
    if when.known_at:
        # The memory knew nothing then, not even the name.
        with pytest.raises(GraphError, match="no entity"):
            harbour.resolve("tide-service", when=when)
    else:
        assert needs(harbour, when) == expected


def test_a_stated_end_keeps_what_was_believed_before_and_why(harbour: AgentMemory) -> None:
    known = history(harbour, harbour.resolve("tide-service"), "depends_on", harbour.resolve("express"))

    (open_, ended) = sorted(known, key=lambda fact: fact.invalid_at or "")
    assert (open_.invalid_at, open_.expired_at is None) == (None, False)
    assert (ended.invalid_at, ended.expired_at) == ("2026-02-10T09:00:00+00:00", None)
    assert "from express to hono" in ended.ended
    assert not conflicts(harbour)


@pytest.mark.slow
def test_ends_that_disagree_are_told_and_both_are_kept(memory: AgentMemory) -> None:
    remember(memory, read_memories(HARBOUR))
    service, hono = memory.resolve("tide-service"), memory.resolve("hono")
    hers = Fact(
        service.id, "depends_on", hono.id, "2026-02-10T13:30:00+00:00", "2026-05-01", evidence=("Ilse says so",)
    )

    add_facts(memory, [hers])

    (conflict,) = conflicts(memory)
    assert conflict.reason == "the same fact ends at different times"
    assert "hono" in needs(memory, LATER)


def test_reverse_hops_subgraph_and_path(harbour: AgentMemory) -> None:
    service, hono = harbour.resolve("tide-service"), harbour.resolve("hono")

    assert [one.entity.name for one in patterns.related(harbour, hono, when=AFTER, reverse=True)] == ["tide-service"]
    assert not patterns.related(harbour, hono, when=BEFORE, reverse=True)
    assert {one.entity.name for one in patterns.hops(harbour, service, 1, when=AFTER)} == {"hono", "tidebase"}
    around = patterns.subgraph(harbour, hono, 2, when=AFTER)
    assert {entity.name for entity in around.entities} >= {"hono", "tide-service", "tidebase"}
    assert {fact.triple for fact in around.facts} >= {(service.id, "depends_on", hono.id)}
    step, onward = patterns.path(harbour, hono, harbour.resolve("tidebase"), when=AFTER, direction=Direction.BOTH)
    assert (step.entity.name, onward.entity.name) == ("tide-service", "tidebase")
    assert not patterns.path(harbour, hono, harbour.resolve("tidebase"), when=AFTER)
    with pytest.raises(GraphError, match="The depth is 21"):
        patterns.hops(harbour, service, 21)


def test_entities_of_a_type_are_those_of_the_time(harbour: AgentMemory) -> None:
    def names(kind: str, when: When) -> set[str]:
        return {entity.name for entity in patterns.by_type(harbour, kind, when=when)}

    assert names("person", When("2026-01-01")) == set()
    assert names("person", BEFORE) == {"Ilse", "Marten"}
    assert "hono" not in names("library", BEFORE)
    assert "hono" in names("library", AFTER)
    assert names("convention", BEFORE) == set()
    assert len(names("convention", AFTER)) == 1
    with pytest.raises(GraphError, match="no entity type"):
        patterns.by_type(harbour, "libary")


def test_the_most_connected_are_counted_at_the_time(harbour: AgentMemory) -> None:
    (first, *_) = patterns.most_connected(harbour, when=BEFORE)

    assert (first.entity.name, first.outgoing, first.incoming) == ("tide-service", 2, 0)


@pytest.mark.parametrize(
    ("question", "when", "expected", "absent"),
    [
        ("Where is Marten's desk?", BEFORE, "kickoff:4", "summer:2"),
        ("Where does Marten sit?", LATER, "summer:2", ""),
        ("How does the gauge at Orme Lock send its readings?", BEFORE, "kickoff:3", "migration:4"),
        ("How does the gauge at Orme Lock send its readings?", AFTER, "migration:4", "summer:3"),
    ],
)
def test_only_what_was_said_by_then_answers(
    harbour: AgentMemory, question: str, when: When, expected: str, absent: str
) -> None:
    found = texts(recall(harbour, question, 4, when))

    assert expected in found[:2]
    assert absent not in found


def test_dates_in_a_question_are_soft_evidence(harbour: AgentMemory) -> None:
    question = "What did we hear of the gauge at Orme Lock {}?"

    january = recall(harbour, question.format("in January 2026"))
    summer = recall(harbour, question.format("last week"), now=datetime(2026, 6, 9, tzinfo=UTC))
    before = recall(harbour, question.format("before 10 February 2026"))

    assert texts(january)[0] == "kickoff:3"
    assert texts(summer)[0] == "summer:3"
    assert "migration:4" in texts(january)
    assert before.periods[0].end == "2026-02-10T00:00:00+00:00"
    assert "kickoff:3" in texts(before)[:3]


def test_an_entity_that_is_named_answers_with_its_facts(harbour: AgentMemory) -> None:
    found = recall(harbour, "What does tide-service depend on?", when=AFTER)

    item = next(item for item in found.items if isinstance(item, FoundEntity))
    assert item.entity.name == "tide-service"
    assert {one.entity.name for one in item.facts} >= {"hono", "tidebase"}
    assert Level.LOW in item.levels


def test_levels_can_be_asked_alone(harbour: AgentMemory) -> None:
    question = "What does tide-service depend on?"

    assert not entities(recall(harbour, question, levels=[Level.TEXTS]))
    assert not texts(recall(harbour, question, levels=[Level.LOW]))
    assert recall(harbour, question, levels=[Level.LOW]).answered is Level.LOW
    assert recall(harbour, question, levels=[Level.TEXTS]).answered is Level.TEXTS
    themes = recall(harbour, question, levels=[Level.HIGH]).themes
    assert any("tide-service" in {entity.name for entity in theme.entities} for theme in themes)
    with pytest.raises(QuestionError, match="no level"):
        levels_named(["middle"])


def test_memories_on_a_topic_lead_to_what_they_mention(harbour: AgentMemory) -> None:
    found = hybrid(harbour, "express hono", 3, AFTER)

    assert found.memories[0].document.endswith("migration:1")
    assert {entity.name for entity in found.entities} >= {"tide-service", "express", "hono", "Marten"}
    assert {one.entity.name for one in found.facts} >= {"tidebase"}


@pytest.mark.slow
def test_what_was_remembered_later_was_not_known_before(memory: AgentMemory) -> None:
    everything = read_memories(HARBOUR)
    remember(memory, Read(everything.memories[:4]))
    known = str(max(node.created_at or "" for node in memory.graph().nodes()))
    remember(memory, Read(everything.memories[4:]))

    then = texts(recall(memory, "Where does Marten sit?", when=When(None, known)))

    assert then
    assert not [key for key in then if not key.startswith("kickoff")]
    assert not recall(memory, "Where does Marten sit?", when=When(None, "2020-01-01")).items


def test_equal_scores_share_a_rank_and_shares_sum_to_one() -> None:
    assert ranks_of({"a": 2.0, "b": 2.0, "c": 1.0}) == {"a": 1, "b": 1, "c": 3}
    rankings = {Level.TEXTS: {"a": 1, "b": 2}, Level.LOW: {"b": 1}}
    weights = {Level.TEXTS: 1.0, Level.LOW: 1.0}

    assert list(fuse(rankings, weights)) == ["b", "a"]
    assert sum(one.share for one in levels_of("b", rankings, weights).values()) == pytest.approx(1)
