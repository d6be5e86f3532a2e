"""Plans: candidates with their evidence, groups without contradictions, whatever the order of the entities."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import KnowledgeEdge
from pipeline.domains.memory.dedupe.candidates import Candidate, group_candidates
from pipeline.domains.memory.dedupe.plan import Plan, accepted, make_plan
from pipeline.domains.memory.records import Entity, Fact
from pipeline.domains.memory.settings import MemorySettings
from pipeline.settings import load_settings

SETTINGS = load_settings().section(MemorySettings)


def planned(
    entities: list[Entity], vectors: dict[str, list[float]] | None = None, edges: list[KnowledgeEdge] | None = None
) -> Plan:
    return make_plan("m", entities, vectors or {}, edges or [], SETTINGS)


def groups(made: Plan) -> list[set[str]]:
    return [{id_.split("|")[2] for id_ in group.members} for group in made.groups]


def evidence(made: Plan) -> list[Candidate]:
    return [candidate for group in made.groups for candidate in group.evidence]


def reviewed(made: Plan) -> set[tuple[str, ...]]:
    return {tuple(id_.split("|")[2] for id_ in candidate.pair) for candidate in made.review}


def at(degrees: float) -> list[float]:
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]


def of(type_: str, *names: str, **fields: Any) -> list[Entity]:
    return [Entity(name, type_, **fields) for name in names]


SURREAL = ("surrealdb", "SurrealDB", "surrealdb npm package")


@pytest.mark.parametrize(
    ("type_", "names", "degrees", "merged", "left"),
    [
        ("library", (*SURREAL, "hono"), None, [{*SURREAL}], set()),
        ("concept", ("memory", "memories"), 10, [{"memory", "memories"}], set()),
        ("concept", ("memory", "memories"), 60, [], {("memories", "memory")}),
        ("concept", ("memory", "memories"), None, [], {("memories", "memory")}),
        ("library", ("@grafana/e2e", "e2e"), None, [], set()),
        ("library", ("@grafana/e2e", "e2e"), 0, [], {("@grafana/e2e", "e2e")}),
        ("concept", ("login flow", "signing in"), 5, [], {("login flow", "signing in")}),
        *((type_, ("src/App", "src/app"), None, [], set()) for type_ in ("file", "module", "class", "function")),
        *((type_, ("src/App", "src/app"), 0, [], {("src/App", "src/app")}) for type_ in ("file", "function")),
        ("file", ("src/App", "lib/web"), 0, [], set()),
    ],
)
def test_names_and_meaning_decide_what_is_merged_and_what_is_left_to_a_person(
    type_: str, names: tuple[str, ...], degrees: float | None, merged: list[set[str]], left: set[tuple[str, ...]]
) -> None:
    entities = of(type_, *names)
    vectors = {} if degrees is None else {entities[0].id: at(0), entities[1].id: at(degrees)}

    made = planned(entities, vectors)

    assert (groups(made), reviewed(made)) == (merged, left)


def test_candidates_say_why() -> None:
    pair = of("concept", "login flow", "signing in")

    (candidate,) = planned(pair, {pair[0].id: at(0), pair[1].id: at(5)}).review

    assert (candidate.cosine, candidate.strength, candidate.automatic) == (0.9962, 0.0, False)
    reasons = {candidate.reason for candidate in evidence(planned(of("library", *SURREAL)))}
    assert reasons == {"the same but for case", "without 'npm package'"}


@pytest.mark.parametrize(("type_", "merged"), [("concept", True), ("library", False), ("person", False)])
def test_a_cosine_with_common_neighbours_merges_only_what_is_not_known_by_its_name(type_: str, merged: bool) -> None:
    pair = of(type_, "login", "auth")
    edges = [Fact(source, "implements", one.id).to_edge() for one in pair for source in ("a", "b")]

    made = planned(pair, {pair[0].id: at(0), pair[1].id: at(5)}, edges)

    assert bool(made.groups) == merged
    (candidate,) = evidence(made) if merged else made.review
    assert candidate.shared == ("a", "b")
    assert candidate.against == (() if merged else ("their names differ",))


def test_homonyms_are_no_candidates() -> None:
    entities = [
        *of("library", "python2", "python3", "test1", "test 2"),
        Entity("Jane Doe", "person", metadata={"email": "a@x.org"}),
        Entity("jane doe", "person", metadata={"email": "b@x.org"}),
        *of("concept", "Jane Doe", "sync client", "async client"),
        Entity("Python2", "library", scope="other"),
    ]

    made = planned(entities, {one.id: at(0) for one in entities})

    assert groups(made) == []
    named = {pair for pair in reviewed(made) if "jane doe" in pair or {"sync client", "async client"} <= set(pair)}
    assert named == set()
    assert {("python2", "python3"), ("test 2", "test1")}.isdisjoint(reviewed(made))


def test_descriptions_that_differ_speak_against_a_merge() -> None:
    pair = [Entity("Mercury", "concept", description="A planet."), Entity("mercury", "concept", description="A metal.")]

    made = planned(pair, {pair[0].id: at(0), pair[1].id: at(80)})

    assert groups(made) == []
    assert made.review[0].against == ("their descriptions differ: cosine 0.17",)
    undescribed = [replace(one, description="") for one in pair]
    assert groups(planned(undescribed, {pair[0].id: at(0), pair[1].id: at(80)})) == [{"Mercury", "mercury"}]


def test_a_name_between_two_that_contradict_joins_neither() -> None:
    made = planned(of("library", "surrealdb", "SurrealDB", "surrealdb crate", "surrealdb npm package"))

    assert groups(made) == [{"surrealdb", "SurrealDB"}]
    assert all("may be" in candidate.against[0] for candidate in made.review)
    assert len(made.review) == 4


def test_a_chain_whose_ends_contradict_is_split_at_its_weakest_link() -> None:
    chain = [
        Candidate("a", "b", None, 1.0, "r", (), (), True),
        Candidate("b", "c", None, 0.9, "r", (), (), True),
        Candidate("c", "d", None, 1.0, "r", (), (), True),
    ]

    joined, review = group_candidates(chain, lambda one, other: "no" if {one, other} == {"a", "d"} else "")

    assert joined == [("a", "b"), ("c", "d")]
    assert [candidate.against for candidate in review] == [("it would join a with d: no",)]


def test_the_survivor_has_most_mentions_then_facts_then_age_then_the_first_id() -> None:
    def survivor(*entities: Entity, edges: tuple[KnowledgeEdge, ...] = ()) -> str:
        return planned(list(entities), edges=list(edges)).groups[0].survivor

    one, other = (
        Entity("Redis", "library", created_at="2026-01-02"),
        Entity("redis", "library", created_at="2026-01-01"),
    )
    fact = Fact(one.id, "depends_on", "x").to_edge()
    assert survivor(one, replace(other, mention_count=2), edges=(fact,)) == other.id
    assert survivor(one, other, edges=(fact,)) == one.id
    assert survivor(one, other) == other.id
    assert survivor(replace(one, created_at=None), replace(other, created_at=None)) == one.id


def test_a_person_accepts_what_is_for_review() -> None:
    made = planned(of("person", "Jane Doe", "J. Doe", "Jane M. Doe"))
    ids = {id_.split("|")[2]: id_ for id_, _ in made.entities}

    chosen = accepted(made, [(ids["Jane Doe"], ids["J. Doe"]), (ids["Jane Doe"], ids["Jane M. Doe"])])

    assert groups(chosen) == [{"Jane Doe", "J. Doe", "Jane M. Doe"}]
    assert len(evidence(chosen)) == 2
    assert chosen.id != made.id


NAMES = st.sampled_from(
    "redis Redis redis-py redis.js redis2 Redis_2 npm:redis redis(crate) caches cache Cache the_cache theCache J.Doe "
    "Jane_Doe John_Doe jane.doe@x.org Doe,Jane".split()
)
ENTITIES = st.lists(
    st.builds(
        Entity,
        name=NAMES.map(lambda name: name.replace("_", " ")),
        type=st.sampled_from(["library", "concept", "person"]),
        mention_count=st.integers(1, 3),
        metadata=st.sampled_from([{}, {"email": "a@x.org"}, {"email": "b@x.org"}]),
    ),
    unique_by=lambda entity: entity.id,
    max_size=16,
)


@settings(max_examples=60)
@given(ENTITIES, st.data())
def test_a_plan_is_the_same_whatever_the_order(entities: list[Entity], data: st.DataObject) -> None:
    vectors = {one.id: at(data.draw(st.integers(0, 60))) for one in entities if data.draw(st.booleans())}
    edges = [
        Fact(data.draw(st.sampled_from(entities)).id, "depends_on", data.draw(st.sampled_from("xyz"))).to_edge()
        for _ in range(data.draw(st.integers(0, 8)) if entities else 0)
    ]
    edges = list({edge.id: edge for edge in edges}.values())

    made = planned(entities, vectors, edges)

    shuffled = data.draw(st.permutations(entities)), dict(data.draw(st.permutations(list(vectors.items()))))
    again = planned(*shuffled, data.draw(st.permutations(edges)))
    assert again == made
    assert again.id == made.id
    assert Plan.from_json(made.to_json()) == made
    members = [id_ for group in made.groups for id_ in group.members]
    assert len(members) == len(set(members))
    assert all(len({tuple(id_.split("|")[:2]) for id_ in group.members}) == 1 for group in made.groups)
    emails = {one.id: one.metadata.get("email") for one in entities}
    assert all(len({emails[id_] for id_ in group.members} - {None}) <= 1 for group in made.groups)
