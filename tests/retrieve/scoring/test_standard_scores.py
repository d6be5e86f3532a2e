"""Standard scores: the mean is 0, what a leg leaves out is last, and a leg that tells nothing apart says nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.retrieve.fusion import Ranked, ranked
from pipeline.retrieve.scoring.confidence import standard_scores

SCORES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1000, 1000).map(float), min_size=1)


def test_scores_are_told_in_standard_deviations_from_the_mean() -> None:
    leg = Ranked("vector", {"a": 8.0, "b": 5.0, "c": 2.0})

    assert standard_scores(["c", "a", "b"], leg).tolist() == pytest.approx([-(1.5**0.5), 1.5**0.5, 0.0])


def test_what_the_leg_leaves_out_is_no_better_than_its_last() -> None:
    leg = Ranked("vector", {"a": 8.0, "b": 2.0})

    assert standard_scores(["gone", "b", "a"], leg).tolist() == [-1.0, -1.0, 1.0]


@pytest.mark.parametrize("scores", [{}, {"a": 7.0}, {"a": 7.0, "b": 7.0}])
def test_a_leg_that_tells_nothing_apart_gives_zeros(scores: dict[str, float]) -> None:
    assert standard_scores(["a", "gone"], Ranked("vector", scores)).tolist() == [0.0, 0.0]


def test_no_chunks_have_no_scores() -> None:
    assert standard_scores([], Ranked("vector", {"a": 2.0, "b": 1.0})).shape == (0,)


@given(SCORES, st.integers(1, 100), st.integers(-100, 100))
def test_neither_scale_nor_offset_of_a_leg_matters(scores: dict[str, float], scale: int, offset: int) -> None:
    ids = [*"abcdefgh"]
    moved = {id_: scale * score + offset for id_, score in scores.items()}

    plain = standard_scores(ids, ranked("vector", scores))

    assert np.isfinite(plain).all()
    assert plain == pytest.approx(standard_scores(ids, ranked("vector", moved)), abs=1e-6)
