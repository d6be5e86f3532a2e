"""Learning: names' probability and the features' weights are those that made the examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.evaluate.datasets import Query
from pipeline.evaluate.tuning.learn import (
    Fitted,
    _loss,
    _Questions,
    fit_names,
    fit_scorer,
    name_losses,
    names_near,
    scorer_losses,
    scorers_near,
)
from pipeline.evaluate.tuning.lessons import Example, NameLesson
from pipeline.retrieve.fusion import Ranked
from pipeline.retrieve.scoring.confidence import Signs, probability
from pipeline.retrieve.scoring.coverage import Passage
from pipeline.retrieve.scoring.features import FEATURES, TEXT_FEATURES, Features
from pipeline.retrieve.scoring.scorer import Scorer
from pipeline.settings import ScorerSettings, load_settings

SHIPPED = load_settings().weights
FLAT = ScorerSettings(
    **{table: dict.fromkeys(getattr(SHIPPED.scorer, table), 0.2) for table in ("unnamed", "confident", "named")}
)
IDS = tuple(f"c{number}" for number in range(30))
PASSAGES = {id_: Passage("", "", "", id_) for id_ in IDS}


def questions(seed: int, feature: str | None, confidence: float = 0.9, named_share: float = 0.5) -> list[Example]:
    """Questions whose relevant passages one feature tells apart, if any; hybrid's order is wrong."""
    draw = np.random.default_rng(seed)
    made = []
    for number in range(20):
        matrix = draw.normal(size=(len(IDS), len(FEATURES)))
        gold = draw.choice(len(IDS), 2, replace=False)
        if feature:
            matrix[gold, FEATURES.index(feature)] += 6
        order = [IDS[i] for i in draw.permutation(len(IDS))]
        hybrid = Ranked("hybrid", {id_: 1 / place for place, id_ in enumerate(order, 1)})
        query = Query(str(number), "?", {IDS[i]: 1.0 for i in gold.tolist()})
        relevant = np.isin(np.arange(len(IDS)), gold)
        features = Features(IDS, matrix, confidence, named_share)
        made.append(Example(query, hybrid, features, PASSAGES, np.arange(len(IDS)), relevant))
    return made


@pytest.mark.parametrize("feature", ["sentence", "about_linked", "reranker"])
def test_what_tells_relevant_passages_apart_weighs_most(feature: str) -> None:
    learned = fit_scorer([questions(seed, feature) for seed in range(3)])

    weights = Scorer(learned).weights(0.9, 0.5)
    assert FEATURES[int(weights.argmax())] == feature
    assert (weights >= 0).all()


def test_a_feature_that_speaks_against_passages_weighs_nothing() -> None:
    examples = questions(1, "walk")
    for one in examples:
        one.features.matrix[:, FEATURES.index("walk")] *= -1

    learned = fit_scorer([examples])

    assert learned.confident["walk"] == learned.named["walk"] == 0


def test_of_questions_without_names_nothing_is_learned_of_the_graph() -> None:
    learned = fit_scorer([questions(1, "walk", confidence=0.0, named_share=0.0)])

    assert not any(learned.confident.values()) or max(learned.confident.values()) < 0.1
    assert learned.unnamed.keys() == TEXT_FEATURES


def test_without_an_irrelevant_passage_there_is_nothing_to_learn() -> None:
    examples = [
        Example(one.query, one.hybrid, one.features, one.passages, one.rows, ~one.relevant | True)
        for one in questions(1, "walk")
    ]

    assert not any(fit_scorer([examples]).confident.values())


@settings(max_examples=20)
@given(st.lists(st.floats(0, 2), min_size=3, max_size=3))
def test_the_gradient_is_that_of_the_loss(weights: list[float]) -> None:
    draw = np.random.default_rng(3)
    starts = np.array([0, 5], dtype=np.intp)
    relevant = np.isin(np.arange(11), [1, 3, 7])
    asked = _Questions(draw.normal(size=(11, 3)), relevant, starts, np.array([2.0, 1.0]))
    at = np.array(weights)

    _, slope = _loss(at, asked, 0.1)

    for place in range(3):
        step = np.eye(3)[place] * 1e-6
        numeric = (_loss(at + step, asked, 0.1)[0] - _loss(at - step, asked, 0.1)[0]) / 2e-6
        assert math.isclose(slope[place], numeric, rel_tol=1e-4, abs_tol=1e-6)


def test_names_are_as_sure_as_they_are_right() -> None:
    agreeing, far = Signs(4.0, 1.0, 0.7, 1.0), Signs(-1.0, 0.0, 4.0, 0.0)
    lessons = [NameLesson(agreeing, leads=place % 10 > 0) for place in range(100)]
    lessons += [NameLesson(far, leads=place % 10 == 0) for place in range(100)]

    learned = fit_names([lessons])

    assert learned is not None
    assert probability(agreeing, learned) == pytest.approx(0.9, abs=0.03)
    assert probability(far, learned) == pytest.approx(0.1, abs=0.03)


def test_from_names_that_all_lead_right_nothing_is_learned() -> None:
    assert fit_names([[NameLesson(Signs(1.0, 1.0, 1.0, 1.0), leads=True)] * 3]) is None
    assert fit_names([]) is None


def distance(one: ScorerSettings, other: ScorerSettings) -> float:
    tables = ("unnamed", "confident", "named")
    pairs = ((getattr(one, table), getattr(other, table)) for table in tables)
    return math.fsum(abs(mine[name] - theirs[name]) for mine, theirs in pairs for name in theirs)


def test_without_lessons_the_weights_are_those_that_learning_starts_from() -> None:
    assert [one.scorer for one in scorers_near(SHIPPED.scorer, [], [100.0, 1.0])] == [SHIPPED.scorer] * 2
    assert names_near(SHIPPED.names, [], [100.0, 1.0]) == [SHIPPED.names] * 2
    assert names_near(SHIPPED.names, [[]], [1.0]) == [SHIPPED.names]


@settings(max_examples=10)
@given(st.integers(0, 100), st.sampled_from(FEATURES))
def test_the_stronger_the_pull_the_nearer_the_weights_stay(seed: int, feature: str) -> None:
    strengths = [math.inf, 1e6, 100.0, 10.0, 1.0]

    fitted = [one.scorer for one in scorers_near(FLAT, [questions(seed, feature)], strengths)]

    far = [distance(one, FLAT) for one in fitted]
    assert far[0] == 0
    assert far[1] < 0.01
    assert far == sorted(far)
    assert far[-1] > 0.1
    assert all(weight >= 0 for one in fitted for weight in Scorer(one).weights(0.9, 0.5))


def test_near_weights_that_ignore_a_feature_it_is_learned() -> None:
    ignoring = SHIPPED.scorer.model_copy(
        update={
            "confident": {**SHIPPED.scorer.confident, "walk": 0.0},
            "named": {**SHIPPED.scorer.named, "walk": 0.0},
        }
    )

    fitted = scorers_near(ignoring, [questions(1, "walk")], [1.0])[0].scorer

    assert fitted.confident["walk"] > 0.1


def test_easy_questions_sharpen_scores_and_leave_the_scale_of_weights() -> None:
    """All that the weights in use rank rightly already: nothing is to be learned from it but that it is easy."""
    easy = questions(1, None)
    for one in easy:
        one.features.matrix[:] = one.relevant[:, None] * 2.0

    (fitted,) = scorers_near(FLAT, [easy], [100.0])

    assert fitted.sharpness > 1.5
    assert distance(fitted.scorer, FLAT) < 0.1
    assert scorer_losses(easy, fitted).sum() < scorer_losses(easy, Fitted(FLAT, 1.0)).sum()


def test_names_that_lead_where_they_are_doubted_are_believed_by_and_by() -> None:
    doubted = Signs(-1.0, 0.0, 4.0, 0.0)
    lessons = [NameLesson(doubted, leads=True), NameLesson(Signs(-1.0, 0.1, 3.0, 0.0), leads=True)] * 10

    none, least, little, much = names_near(SHIPPED.names, [lessons], [math.inf, 1e6, 100.0, 1.0])

    before, after = (probability(doubted, names) for names in (SHIPPED.names, much))
    assert none == SHIPPED.names
    assert least.model_dump() == pytest.approx(SHIPPED.names.model_dump(), abs=0.01)
    assert before < probability(doubted, little) < after
    assert name_losses(lessons, much).sum() < name_losses(lessons, SHIPPED.names).sum()
    assert name_losses(lessons[:1], SHIPPED.names)[0] == pytest.approx(-math.log(before), rel=1e-6)


def test_sets_of_any_size_teach_the_same() -> None:
    much, little = questions(1, "walk"), questions(2, "sentence")[:5]

    once = scorers_near(SHIPPED.scorer, [much, little], [1.0])[0].scorer
    twice = scorers_near(SHIPPED.scorer, [much, little * 2], [1.0 * 30 / 25])[0].scorer

    assert distance(once, twice) < 0.05 * sum(sum(getattr(once, of).values()) for of in ("unnamed", "named"))
