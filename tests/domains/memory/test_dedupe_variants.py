"""Variants of names and homonyms: which names are one, how surely, and which stay apart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.memory.dedupe.candidates import Subject, contradiction
from pipeline.domains.memory.dedupe.variants import LANGUAGES, NEGATIVES, read_name, variant, words_of
from pipeline.domains.memory.records import Entity

IDENTITY = ("email", "emails", "ecosystem", "language")
STRONG, SUPPORTED = 0.9, 0.7


def strength(type_: str, first: str, second: str) -> float:
    found = variant(read_name(first, type_), read_name(second, type_))
    return found.strength if found else 0.0


def against(type_: str, first: str, second: str, *metadata: dict[str, Any]) -> str:
    given = (*metadata, {}, {})
    subjects = [
        Subject.read(Entity(name, type_, metadata=held)) for name, held in zip((first, second), given, strict=False)
    ]
    return contradiction(subjects[0], subjects[1], IDENTITY)


VARIANTS = {
    (STRONG, 1.01): [
        ("library", "surrealdb", "SurrealDB"),
        ("library", "surrealdb", "surrealdb npm package"),
        ("library", "SurrealDB", "surrealdb (npm)"),
        ("library", "npm:react", "react"),
        ("concept", "memory_consolidation", "MemoryConsolidation"),
        ("concept", "memory-consolidation", "memory consolidation"),
        ("concept", "the  HTTPServer loop", "the HTTP server loop"),
        ("concept", "Müller's rule", "Muller's rule"),
        ("convention", "kebab-case files", "Kebab Case Files"),
        ("person", "Doe, Jane", "Jane Doe"),
        ("person", "Dr. Jane Doe", "jane doe"),
        ("person", "Jane Doe <jane@example.com>", "Jane Doe"),
    ],
    (SUPPORTED, STRONG): [
        ("concept", "memory", "memories"),
        ("error_pattern", "CORS origin mismatches", "CORS origin mismatch"),
        ("concept", "surreal db", "surrealdb"),
        ("concept", "_kind", "kind"),
        ("library", "surreal-db", "surreal_db"),
        ("library", "vue.js", "vue"),
        ("library", "@mcp/sdk", "mcp/sdk"),
        ("config", "SURREAL_MODE env", "SURREAL_MODE"),
        ("config", "DEBUG", "debug"),
        ("concept", "Retrieval Augmented Generation (RAG)", "RAG"),
        ("concept", "Mercury (planet)", "Mercury"),
        ("error_pattern", "SurrealDB timeout error", "SurrealDB timeout"),
        ("person", "J. Doe", "Jane Doe"),
        ("person", "jane.doe@example.com", "Jane Doe"),
        ("person", "John F. Kennedy", "John Kennedy"),
    ],
    (0.01, SUPPORTED): [("library", "@mcp/sdk", "sdk"), ("config", "package.json", "package"), ("concept", "Go", "go")],
    (0, 0.01): [
        ("library", "request", "requests"),
        ("library", "redis", "redis-py"),
        ("library", "react", "react-dom"),
        ("library", "surrealdb", "surrealdb client"),
        ("concept", "C", "C++"),
        ("concept", ".NET", "net"),
        ("concept", "か", "が"),
        ("concept", "a/b test", "ab test"),
        ("person", "Jane Doe", "Doe Jane Smith"),
        ("concept", "!!!", "???"),
    ],
}
"""Pairs of names by the strength of their variant: the least, and what it is below."""


@pytest.mark.parametrize(
    ("least", "below", "type_", "first", "second"),
    [(*bounds, *pair) for bounds, pairs in VARIANTS.items() for pair in pairs],
)
def test_a_pair_of_names_is_as_strong_a_variant_as_it_looks(
    least: float, below: float, type_: str, first: str, second: str
) -> None:
    assert least <= strength(type_, first, second) < below
    if least >= SUPPORTED:
        assert not against(type_, first, second)


@pytest.mark.parametrize(
    ("type_", "first", "second"),
    [
        ("library", "python2", "python3"),
        ("library", "beautifulsoup", "beautifulsoup4"),
        ("concept", "API v1", "API v2"),
        ("concept", "version 3.11", "version 31.1"),
        ("concept", "error -1", "error 1"),
        ("library", "redis-py", "redis-js"),
        ("library", "surrealdb crate", "surrealdb npm package"),
        ("library", "npm:redis", "pypi:redis"),
        ("library", "@angular/core", "@nestjs/core"),
        ("config", "settings.toml", "settings.yaml"),
        ("config", "DEBUG flag", "DEBUG env"),
        ("concept", "Mercury (planet)", "Mercury (element)"),
        ("concept", "sync client", "async client"),
        ("concept", "read timeout", "write timeout"),
        ("convention", "use tabs", "never use tabs"),
        ("person", "Jane Doe", "John Doe"),
        ("person", "Jane Doe", "Jane Smith"),
        ("person", "John A. Doe", "John B. Doe"),
        ("person", "John Doe", "John Doe Jr."),
        ("person", "Jane <jane@a.org>", "Jane <jane@b.org>"),
    ],
)
def test_homonyms_stay_apart(type_: str, first: str, second: str) -> None:
    assert against(type_, first, second) or (first == "error -1" and strength(type_, first, second) == 0)


def test_metadata_tells_homonyms_apart() -> None:
    jane = "Jane Doe"

    assert against("person", jane, jane, {"email": "a@x.org"}, {"email": "b@x.org"})
    assert against("person", "Jane Doe <a@x.org>", jane, {}, {"email": "b@x.org"})
    assert against("library", "redis", "Redis", {"ecosystem": "pypi"}, {"ecosystem": "npm"})
    assert not against("person", jane, jane, {"email": "A@x.org"}, {"email": "a@x.org"})
    assert not against("person", jane, jane, {"emails": ["a@x.org", "b@x.org"]}, {"emails": ["b@x.org"]})
    assert not against("person", jane, jane, {"email": "a@x.org"}, {"email": ""})
    assert not against("library", "redis", "Redis", {"license": "MIT"}, {"license": "BSD"})


def test_scopes_and_types_are_never_mixed() -> None:
    one = Subject.read(Entity("redis", "library"))

    assert contradiction(one, Subject.read(Entity("redis", "concept")), IDENTITY)
    assert contradiction(one, Subject.read(Entity("redis", "library", scope="other")), IDENTITY)


def test_an_alias_leads_to_its_entity_but_two_entities_may_share_one() -> None:
    first, second = read_name("JavaScript", "concept", ["JS"]), read_name("Jet Stream", "concept", ["JS"])

    assert variant(first, read_name("JS", "concept")) is not None
    assert variant(first, second) is None
    found = variant(read_name("Postgres", "library", ["PostgreSQL"]), read_name("postgresql", "library"))
    assert found == (STRONG, "known as 'PostgreSQL'")


def test_an_address_leads_to_the_person_who_has_it() -> None:
    jane = Subject.read(Entity("Jane Doe", "person", metadata={"email": "JD.work@x.org"}))
    address = Subject.read(Entity("jd.work@x.org", "person"))
    other = Subject.read(Entity("web flow", "person", aliases=("jd.work@x.org",)))

    assert variant(jane.name, address.name) == (STRONG, "known by jd.work@x.org")
    assert not contradiction(jane, address, IDENTITY)
    assert variant(jane.name, other.name) is None
    assert strength("person", "Jane <jd.work@x.org>", "jd.work@x.org") == STRONG


WORDS = st.lists(st.from_regex(r"[a-z]{2,8}", fullmatch=True), min_size=1, max_size=4)
TYPES = st.sampled_from(["library", "concept", "convention", "error_pattern", "person", "config", "service"])


@given(WORDS, st.sampled_from(["_", "-", " ", ".", "__", " - "]))
def test_words_are_found_whatever_separates_them(words: list[str], separator: str) -> None:
    assert words_of(separator.join(words)) == tuple(words)
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    assert words_of(camel, camel=True) == tuple(words)


@given(st.text(max_size=30).filter(bool), st.text(max_size=30).filter(bool), TYPES)
def test_variants_are_symmetric_within_bounds_and_share_a_key(first: str, second: str, type_: str) -> None:
    one, other = read_name(first, type_), read_name(second, type_)

    found = variant(one, other)

    assert found == variant(other, one)
    if found:
        assert 0 < found.strength <= 1
        assert found.reason
    assert against(type_, first, second) == "" or against(type_, second, first) != ""


@given(st.text(min_size=1, max_size=30), TYPES)
def test_a_name_doesnt_contradict_itself(name: str, type_: str) -> None:
    assert against(type_, name, name) == ""


PLAIN = WORDS.filter(lambda words: set(words).isdisjoint(NEGATIVES | LANGUAGES.keys()))


@given(PLAIN, st.integers(0, 99), st.integers(0, 99), TYPES.filter(lambda type_: type_ != "person"))
def test_numbered_names_are_one_only_with_one_number(words: list[str], first: int, second: int, type_: str) -> None:
    name = " ".join(words)

    assert bool(against(type_, f"{name}{first}", f"{name} {second}")) == (first != second)


@given(st.text(max_size=20), st.text(max_size=20), TYPES)
def test_names_without_a_common_key_are_no_variants(first: str, second: str, type_: str) -> None:
    one, other = read_name(first or "x", type_), read_name(second or "x", type_)

    # Candidates are looked for among names with a common key; the same text alone needs none.
    if one.keys and not one.keys & other.keys:
        assert variant(one, other) is None
