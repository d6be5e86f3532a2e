"""Reciprocal rank fusion: cases by hand, and what holds for any rankings."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.retrieve.fusion import Ranked, fuse, ranked

IDS = [f"c{number}" for number in range(8)]
WEIGHTS = st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0])
RANKINGS = st.lists(st.lists(st.sampled_from(IDS), unique=True).map(lambda ids: by_position(*ids)), max_size=4)
WEIGHTED = RANKINGS.flatmap(lambda found: st.tuples(*(st.tuples(st.just(one), WEIGHTS) for one in found)))
CONSTANTS = st.sampled_from([1.0, 5.0, 60.0])


def by_position(*ids: str) -> Ranked:
    return Ranked("leg", {id_: float(len(ids) - place) for place, id_ in enumerate(ids)})


def test_a_score_is_the_sum_of_weight_by_k_plus_rank() -> None:
    fused = fuse("both", [(by_position("a", "b"), 1.0), (by_position("b", "c", "a"), 2.0)], 60)

    assert fused.leg == "both"
    assert fused.scores == pytest.approx({"b": 1 / 62 + 2 / 61, "a": 1 / 61 + 2 / 63, "c": 2 / 62})
    assert fused.ids == ["b", "a", "c"]
    assert fused.ranks() == {"b": 1, "a": 2, "c": 3}


def test_scores_are_ordered_from_the_highest_with_ties_by_id() -> None:
    assert ranked("leg", {"b": 1.0, "c": 2.0, "a": 1.0, "d": -1.0}).ids == ["c", "a", "b", "d"]


@pytest.mark.parametrize("square", [("zma", "maz", "azm"), ("zma", "azm", "maz"), ("maz", "zma", "azm")])
def test_equal_sums_of_ranks_in_another_order_are_ties(square: tuple[str, ...]) -> None:
    fused = fuse("f", [(by_position(*ids), 1.0) for ids in square], 5)

    assert fused.ids == ["a", "m", "z"]
    assert len(set(fused.scores.values())) == 1


@given(WEIGHTED, CONSTANTS)
def test_scores_are_exact_sums(rankings: tuple[tuple[Ranked, float], ...], k: float) -> None:
    terms = [(id_, weight / (k + rank)) for ranking, weight in rankings for id_, rank in ranking.ranks().items()]

    sums = {of: math.fsum(term for id_, term in terms if id_ == of) for of, _ in terms}
    assert dict(fuse("f", rankings, k).scores) == sums


@given(WEIGHTED, CONSTANTS, st.randoms(use_true_random=False))
def test_the_order_of_rankings_changes_nothing(
    rankings: tuple[tuple[Ranked, float], ...], k: float, shuffler: random.Random
) -> None:
    shuffled = list(rankings)
    shuffler.shuffle(shuffled)

    assert list(fuse("f", shuffled, k).scores.items()) == list(fuse("f", rankings, k).scores.items())


@given(WEIGHTED, CONSTANTS)
def test_all_that_any_ranking_holds_is_ranked_once(rankings: tuple[tuple[Ranked, float], ...], k: float) -> None:
    fused = fuse("f", rankings, k)

    assert sorted(fused.ids) == sorted({id_ for ranking, _ in rankings for id_ in ranking.ids})
    assert list(fused.scores.items()) == sorted(fused.scores.items(), key=lambda item: (-item[1], item[0]))


@given(st.lists(st.sampled_from(IDS), unique=True, min_size=2), WEIGHTED, CONSTANTS, st.data())
def test_moving_up_in_a_ranking_never_lowers_an_id(
    ids: list[str], others: tuple[tuple[Ranked, float], ...], k: float, data: st.DataObject
) -> None:
    place = data.draw(st.integers(1, len(ids) - 1))
    raised = [*ids[: place - 1], ids[place], ids[place - 1], *ids[place + 1 :]]

    before = fuse("f", [(by_position(*ids), 1.0), *others], k)
    after = fuse("f", [(by_position(*raised), 1.0), *others], k)

    assert after.scores[ids[place]] > before.scores[ids[place]]
    assert after.ranks()[ids[place]] <= before.ranks()[ids[place]]
