"""SIBLING: what domains in common propose; and the confidence of several clues."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.routing.learn.clues import together
from pipeline.domains.routing.learn.proposals import siblings
from pipeline.domains.routing.schema import Project


def test_projects_of_a_rare_domain_are_siblings() -> None:
    projects = [Project(f"p{number}", domains=("rust",)) for number in range(6)]
    projects += [Project("game", domains=("rust", "cairo", "ecs")), Project("foundry", domains=("cairo", "rust"))]

    (found,) = siblings(projects)

    assert (found.relation.source, found.relation.target) == ("foundry", "game")
    assert 0 < found.confidence < found.relation.weight < 1
    assert found.evidence[0] == "both are about cairo, as 2 of 8 projects"


def test_a_domain_that_nearly_all_projects_have_makes_no_siblings() -> None:
    assert siblings([Project(f"p{number}", domains=("rust",)) for number in range(6)]) == []


def test_a_rare_domain_makes_closer_siblings_than_a_usual_one() -> None:
    projects = [Project(name, domains=("cairo", name)) for name in "ab"]
    projects += [Project(name, domains=("web", name)) for name in "cdef"] + [Project(name) for name in "ghijk"]

    found = {(one.relation.source, one.relation.target): one.confidence for one in siblings(projects)}

    assert found["a", "b"] > found["c", "d"]


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), max_size=8))
def test_siblings_are_pairs_with_probabilities_in_any_order(domains: list[list[str]]) -> None:
    projects = [Project(f"p{number}", domains=tuple(held)) for number, held in enumerate(domains)]

    found = siblings(projects)

    assert found == siblings(projects[::-1])
    assert all(0 < one.confidence < 1 and 0 <= one.relation.weight <= 1 for one in found)
    assert len({one.id for one in found}) == len(found)


@given(st.lists(st.floats(0, 0.9)), st.floats(0.01, 0.9))
def test_another_clue_never_lowers_the_confidence(strengths: list[float], another: float) -> None:
    assert together(strengths) <= together([*strengths, another]) < 1
