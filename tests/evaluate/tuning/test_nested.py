"""Learning near the weights in use: no question teaches what judges it, and few questions tell when they help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pipeline.evaluate.datasets import Query
from pipeline.evaluate.tuning import nested
from pipeline.evaluate.tuning.learn import Learned, names_near, scorers_near
from pipeline.evaluate.tuning.lessons import Example, Lessons, NameLesson, examples
from pipeline.evaluate.tuning.nested import STRENGTHS, Near, cross_validate, least, partition
from pipeline.evaluate.tuning.tune import tune
from pipeline.progress import Progress
from pipeline.settings import ScorerSettings, Settings, load_settings

from .test_learn import questions
from .test_tune import lessons

SETTINGS = load_settings()
SIZES = st.lists(st.integers(0, 12), min_size=1, max_size=4)


def wrong() -> Settings:
    """Weights in use by which the graph counts nothing and no name is believed."""
    scorer = ScorerSettings(
        unnamed=SETTINGS.weights.scorer.unnamed,
        confident=dict.fromkeys(SETTINGS.weights.scorer.confident, 0.0),
        named=dict.fromkeys(SETTINGS.weights.scorer.named, 0.0),
    )
    names = SETTINGS.weights.names.model_copy(update={"intercept": -6.0})
    return SETTINGS.model_copy(update={"weights": replace(SETTINGS.weights, scorer=scorer, names=names)})


def by_chance(seed: int, count: int = 20) -> Lessons:
    """Questions whose relevant passage is any of their candidates, so that nothing speaks for it."""
    one, draw = lessons("chance", count=count), np.random.default_rng(seed)
    asked = []
    for lesson in one.lessons:
        ids = lesson.found.candidates.hybrid.ids
        relevant = one.passages[ids[int(draw.integers(len(ids)))]].document
        asked.append(replace(lesson, query=Query(lesson.query.id, lesson.query.text, {relevant: 1.0})))
    return replace(one, lessons=tuple(asked))


@given(SIZES, st.integers(1, 40))
def test_the_parts_hold_every_question_once_and_are_nearly_equal(sizes: list[int], parts: int) -> None:
    made = partition(sizes, parts)

    every = [(of, at) for of, size in enumerate(sizes) for at in range(size)]
    assert sorted(place for part in made for place in part) == every
    assert len(made) == min(parts, len(every))
    assert not made or max(map(len, made)) - min(map(len, made)) <= 1


@given(SIZES, st.integers(2, 12))
def test_no_question_is_judged_by_itself(sizes: list[int], parts: int) -> None:
    sets = [[(of, at) for at in range(size)] for of, size in enumerate(sizes)]
    every = {one for each in sets for one in each}

    def judge(others: list[list[tuple[int, int]]], part: list[tuple[int, int]]) -> np.ndarray:
        assert {one for each in others for one in each} == every - set(part)
        assert all(others)
        return np.array(part, dtype=float)

    rows = cross_validate(sets, parts, judge)

    assert [tuple(row) for row in rows.tolist()] == sorted(every)


def test_the_least_loss_is_chosen_if_it_is_less_by_so_many_standard_errors() -> None:
    draw = np.random.default_rng(0)
    losses = np.ones((20, 3))
    losses[:, 1] -= 0.1 + 0.1 * draw.normal(size=20)
    losses[:, 2] -= 0.01 + 1.0 * draw.normal(size=20)

    assert least(losses[:, :2], errors=1) == least(losses) == 1
    assert losses[:, 2].mean() < 1
    assert least(losses[:, [0, 2]]) == 1
    assert least(losses[:, [0, 2]], errors=1) == 0
    assert least(np.ones((20, 3))) == least(np.ones((1, 3)), errors=1) == 0


def test_all_that_is_learned_for_a_question_is_learned_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [lessons("a", count=6), lessons("b", count=6)]
    near = Near(sets, SETTINGS)
    seen: set[str] = set()
    learned: list[tuple[set[str], set[str]]] = []
    learn, fit = near.learn, scorers_near

    def question(one: Example) -> str:
        (document,) = one.query.relevant
        return document.removeprefix("document-").rsplit("-", 1)[0]

    def spied_fit(prior: ScorerSettings, shown: Sequence[Sequence[Example]], strengths: Sequence[float]) -> object:
        seen.update(question(one) for each in shown for one in each)
        return fit(prior, shown, strengths)

    def spied_learn(of: Sequence[Lessons], left_out: Iterable[tuple[int, int]] = ()) -> Learned:
        seen.clear()
        found = learn(of, left_out)
        learned.append(({f"{of[place].dataset}-{at}" for place, at in left_out}, set(seen)))
        return found

    monkeypatch.setattr(nested, "scorers_near", spied_fit)
    monkeypatch.setattr(near, "learn", spied_learn)
    near.left_out(sets, lambda _: None)

    every = {f"{name}-{number}" for name in "ab" for number in range(6)}
    assert len(learned) == len(every)
    assert set().union(*(left_out for left_out, _ in learned)) == every
    assert all(taught == every - left_out for left_out, taught in learned)


def test_the_names_of_a_question_do_not_teach_what_judges_it(monkeypatch: pytest.MonkeyPatch) -> None:
    near = Near([lessons("a", count=8)], SETTINGS)
    taught: list[int] = []
    fit = names_near

    def spied(prior: object, sets: Sequence[Sequence[NameLesson]], strengths: Sequence[float]) -> object:
        taught.append(sum(map(len, sets)))
        return fit(SETTINGS.weights.names, sets, strengths)

    monkeypatch.setattr(nested, "names_near", spied)
    near.learn([lessons("a", count=8)], [(0, 3)])

    assert max(taught) == 7  # each question has a name, and the last fit is of all that aren't left out
    assert all(number < 7 for number in taught[:-1])


def test_twenty_questions_help_where_the_weights_in_use_are_wrong() -> None:
    tuned = tune([lessons("own", count=20)], wrong(), Progress())

    assert tuned.verdict.answer == "helps"
    assert tuned.verdict.difference.low > 0
    assert tuned.verdict.sentence.startswith("Helps: ndcg@10 +")
    assert (tuned.learned.names, tuned.learned.scorer) != (wrong().weights.names, wrong().weights.scorer)


@pytest.mark.parametrize("seed", range(3))
def test_where_nothing_can_be_learned_no_verdict_says_that_it_helps(seed: int) -> None:
    tuned = tune([by_chance(seed)], SETTINGS, Progress())

    assert tuned.verdict.answer != "helps"


def test_the_weights_in_use_stay_where_they_are_right() -> None:
    tuned = tune([lessons("own", count=20)], SETTINGS, Progress())

    (judged,) = tuned.judged
    assert judged.in_use == judged.other_questions == judged.shipped
    assert (tuned.verdict.answer, tuned.verdict.changed) == ("unknown", 0)


@hypothesis_settings(max_examples=5)
@given(st.integers(0, 1000))
def test_examples_with_the_names_in_use_are_those_of_the_search(seed: int) -> None:
    one = by_chance(seed, count=3)
    near = Near([one], SETTINGS)

    expected = examples(one, SETTINGS.weights.names, SETTINGS)
    for shown, other in zip(near.examples("chance", SETTINGS.weights.names), expected, strict=True):
        assert np.array_equal(shown.features.matrix, other.features.matrix)
    assert near.examples("chance", wrong().weights.names)[0].features.confidence < 0.1


def test_the_strengths_begin_with_the_weights_in_use() -> None:
    assert scorers_near(wrong().weights.scorer, [questions(1, "walk")], STRENGTHS)[0].scorer == wrong().weights.scorer
