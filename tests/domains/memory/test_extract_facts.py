"""Conventions, error patterns and facts by markers, each with its sentence; and what states nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.memory.extract.facts import extract, speaker_of
from pipeline.domains.memory.extract.gazetteer import Gazetteer
from pipeline.domains.memory.records import Entity, EntityKey, Memory

TIME = "2024-01-01T00:00:00+00:00"
KNOWN = Gazetteer(
    [
        Entity("hooks/", "module", mention_count=17, created_at=TIME),
        Entity("src/db.ts", "file"),
        Entity("src/db.ts:reconnect", "function"),
        Entity("CORS origin mismatch", "error_pattern", aliases=("CORS problem",)),
        Entity("surrealdb", "library"),
        Entity("Bob", "person"),
    ]
)


def memory(text: str, speaker: str = "Ann") -> Memory:
    return Memory("m1", text, TIME, speaker)


def found(text: str) -> tuple[set[tuple[str, str]], set[tuple[str, str, str]]]:
    extracted = extract(memory(text), KNOWN)
    entities = {(entity.type, entity.name) for entity in extracted.entities}
    facts = {(EntityKey.of(f.source).name, f.type, EntityKey.of(f.target).name) for f in extracted.facts}
    return entities, facts


@pytest.mark.parametrize(
    ("text", "name", "confidence"),
    [
        ("Convention: kebab-case file names", "kebab-case file names", 0.9),
        ("- **Naming convention:** kebab-case file names.", "kebab-case file names", 0.9),
        ("Ann: Convention: kebab-case", "kebab-case", 0.9),
        ("hello\nRule: never push to main", "never push to main", 0.8),
        ("1. Coding rule: no globals", "no globals", 0.8),
        ("Our convention is to write tests first.", "write tests first", 0.8),
        ("By convention, names are short.", "names are short", 0.8),
        ("Hi all! We always use tabs. Bye.", "always use tabs", 0.6),
        ("Remember that we never commit to main", "never commit to main", 0.6),
    ],
)
def test_a_marker_makes_a_convention(text: str, name: str, confidence: float) -> None:
    (entity,) = extract(memory(text), KNOWN).entities

    assert (entity.type, entity.name, entity.confidence) == ("convention", name, confidence)


def test_a_list_under_a_heading_has_conventions() -> None:
    text = "## Conventions\n\n- tabs\n- no globals\n\nThe end.\n- not this"

    assert found(text)[0] == {("convention", "tabs"), ("convention", "no globals")}


@pytest.mark.parametrize(
    "text",
    [
        "Do we always use tabs?",
        "We always loved the beach. We never went back.",
        "We never had one.",
        "I think conventions are great.",
        "The convention in town was fun.",
        "They said: rules are rules",
        "If we always use tabs, fine",
        "Convention:",
        "Rule of thumb",
        "",
        "The smell triggers memories.",
        "Kindness leads to joy.",
        "The leak triggers joy.",
        "Joy triggers a leak.",
        "Maybe the crash was fixed by a restart.",
        "If the crash was fixed by a restart, fine.",
        "The leak never triggers a crash.",
        "A leak may not lead to a crash.",
        "If the leak triggers a crash, tell me.",
        "Does the leak trigger a crash?",
        "The chair was fixed by hand.",
        "The crash was not fixed by that.",
        "The crash was fixed by Friday.",
        "The crash was fixed by Bob.",
        "Was the crash fixed by reconnect()?",
    ],
)
def test_other_sentences_state_nothing(text: str) -> None:
    assert found(text) == (set(), set())


@pytest.mark.parametrize(
    ("text", "convention", "place"),
    [
        ("Convention: kebab-case file names in hooks/", "kebab-case file names", "hooks/"),
        ("Rule: no globals for src/db.ts.", "no globals", "src/db.ts"),
        ("We always retry in `db.ts`.", "always retry", "src/db.ts"),
        ("Rule: use surrealdb in hooks/", "use surrealdb", "hooks/"),
    ],
)
def test_a_convention_of_a_known_place_belongs_to_it(text: str, convention: str, place: str) -> None:
    assert found(text)[1] == {(place, "has_convention", convention)}


def test_a_convention_of_an_unknown_place_keeps_its_words() -> None:
    assert found("Convention: kebab-case in scripts/") == ({("convention", "kebab-case in scripts/")}, set())


@pytest.mark.parametrize(
    "rule",
    [
        "every table of surrealdb has a column",
        "no calls of reconnect() in tests",
        "a test for each file in hooks/ and db.ts",
    ],
)
def test_a_place_is_named_as_a_whole(rule: str) -> None:
    assert found(f"Rule: {rule}") == ({("convention", rule)}, set())


def test_a_statement_of_what_is_known_says_no_more_of_it_than_at_first() -> None:
    first = extract(memory("We always use tabs."), Gazetteer([])).entities

    assert (
        extract(memory("We always use tabs."), Gazetteer(Entity(one.name, one.type) for one in first)).entities == first
    )


@pytest.mark.parametrize("others", [(), ("lock is stale",), ("Lock is Stale", "lock is stale"), ("lock IS stale",)])
def test_of_spellings_the_first_by_name_is_meant(others: tuple[str, ...]) -> None:
    known = Gazetteer([Entity(name, "error_pattern") for name in (*others, "Lock is stale")])

    (entity,) = extract(memory("Error: lock is stale"), known).entities

    assert entity.name == min((*others, "Lock is stale"))


def test_a_remedy_is_no_concept_that_its_words_mention() -> None:
    known = Gazetteer([Entity("adding a lock", "concept")])

    (fact,) = extract(memory("The crash was fixed by adding a lock to the pool."), known).facts

    assert EntityKey.of(fact.target).name == "adding a lock to the pool"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Error: SurrealDB timeout", "SurrealDB timeout"),
        ("- Known error: the lock is stale.", "the lock is stale"),
        ("ERROR: CORS problem", "CORS origin mismatch"),
        ("TypeError: x is not a function", "TypeError: x is not a function"),
        ("`asyncio.TimeoutError: too slow`", "asyncio.TimeoutError: too slow"),
    ],
)
def test_a_marker_makes_an_error_pattern(text: str, name: str) -> None:
    assert found(text)[0] == {("error_pattern", name)}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("The CORS origin mismatch triggers a 401 error.", ("CORS origin mismatch", "triggers", "401 error")),
        (
            "| x | error | `CORS mismatch` triggers `401 Unauthorized` |",
            ("CORS mismatch", "triggers", "401 Unauthorized"),
        ),
        ("A memory leak leads to an OOM crash", ("memory leak", "triggers", "OOM crash")),
        (
            "I found out that the CORS problem triggered timeouts, sadly.",
            ("CORS origin mismatch", "triggers", "timeouts"),
        ),
        ("The SurrealDB timeout was fixed by reconnect().", ("SurrealDB timeout", "fixed_by", "src/db.ts:reconnect")),
        ("the crash got resolved with surrealdb", ("crash", "fixed_by", "surrealdb")),
        ("The race condition was fixed by adding a lock, so fine.", ("race condition", "fixed_by", "adding a lock")),
        ("Fix for the slow start: `reconnect` in db.ts", ("slow start", "fixed_by", "src/db.ts:reconnect")),
        ("Fix for stale locks: restart it", ("stale locks", "fixed_by", "restart it")),
    ],
)
def test_a_sentence_states_a_fact_of_errors(text: str, fact: tuple[str, str, str]) -> None:
    assert found(text)[1] == {fact}


def test_a_fact_has_its_sentence_as_evidence_and_the_memorys_time() -> None:
    (fact,) = extract(memory("Hi.  The leak was\tfixed by reconnect(). Bye."), KNOWN).facts

    assert fact.evidence == ("m1: The leak was fixed by reconnect().",)
    assert (fact.valid_at, fact.invalid_at, fact.confidence) == (TIME, None, 0.8)


def test_a_known_entity_is_counted_once() -> None:
    extracted = extract(memory("Rule: tabs in hooks/\nRule: short names in hooks/"), KNOWN)

    (module,) = (entity for entity in extracted.entities if entity.type == "module")
    assert (module.mention_count, module.created_at) == (1, None)
    assert len(extracted.facts) == 2


def test_the_stronger_of_two_markers_counts() -> None:
    (entity,) = extract(memory("Rule: tabs\nConvention: tabs"), KNOWN).entities

    assert entity.confidence == 0.9


def test_a_long_statement_is_cut_between_words() -> None:
    (entity,) = extract(memory("Rule: " + "word " * 100), KNOWN).entities

    assert len(entity.name) <= 200
    assert entity.name.endswith("word")


@pytest.mark.parametrize(
    ("speaker", "name"),
    [("Caroline", "Caroline"), (" Ann  Lee ", "Ann Lee"), ("", None), ("user", None), ("Assistant", None)],
)
def test_a_speaker_is_a_person_unless_it_is_a_role(speaker: str, name: str | None) -> None:
    entity = speaker_of(memory("x", speaker))

    assert (entity and (entity.type, entity.name)) == (name and ("person", name))


WORDS = st.sampled_from(
    "Rule: Convention: the leak triggers crash was fixed by in hooks/ reconnect() . ? , \n - ** : a not".split(" ")
)


@given(st.lists(WORDS, max_size=25).map(" ".join))
def test_every_fact_has_evidence_in_the_text_and_ends_among_the_entities(text: str) -> None:
    extracted = extract(memory(text), KNOWN)

    ids = {entity.id for entity in extracted.entities}
    for fact in extracted.facts:
        assert {fact.source, fact.target} <= ids
        assert all(item.removeprefix("m1: ") in " ".join(text.split()) for item in fact.evidence)
        assert fact.source != fact.target
