"""Which projects a question is about: relations, names, domains, a first look; how many are chosen; how hits merge."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.routing.route import Evidence, Nearness, choose, knowledge_of_names, leads, weigh, widen
from pipeline.domains.routing.router import can_enter, merge
from pipeline.domains.routing.schema import Project, Relation, RelationType
from pipeline.records import Hit

USES, SIBLING, DOMAIN = RelationType.USES, RelationType.SIBLING, RelationType.DOMAIN


def relation(source: str, target: str, kind: RelationType = USES, weight: float = 1.0) -> Relation:
    return Relation(source, target, kind, weight)


def evidence(cosines: Mapping[str, float], question: str = "?", **options: object) -> dict[str, Evidence]:
    """The evidence for projects of these cosines, by id, in order."""
    projects = options.pop("projects", [Project(id_) for id_ in cosines])
    source = str(options.pop("source", ""))
    found = leads(source, options.pop("relations", ()), 2)  # type: ignore[arg-type]
    near = {id_: Nearness(cosine) for id_, cosine in cosines.items()}
    weighed = weigh(projects, near, question, source, found)  # type: ignore[arg-type]
    return {one.project.id: one for one in weighed}


def hit(id_: str, rank: int) -> Hit:
    return Hit(id_, "", id_, "", "", "", 0, 0, 0, 1, 1, {}, rank=rank, score=1 / rank)


def test_the_strongest_path_counts_and_each_further_edge_halves_it() -> None:
    relations = [relation("a", "b", weight=0.8), relation("b", "c"), relation("a", "c", weight=0.3)]

    lead = leads("a", relations, 2)["c"]

    assert (lead.hops, lead.weight, lead.relation) == (2, 0.4, relations[1])


@pytest.mark.parametrize(
    ("relations", "source", "depth", "led"),
    [
        ([relation("shop", "ledger")], "shop", 2, {"ledger"}),
        ([relation("shop", "ledger")], "ledger", 2, set()),
        ([relation("a", "b", SIBLING)], "b", 1, {"a"}),
        (  # a rare domain leads to its projects, and one that all have nowhere
            [*(relation(one, "domain:tide", DOMAIN) for one in "ac"), relation("d", "domain:oven", DOMAIN)],
            "c",
            2,
            {"domain:tide", "a"},
        ),
        ([relation(one, "domain:python", DOMAIN) for one in "ab"], "a", 2, set()),
        ([relation("a", "b"), relation("b", "c"), relation("c", "d")], "a", 2, {"b", "c"}),
        ([relation("a", "b"), relation("b", "a"), relation("b", "b")], "a", 8, {"b"}),
    ],
)
def test_relations_lead_on_from_a_project(relations: list[Relation], source: str, depth: int, led: set[str]) -> None:
    assert leads(source, relations, depth).keys() == led


def test_the_nearest_passage_decides_without_other_evidence() -> None:
    assert list(evidence({"a": 0.3, "b": 0.5, "c": 0.4})) == ["b", "c", "a"]


@pytest.mark.parametrize(
    ("question", "project"),
    [
        ("how does xarray align", Project("pydata/xarray")),
        ("a fault in XArray", Project("pydata/xarray")),
        ("see pydata/xarray#12", Project("pydata/xarray")),
        ("import netcdf4 fails", Project("unidata", aliases=("netCDF4",))),
        ("which sqlite utils", Project("simonw/sqlite-utils")),
    ],
)
def test_a_name_of_the_project_in_the_question_counts(question: str, project: Project) -> None:
    found = evidence({"other": 0.4, project.id: 0.38}, question, projects=[Project("other"), project])

    assert list(found) == [project.id, "other"]
    assert found[project.id].terms


def test_a_part_of_a_word_is_no_name() -> None:
    found = evidence({"bee": 0.4, "ant": 0.38}, "what do giants want of antlers")

    assert list(found) == ["bee", "ant"]
    assert not found["ant"].terms


def test_a_domain_counts_by_its_rarity() -> None:
    projects = [Project("a", domains=("python", "tides")), Project("b", domains=("python",))]
    of_tides = evidence({"a": 0.4, "b": 0.4}, "python tides", projects=projects)
    of_python = evidence({"a": 0.4, "b": 0.4}, "python", projects=projects)

    assert of_tides["a"].share > 0.7
    assert of_python["a"].share == pytest.approx(0.5)


@pytest.mark.parametrize("near", [Nearness(0.39, summary=0.5), Nearness(0.37, known=1.0)])
def test_a_near_summary_and_known_names_count_more_than_a_slightly_nearer_passage(near: Nearness) -> None:
    weighed = weigh([Project("a"), Project("b")], {"a": Nearness(0.4), "b": near}, "?", "", {})
    alone = weigh([Project("a"), Project("b")], {"a": Nearness(0.4), "b": near}, "?", None, {})

    assert [one.project.id for one in weighed] == ["b", "a"]
    assert [one.project.id for one in alone] == ["a", "b"]  # passages alone


def test_names_count_by_their_rarity_among_the_corpora() -> None:
    names = {"ada": ["a"], "moon": ["a", "b"], "sea": ["a", "b", "c", "d"], "oak": ["b"]}

    known = knowledge_of_names(names, 4)

    assert known == {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0}
    assert knowledge_of_names({"ada": ["a"], "moon": ["a", "b"]}, 4)["b"] == pytest.approx(1 / 3)
    assert knowledge_of_names({"sea": ["a", "b"]}, 2) == {}


def test_a_related_project_comes_before_a_slightly_nearer_one() -> None:
    found = evidence({"shop": 0.1, "ledger": 0.4, "stray": 0.42}, source="shop", relations=[relation("shop", "ledger")])

    assert next(iter(found)) == "ledger"
    assert found["ledger"].reasons()[0] == "shop uses ledger"


def test_a_domain_in_common_is_told_as_such() -> None:
    relations = [relation(one, "domain:tide", DOMAIN) for one in "ab"] + [relation("c", "domain:oven", DOMAIN)]

    found = evidence({"a": 0.1, "b": 0.4, "c": 0.1}, source="a", relations=relations)

    assert found["b"].reasons()[0] == "b is about tide too, 2 edges away"


def test_a_related_project_that_knows_nothing_comes_behind() -> None:
    found = evidence({"shop": 0.1, "ledger": 0.2, "stray": 0.6}, source="shop", relations=[relation("shop", "ledger")])

    assert next(iter(found)) == "stray"


cosines = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.floats(-1, 1), min_size=1, max_size=8)


@given(cosines)
def test_shares_add_up_to_one_in_order(found: dict[str, float]) -> None:
    weighed = list(evidence(found).values())

    assert math.fsum(one.share for one in weighed) == pytest.approx(1)
    assert [one.share for one in weighed] == sorted((one.share for one in weighed), reverse=True)


@given(cosines, st.floats(0.1, 1), st.integers(1, 4))
def test_as_few_are_chosen_as_hold_the_coverage(found: dict[str, float], coverage: float, most: int) -> None:
    weighed = list(evidence(found).values())

    chosen = choose(weighed, coverage, most)

    assert chosen == weighed[: len(chosen)]
    assert 1 <= len(chosen) <= most
    assert sum(one.share for one in chosen[:-1]) < coverage
    assert len(chosen) in (most, len(weighed)) or sum(one.share for one in chosen) >= coverage


def test_a_project_with_a_much_nearer_passage_is_searched_too_and_told() -> None:
    found = list(evidence({"a": 0.2, "b": 0.5}, "a a a").values())
    chosen = [one for one in found if one.project.id == "a"]

    wider, reason = widen(found, chosen, 0.1)

    assert [one.project.id for one in wider] == ["b", "a"]
    assert reason == "the nearest passage of a has the cosine 0.20, that of b 0.50"
    assert widen(found, chosen, 0.4) == (chosen, "")


def test_hits_are_merged_by_the_share_of_their_project_and_their_rank_in_it() -> None:
    rankings = {"a": [hit("a1", 1), hit("a2", 2), hit("a3", 3)], "b": [hit("b1", 1)]}

    merged = merge(rankings, {"a": 0.7, "b": 0.3}, 10)

    assert [(one.project, one.hit.id, one.hit.rank) for one in merged] == [
        ("a", "a1", 1),
        ("a", "a2", 2),
        ("a", "a3", 3),
        ("b", "b1", 4),
    ]
    assert merged[0].hit.score == pytest.approx(0.35)


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.tuples(st.floats(0.01, 1), st.integers(0, 9)), min_size=1),
    st.integers(1, 12),
)
def test_a_project_that_cannot_enter_changes_nothing(sizes: dict[str, tuple[float, int]], top_k: int) -> None:
    rankings = {id_: [hit(f"{id_}{rank}", rank) for rank in range(1, size + 1)] for id_, (_, size) in sizes.items()}
    shares = {id_: share for id_, (share, _) in sizes.items()}
    last = min(shares, key=lambda id_: (shares[id_], id_))
    others = {id_: hits for id_, hits in rankings.items() if id_ != last}

    before = merge(others, shares, top_k)

    if not can_enter(shares[last], before, top_k):
        assert merge(rankings, shares, top_k) == before


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=4), st.integers(1, 12))
def test_the_order_within_a_project_is_kept(shares: list[float], top_k: int) -> None:
    rankings = {str(at): [hit(f"{at}-{rank}", rank) for rank in range(1, 8)] for at in range(len(shares))}

    merged = merge(rankings, {str(at): share for at, share in enumerate(shares)}, top_k)

    for project in rankings:
        ids = [one.hit.id for one in merged if one.project == project]
        assert ids == [one.id for one in rankings[project]][: len(ids)]
