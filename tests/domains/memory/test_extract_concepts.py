"""Concepts: names that several memories share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.memory.concepts import concept_name, concepts_from
from pipeline.text.names import Casing


def test_names_of_several_memories_are_concepts() -> None:
    names = {"Hono": ["m1", "m2", "m3"], "hono": ["m4"], "BM25 search": ["m2", "m1", "m2"], "Express": ["m1"]}

    first, second = concepts_from(names, 2, scope="team")

    assert (first.entity.name, first.entity.aliases, first.memories) == ("Hono", ("hono",), ("m1", "m2", "m3", "m4"))
    assert (first.entity.type, first.entity.scope, first.entity.mention_count) == ("concept", "team", 4)
    assert (second.entity.name, second.memories) == ("BM25 search", ("m1", "m2"))
    assert first.entity.confidence > second.entity.confidence


def test_years_function_words_and_known_names_are_none() -> None:
    names = {name: ["m1", "m2"] for name in ("2023", "The", "I", "3.11", "the other", "Caroline", "Rome")}

    assert [concept.entity.name for concept in concepts_from(names, 2, taken=["caroline"])] == ["Rome"]


KEYS = st.sets(st.sampled_from("abcdef"))


@given(
    st.dictionaries(st.sampled_from(["Hono", "hono", "HONO", "Rome", "São Paulo", "Sao Paulo"]), KEYS),
    st.integers(0, 4),
)
def test_each_concept_is_in_enough_memories_and_named_once(names: dict[str, set[str]], minimum: int) -> None:
    concepts = concepts_from(names, minimum)

    spelled = [name for concept in concepts for name in (concept.entity.name, *concept.entity.aliases)]
    assert len(spelled) == len(set(spelled))
    for concept in concepts:
        assert len(concept.memories) >= max(1, minimum)
        held = [names[name] for name in (concept.entity.name, *concept.entity.aliases)]
        assert set(concept.memories) == set().union(*held)
        assert len(held[0]) == max(map(len, held))


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Hey Ann", "Ann"),
        ("Thanks Dad", "Dad"),
        ("Oh Wow", ""),
        ("I'll", ""),
        ("You’re", ""),
        ("Don't", ""),
        ("O'Reilly", "O'Reilly"),
        ("Today", ""),
        ("Good Morning", ""),
        ("Good Friday", ""),
        ("New Year", "New Year"),
        ("26 April", ""),
        ("Assistant", ""),
        ("Everybody", ""),
        ("Friday Harbor", "Friday Harbor"),
        ("event_loop", "event_loop"),
        ("HTTP/2", "HTTP/2"),
    ],
)
def test_words_of_conversation_name_nothing(written: str, name: str) -> None:
    assert concept_name(written) == name


def test_a_word_that_only_opens_sentences_is_no_name() -> None:
    casing = Casing.of({"pump": 4}, {"grafana": 1})

    told = [concept_name(word, casing) for word in ("Gotcha", "Pump", "Grafana", "iPad", "NATO", "k6", "Gotcha Bay")]

    assert told == ["", "", "Grafana", "iPad", "NATO", "k6", "Gotcha Bay"]
