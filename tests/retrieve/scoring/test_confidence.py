"""The confidence in a name of the question: the signs it is made from, and which way each moves it; standard scores."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.retrieve.expansion import Mentions, Neighbourhood
from pipeline.retrieve.fusion import Ranked, ranked
from pipeline.retrieve.scoring.confidence import (
    NamedEntity,
    Signs,
    confidence_in,
    mentions_of,
    signs_of,
    standard_scores,
    with_confidence,
)
from pipeline.settings import NameSettings, load_settings

SHIPPED = load_settings().weights.names
NAME = NamedEntity("ada", "ada", "Ada", 3, None, titled=True)
VECTOR = Ranked("vector", {"c1": 0.9, "c2": 0.6, "c3": 0.3})
HYBRID = Ranked("hybrid", {"c1": 0.03, "c2": 0.02, "c3": 0.01})
NOTHING = Ranked("vector", {})
BEST = math.sqrt(1.5)
"""The standard score of the first of three scores that are equally far apart."""


def around(**chunks: bool) -> Neighbourhood:
    """Return a neighbourhood in which these chunks mention the name, ``True`` if they are about it."""
    return Neighbourhood(100, {"ada": Mentions(3, chunks)}, ())


def signs(here: Neighbourhood, name: NamedEntity = NAME, vector: Ranked = VECTOR, hybrid: Ranked = HYBRID) -> Signs:
    return signs_of(name, vector, hybrid, here)


def confidence(
    here: Neighbourhood, name: NamedEntity = NAME, vector: Ranked = VECTOR, hybrid: Ranked = HYBRID
) -> float:
    return with_confidence([name], vector, hybrid, here, SHIPPED)[0].confidence


ONCE = replace(NAME, id="once", frequency=1, only_chunk="c2")
HUB = replace(NAME, id="hub", frequency=900)


@pytest.mark.parametrize(
    ("name", "chunks", "expected"),
    [
        pytest.param(NAME, {"c2": True, "c3": True, "c1": False}, (0.0, 1.0), id="the nearest about the name"),
        pytest.param(NAME, {"c1": False, "c3": False}, (BEST, 1.0), id="none is about it"),
        pytest.param(ONCE, {"c1": True}, (0.0, 6 / 7, 0.0, 0.0), id="one chunk alone mentions it"),
        pytest.param(HUB, {"c1": True}, (-BEST, 0.0, math.log(900), 0.0), id="no chunk at hand"),
        pytest.param(
            replace(NAME, frequency=50, capitalised=True), {"c1": True}, (BEST, 1.0, math.log(50), 1.0), id="capitals"
        ),
    ],
)
def test_the_signs_of_a_name(name: NamedEntity, chunks: dict[str, bool], expected: tuple[float, ...]) -> None:
    assert signs(around(**chunks), name)[: len(expected)] == pytest.approx(expected)


def test_one_chunk_or_none_may_mention_a_name_and_there_may_be_no_candidate() -> None:
    assert mentions_of(ONCE, around(c1=True)) == {"c2": True}
    assert mentions_of(HUB, around(c1=True)) == {}
    assert signs(around(c1=True), vector=NOTHING, hybrid=NOTHING) == pytest.approx(Signs(0.0, 0.0, math.log(3), 0.0))


@pytest.mark.parametrize(("chunk", "agreement"), [("c1", 1.0), ("c2", 6 / 7), ("c3", 6 / 8), ("c9", 0.0)])
def test_agreement_falls_with_the_rank_of_the_first_chunk_that_mentions_it(chunk: str, agreement: float) -> None:
    assert signs(around(**{"c8": True, chunk: False})).agreement == pytest.approx(agreement)
    assert signs(around(**{"c3": True, chunk: False})).agreement == pytest.approx(max(agreement, 6 / 8))


def test_the_confidence_is_the_logistic_of_the_weighed_signs() -> None:
    settings = NameSettings(intercept=-1.0, cosine=0.5, agreement=2.0, frequency=-0.1, capitals=4.0)

    name = with_confidence([replace(NAME, capitalised=True)], VECTOR, HYBRID, around(c1=True), settings)[0]

    total = -1.0 + 0.5 * BEST + 2.0 - 0.1 * math.log(3) + 4.0
    assert name.confidence == pytest.approx(1 / (1 + math.exp(-total)))
    assert replace(name, confidence=0.0) == replace(NAME, capitalised=True)


@pytest.mark.parametrize("intercept", [-1e6, 1e6])
def test_weights_of_any_size_give_a_probability(intercept: float) -> None:
    settings = SHIPPED.model_copy(update={"intercept": intercept})

    name = with_confidence([NAME], VECTOR, HYBRID, around(c1=True), settings)[0]

    assert name.confidence == (1.0 if intercept > 0 else 0.0)


def test_each_sign_moves_the_shipped_confidence_its_way() -> None:
    assert min(SHIPPED.cosine, SHIPPED.agreement, SHIPPED.capitals) > 0 > SHIPPED.frequency


def test_a_rare_name_of_the_first_hit_is_likely_and_a_common_one_of_none_is_not() -> None:
    named = replace(NAME, frequency=2, capitalised=True)
    phrase = replace(NAME, id="status codes", frequency=40)

    assert confidence(around(c1=True), named) > 0.6
    assert confidence(around(c1=True), phrase) < 0.2


def test_the_confidence_in_a_question_is_that_in_its_surest_name() -> None:
    names = [replace(NAME, confidence=of_it) for of_it in (0.2, 0.7, 0.4)]

    assert confidence_in(names) == 0.7
    assert confidence_in([]) == 0.0


CHUNKS = [f"c{number}" for number in range(12)]
RANKINGS = st.dictionaries(st.sampled_from(CHUNKS), st.floats(-1, 1)).map(lambda scores: ranked("leg", scores))


@given(
    RANKINGS,
    RANKINGS,
    st.dictionaries(st.sampled_from(CHUNKS), st.booleans()),
    st.integers(1, 1_000_000),
    st.booleans(),
)
def test_under_the_shipped_settings_no_name_is_certain_or_impossible(
    vector: Ranked, hybrid: Ranked, mentions: dict[str, bool], frequency: int, capitalised: bool
) -> None:
    name = replace(NAME, frequency=frequency, capitalised=capitalised)
    here = Neighbourhood(1_000_000, {"ada": Mentions(frequency, mentions)}, ())

    assert 0 < confidence(here, name, vector, hybrid) < 1


SCORES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1000, 1000).map(float), min_size=1)


@pytest.mark.parametrize(
    ("ids", "scores", "expected"),
    [
        pytest.param("cab", {"a": 8.0, "b": 5.0, "c": 2.0}, [-BEST, BEST, 0.0], id="deviations from the mean"),
        pytest.param("xba", {"a": 8.0, "b": 2.0}, [-1.0, -1.0, 1.0], id="left out is no better than the last"),
        pytest.param("ax", {}, [0.0, 0.0], id="nothing"),
        pytest.param("ax", {"a": 7.0}, [0.0, 0.0], id="one"),
        pytest.param("ax", {"a": 7.0, "b": 7.0}, [0.0, 0.0], id="nothing told apart"),
        pytest.param("", {"a": 2.0, "b": 1.0}, [], id="no chunks"),
    ],
)
def test_standard_scores(ids: str, scores: dict[str, float], expected: list[float]) -> None:
    assert standard_scores([*ids], Ranked("vector", scores)).tolist() == pytest.approx(expected)


@given(SCORES, st.integers(1, 100), st.integers(-100, 100))
def test_neither_scale_nor_offset_of_a_leg_matters(scores: dict[str, float], scale: int, offset: int) -> None:
    ids = [*"abcdefgh"]
    moved = {id_: scale * score + offset for id_, score in scores.items()}

    plain = standard_scores(ids, ranked("vector", scores))

    assert np.isfinite(plain).all()
    assert plain == pytest.approx(standard_scores(ids, ranked("vector", moved)), abs=1e-6)
