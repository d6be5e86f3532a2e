"""Entities and facts that a file gives with a memory: defaults, and what is refused."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pipeline.domains.memory.chats.given import check_given
from pipeline.domains.memory.chats.messages import Given
from pipeline.domains.memory.extract.facts import Extracted
from pipeline.domains.memory.records import Memory
from pipeline.domains.memory.schema import SCHEMA
from pipeline.errors import SourceError
from pipeline.records import Skipped

MEMORY = Memory("m1", "Hi. The API server moved to Hono in May. Bye.", "2024-06-01T00:00:00+00:00", scope="team")
API, HONO = {"type": "library", "name": "API server"}, {"type": "library", "name": "Hono"}
FACT = {"source": API, "type": "depends_on", "target": HONO}


def checked(entities: Any = None, facts: Any = None, left_out: list[Skipped] | None = None) -> Extracted:
    given = Given(MEMORY, "chat.json, turn 1", entities, facts)
    return check_given(given, SCHEMA, ZoneInfo("Europe/Berlin"), left_out)


def test_an_entity_has_its_fields_and_the_memorys_scope() -> None:
    item = {**HONO, "description": "a framework", "aliases": ["hono.js"], "confidence": 1, "metadata": {"stars": 3}}

    (entity,) = checked([item]).entities

    assert (entity.id, entity.description, entity.aliases) == ("team|library|Hono", "a framework", ("hono.js",))
    assert (entity.confidence, entity.metadata, entity.mention_count) == (1.0, {"stars": 3}, 1)


def test_a_fact_holds_from_the_memorys_time_with_its_sentence() -> None:
    extracted = checked(facts=[{**FACT, "weight": 0.8}])

    (fact,) = extracted.facts
    assert fact.triple == ("team|library|API server", "depends_on", "team|library|Hono")
    assert (fact.valid_at, fact.invalid_at, fact.weight, fact.scope) == (MEMORY.time, None, 0.8, "team")
    assert fact.evidence == ("m1: The API server moved to Hono in May.",)
    assert {entity.name for entity in extracted.entities} == {"API server", "Hono"}


def test_an_end_of_a_fact_doesnt_replace_its_entity() -> None:
    extracted = checked([{**HONO, "description": "a framework"}], [FACT])

    assert {entity.name: entity.description for entity in extracted.entities} == {
        "Hono": "a framework",
        "API server": "",
    }


@pytest.mark.parametrize(
    ("times", "valid_at", "invalid_at"),
    [
        ({}, MEMORY.time, None),
        ({"valid_at": None}, None, None),
        ({"valid_at": "2024-05-01"}, "2024-04-30T22:00:00+00:00", None),
        ({"invalid_at": "2024-01-01T00:00:00Z"}, None, "2024-01-01T00:00:00+00:00"),
        ({"invalid_at": "2025-01-01T00:00:00Z"}, MEMORY.time, "2025-01-01T00:00:00+00:00"),
        ({"valid_at": 0, "invalid_at": 1706702400}, "1970-01-01T00:00:00+00:00", "2024-01-31T12:00:00+00:00"),
    ],
)
def test_the_period_of_a_fact(times: dict[str, Any], valid_at: str | None, invalid_at: str | None) -> None:
    (fact,) = checked(facts=[{**FACT, **times}]).facts

    assert (fact.valid_at, fact.invalid_at) == (valid_at, invalid_at)


def test_a_fact_whose_ends_no_sentence_names_has_the_whole_text() -> None:
    (fact,) = checked(facts=[{**FACT, "target": {"type": "library", "name": "Express"}}]).facts

    assert fact.evidence == (f"m1: {MEMORY.text}",)


@pytest.mark.parametrize(
    ("entities", "facts", "problem"),
    [
        (5, None, "has the `entities` 5: .*list"),
        ([5], None, "entity 1 isn't an object of names and values"),
        ([{"type": "library"}], None, "entity 1 has no `name`"),
        ([{"type": "library", "name": " "}], None, "entity 1 has the `name` ' '"),
        ([{"type": "library", "name": 1.5}], None, "entity 1 has the `name` 1.5"),
        ([{"type": "library", "name": "a\ud800"}], None, "entity 1 has the `name`"),
        ([{"type": "librari", "name": "a"}], None, r"entity 1 has the `type` 'librari', .*\.\nDid you mean 'library'"),
        ([{"type": "memory", "name": "a"}], None, "entity 1 has the `type` 'memory'"),
        ([{"name": "a"}], None, "entity 1 has no `type`"),
        ([{**HONO, "confidence": 2}], None, "entity 1 has the `confidence` 2"),
        ([{**HONO, "confidence": float("nan")}], None, "entity 1 has the `confidence` nan"),
        ([{**HONO, "confidence": True}], None, "entity 1 has the `confidence` True"),
        ([{**HONO, "aliases": "a"}], None, "entity 1 has the `aliases` 'a'"),
        ([{**HONO, "description": 5}], None, "entity 1 has the `description` 5"),
        ([{**HONO, "metadata": {"name": 1}}], None, "entity 1: .*metadata named name"),
        (
            [{**HONO, "metadata": {"x": float("inf")}}],
            None,
            "entity 1 has the `metadata` .*the property 'x' holds 'inf'",
        ),
        ([{**HONO, "metadata": [1]}], None, "entity 1 has the `metadata` .*dict"),
        (None, [{}], "fact 1 has no `source`"),
        (None, [{**FACT, "type": "mentions"}], "fact 1 has the `type` 'mentions'"),
        (None, [{**FACT, "type": "depends-on"}], "Did you mean 'depends_on'"),
        (None, [{**FACT, "target": {"type": "file", "name": "a"}}], "fact 1, 'depends_on': its target is a file"),
        (None, [{**FACT, "source": {"type": "file", "name": "a"}}], "fact 1, 'depends_on': its source is a file"),
        (None, [{**FACT, "valid_at": "soon"}], "fact 1, valid_at: its date is 'soon'"),
        (None, [{**FACT, "valid_at": "2025-01-01", "invalid_at": "2024-01-01"}], "fact 1: valid_at and invalid_at are"),
        (None, [{**FACT, "weight": "much"}], "fact 1 has the `weight` 'much'"),
    ],
)
def test_malformed_items_are_refused_with_their_memory(entities: Any, facts: Any, problem: str) -> None:
    with pytest.raises(SourceError, match=problem) as caught:
        checked(entities, facts)

    assert caught.value.message.startswith("chat.json, turn 1 (memory 'm1')")
    assert caught.value.fix


def test_a_malformed_entity_or_fact_costs_no_other() -> None:
    left_out: list[Skipped] = []
    entities = [{"type": "librari", "name": "a"}, HONO, 5]
    facts = [{**FACT, "weight": "much"}, FACT, {**FACT, "valid_at": "2025-01-01", "invalid_at": "2024-01-01"}]

    extracted = checked(entities, facts, left_out)

    assert [entity.name for entity in extracted.entities] == ["Hono", "API server"]
    assert [fact.valid_at for fact in extracted.facts] == [MEMORY.time]
    assert [(one.source, one.reason[:40]) for one in left_out] == [
        ("chat.json, turn 1 (memory 'm1'), entity 1", "it has the `type` 'librari', which isn't"),
        ("chat.json, turn 1 (memory 'm1'), entity 3", "it isn't an object of names and values"),
        ("chat.json, turn 1 (memory 'm1'), fact 1", "it has the `weight` 'much': input should"),
        ("chat.json, turn 1 (memory 'm1'), fact 3", "valid_at and invalid_at are 2024-12-31T2"),
    ]


@pytest.mark.parametrize(("entities", "facts"), [(5, [FACT]), ([HONO], "no list"), ({"a": 1}, [FACT])])
def test_entities_that_are_no_list_cost_no_facts(entities: Any, facts: Any) -> None:
    left_out: list[Skipped] = []

    extracted = checked(entities, facts, left_out)

    assert extracted.entities
    assert len(left_out) == 1
