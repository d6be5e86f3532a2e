"""The themes of a question: which entities and facts of a community they show, and in which order."""

from __future__ import annotations

from pipeline.domains.memory.entities import upsert
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.recall.levels import find_themes
from pipeline.domains.memory.records import NOW, Entity, Fact, When
from pipeline.domains.memory.revise import add_facts

SOON = "2026-01-01T00:00:00+00:00"
PARSER = Entity("parser", "module")
TOPICS = [Entity(f"topic {number}", "concept", mention_count=number) for number in range(1, 10)]
HELPER = Entity("helper", "file", mention_count=50)
BILLS = Entity("bills", "module")
PAYING = [Entity(f"paying {number}", "concept") for number in range(2)]


def made(memory: AgentMemory) -> dict[str, Entity]:
    """Two communities: what hangs on the parser, and what hangs on the bills; return the entities by name."""
    stored = upsert(memory, [PARSER, *TOPICS, HELPER, BILLS, *PAYING])
    facts = [
        *(Fact(PARSER.id, "implements", topic.id, weight=topic.mention_count / 10) for topic in TOPICS),
        Fact(PARSER.id, "implements", TOPICS[7].id, valid_at=SOON, weight=0.95),
        Fact(PARSER.id, "contains", HELPER.id, weight=1.0),
        *(Fact(BILLS.id, "implements", topic.id) for topic in PAYING),
    ]
    add_facts(memory, facts)
    return {entity.name: entity for entity in stored}


def test_a_theme_shows_what_is_asked_about_then_what_is_mentioned_most(memory: AgentMemory) -> None:
    by_name = made(memory)
    asked = [by_name["helper"], by_name["topic 1"], by_name["paying 1"]]

    themes, scores = find_themes(memory, {entity.id: entity for entity in asked}, NOW)

    parsing, paying = ([entity.name for entity in theme.entities] for theme in themes)
    assert parsing == ["topic 1", "helper", *(f"topic {number}" for number in (9, 8, 7, 6, 5, 4))]
    assert paying == ["paying 1", "paying 0", "bills"]
    assert list(scores) == [entity.id for theme in themes for entity in theme.entities]


def test_the_facts_of_a_theme_are_among_its_entities_heaviest_first(memory: AgentMemory) -> None:
    by_name = made(memory)
    asked = [by_name[name] for name in ("parser", "helper", "topic 8", "bills")]

    themes, _ = find_themes(memory, {entity.id: entity for entity in asked}, NOW)
    before, _ = find_themes(memory, {entity.id: entity for entity in asked}, When(as_of="2025-01-01T00:00:00+00:00"))

    shown = [entity.name for entity in themes[0].entities]
    assert set(shown) == {"parser", "helper", *(f"topic {number}" for number in (4, 5, 6, 7, 8, 9))}
    facts = [(one.fact.weight, one.fact.type, one.entity.name) for one in themes[0].facts]
    assert facts[:3] == [(1.0, "contains", "parser"), (0.95, "implements", "parser"), (0.9, "implements", "parser")]
    assert len(facts) == 8
    assert {(one.fact.source, one.entity.name) for one in themes[1].facts} == {(BILLS.id, "bills")}
    assert len(before[0].facts) == 7


def test_what_is_kept_of_a_memory_is_bounded_whatever_times_and_scopes_are_asked_for(memory: AgentMemory) -> None:
    made(memory)
    read = []

    for scope in ("first", *(f"scope {number}" for number in range(100)), "last", "last", "first"):
        memory.cached(("of", scope), lambda scope=scope: read.append(scope))  # type: ignore[misc]

    assert read[-2:] == ["last", "first"]
    assert len(read) == 103
