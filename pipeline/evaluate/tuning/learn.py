"""Learning from judged questions: the confidence in names, and the weights of the scorer's features.

Both models are linear and small, and all datasets count the same. The scorer's weights are 0 or more: a feature that
helps on one kind of text can then do no harm on another.

``fit_names`` and ``fit_scorer`` learn from nothing, which takes many questions. ``names_near`` and ``scorers_near``
shrink towards given weights instead of towards 0, so that few questions move them little: a Gaussian prior around these
weights, fitted at its mode.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.evaluate.tuning.lessons import Example, NameLesson
from pipeline.retrieve.scoring.confidence import Signs
from pipeline.retrieve.scoring.features import FEATURES, RERANKER, TEXT_FEATURES
from pipeline.retrieve.scoring.scorer import table_shares
from pipeline.settings import NameSettings, ScorerSettings

_SET = 100  # number of questions that every dataset counts as; chosen by hand, as the penalties below
_NAMES_PENALTY = 0.3  # C of the logistic regression
_SCORER_PENALTY = 1.0  # L2 penalty, per dataset, on the weights of features scaled to a standard deviation of 1
_SHARPNESS_PENALTY = 1.0  # on the square of the logarithm of the sharpness; chosen by hand
_ITERATIONS = 300  # of a fit of the scorer; chosen by hand, to bound the time
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Learned:
    """The outcome of learning: settings of names' confidence and of the scorer."""

    names: NameSettings
    scorer: ScorerSettings


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights of the scorer that were learned near others.

    ``sharpness`` is the factor of their scores by which the loss is least. It changes no ranking, and the weights keep
    the scale of those that they were learned from: on questions that are easy everywhere only the sharpness grows.
    """

    scorer: ScorerSettings
    sharpness: float


def fit_names(sets: Sequence[Sequence[NameLesson]]) -> NameSettings | None:
    """Fit the probability that a name leads to a relevant document; None if all names do or none does."""
    from sklearn.linear_model import LogisticRegression

    weighed = [(lesson, _SET / len(lessons)) for lessons in sets for lesson in lessons]
    leads = np.array([lesson.leads for lesson, _ in weighed])
    if len(set(leads.tolist())) < 2:
        return None
    signs = np.array([lesson.signs for lesson, _ in weighed])
    middle, scale = signs.mean(axis=0), _scale(signs)
    model = LogisticRegression(C=_NAMES_PENALTY, max_iter=5000)  # enough to converge
    model.fit((signs - middle) / scale, leads, sample_weight=[weight for _, weight in weighed])
    weights = model.coef_[0] / scale
    named = {name: round(float(weight), 4) for name, weight in zip(Signs._fields, weights, strict=True)}
    return NameSettings(intercept=round(float(model.intercept_[0] - weights @ middle), 4), **named)


def fit_scorer(sets: Sequence[Sequence[Example]], features: Sequence[str] = FEATURES) -> ScorerSettings:
    """Fit the weights of features by a listwise loss: each relevant document of a question against the irrelevant ones.

    Other ``FEATURES`` than ``features`` get the weight 0. Text features count for the part of a question beyond its
    names, graph features by the confidence in the names, so the graph doesn't count for a question without names. That
    of a reranker, which reads the whole question, counts for both parts, by a weight for each.
    """
    tables = _tables(features)
    questions = _questions(sets, tables)
    if questions is None:
        return _settings(tables, [0.0] * sum(map(len, tables)))
    scale = _scale(questions.matrix)
    questions = _Questions(questions.matrix / scale, questions.relevant, questions.starts, questions.weights)
    start = np.full(questions.matrix.shape[1], 0.05)  # small and positive; the loss is convex
    fitted = _least(questions, _SCORER_PENALTY * len(sets), 0.0, start)
    return _settings(tables, (fitted / scale).tolist())


def names_near(
    prior: NameSettings, sets: Sequence[Sequence[NameLesson]], strengths: Sequence[float]
) -> list[NameSettings]:
    """Fit names' probability by shrinkage towards ``prior``, once for each strength.

    A strength is what it costs to move a weight by a standard deviation of its sign, in units of the loss of one name.
    With an infinite one, or without names, the result is ``prior``.
    """
    from scipy.optimize import minimize

    lessons = [lesson for each in sets for lesson in each]
    if not lessons:
        return [prior] * len(strengths)
    signs, leads = _signs(lessons)
    scale = _scale(signs)
    weights = np.concatenate([np.full(len(each), 1 / len(each)) for each in sets if each])
    weights *= len(lessons) / weights.sum()  # all datasets count the same, and a name counts 1 on average
    centre = _name_weights(prior) * scale

    def loss(at: Floats, strength: float) -> tuple[float, Floats]:
        logits, moved = signs / scale @ at, at - centre
        misses = (1 + np.tanh(logits / 2)) / 2 - leads
        value = float(weights @ (np.logaddexp(0, logits) - leads * logits)) + strength * float(moved @ moved)
        return value, (signs / scale).T @ (weights * misses) + 2 * strength * moved

    fitted = []
    for strength in strengths:
        found = centre if math.isinf(strength) else minimize(loss, centre, (strength,), "L-BFGS-B", jac=True).x
        values = (round(float(value), 4) for value in found / scale)
        named = NameSettings(**dict(zip(("intercept", *Signs._fields), values, strict=True)))
        fitted.append(prior if math.isinf(strength) else named)
    return fitted


def name_losses(lessons: Sequence[NameLesson], names: NameSettings) -> Floats:
    """Return the loss of each name: -log of the probability that it was given to what turned out."""
    signs, leads = _signs(lessons)
    logits = signs @ _name_weights(names)
    losses: Floats = np.logaddexp(0, logits) - leads * logits
    return losses


def _signs(lessons: Sequence[NameLesson]) -> tuple[Floats, Floats]:
    """Return the signs of names behind a column of 1, for the intercept, and which of them lead (1) or don't (0)."""
    signs = np.array([(1.0, *lesson.signs) for lesson in lessons]).reshape(-1, 1 + len(Signs._fields))
    return signs, np.array([float(lesson.leads) for lesson in lessons])


def _name_weights(names: NameSettings) -> Floats:
    return np.array([getattr(names, field) for field in ("intercept", *Signs._fields)])


def scorers_near(prior: ScorerSettings, sets: Sequence[Sequence[Example]], strengths: Sequence[float]) -> list[Fitted]:
    """Fit the scorer's weights by shrinkage towards ``prior``, once for each strength.

    A strength is what it costs to move a weight by a standard deviation of its feature, in units of the loss of one
    question. With an infinite one, or where nothing can be told from the questions, the weights are those of ``prior``.
    """
    questions = _questions(sets, _tables(FEATURES))
    if questions is None:
        return [Fitted(prior, 1.0)] * len(strengths)
    weights = questions.weights * (len(questions.starts) / questions.weights.sum())  # a question counts 1 on average
    scale = _scale(questions.matrix)
    questions = _Questions(questions.matrix / scale, questions.relevant, questions.starts, weights)
    sharpness = _sharpness(_vector(prior) * scale, questions)
    centre = _vector(prior) * scale * sharpness
    fitted, start = [], centre
    for strength in strengths:
        if math.isinf(strength):
            fitted.append(Fitted(prior, sharpness))
            continue
        start = _least(questions, strength, centre, start)
        fitted.append(Fitted(_settings(_tables(FEATURES), (start / scale / sharpness).tolist()), sharpness))
    return fitted


def scorer_losses(examples: Sequence[Example], fitted: Fitted) -> Floats:
    """Return the loss of each question; 0 if all of its candidates are relevant, or none."""
    at = _vector(fitted.scorer) * fitted.sharpness
    losses = np.zeros(len(examples))
    for place, example in enumerate(examples):
        if (one := _questions([[example]], _tables(FEATURES))) is not None:
            losses[place] = _loss(at, one, 0.0)[0] / one.weights[0]
    return losses


def _sharpness(at: Floats, questions: "_Questions") -> float:
    """Return the factor of scores by which the loss of the questions is least, kept near 1 by a penalty."""
    from scipy.optimize import minimize_scalar

    def loss(logarithm: float) -> float:
        return _loss(at * math.exp(logarithm), questions, 0.0)[0] + _SHARPNESS_PENALTY * logarithm**2

    return math.exp(minimize_scalar(loss, bounds=(-3, 3), method="bounded").x)  # bounds chosen by hand: 1/20 to 20


def _least(questions: "_Questions", penalty: float, centre: Floats | float, start: Floats) -> Floats:
    """Return the weights, 0 or more, at which the loss is least."""
    # Imported here: it takes half a second, and the Python interface imports this module for searches too.
    from scipy.optimize import minimize

    fitted = minimize(
        lambda weights: _loss(weights, questions, penalty, centre),
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * len(start),
        options={"maxiter": _ITERATIONS},
    )
    least: Floats = fitted.x
    return least


def _vector(scorer: ScorerSettings) -> Floats:
    """Return the weights in the order of :func:`_settings`; those that the settings lack are 0."""
    weighed = zip((scorer.unnamed, scorer.confident, scorer.named), _tables(FEATURES), strict=True)
    return np.array([table.get(name, 0.0) for table, names in weighed for name in names])


_Tables: TypeAlias = tuple[Sequence[str], Sequence[str], Sequence[str]]
"""The features that each table of the scorer weighs, in order: unnamed, confident, named."""


def _tables(features: Sequence[str]) -> _Tables:
    text = [name for name in features if name in TEXT_FEATURES]
    graph = [name for name in features if name not in TEXT_FEATURES]
    return text, graph, [*graph, *(name for name in features if name == RERANKER)]


def _settings(tables: _Tables, weights: Sequence[float]) -> ScorerSettings:
    """Return the weights of the features of each table, in order, as three tables; other features get 0."""
    left = iter(weights)
    given = [{name: round(next(left), 4) for name in names} for names in tables]
    unnamed, confident, named = (
        dict.fromkeys(names, 0.0) | table for names, table in zip(_tables(FEATURES), given, strict=True)
    )
    return ScorerSettings(unnamed=unnamed, confident=confident, named=named)


@dataclass(frozen=True, slots=True)
class _Questions:
    """The candidates of all questions by row; ``starts`` are the first rows of questions, ``weights`` their weights."""

    matrix: Floats
    relevant: NDArray[np.bool_]
    starts: NDArray[np.intp]
    weights: Floats


def _questions(sets: Sequence[Sequence[Example]], tables: _Tables) -> _Questions | None:
    columns = [[FEATURES.index(name) for name in names] for names in tables]
    mixed = [[each for each in examples if each.relevant.any() and not each.relevant.all()] for examples in sets]
    kept = [(example, _SET / len(examples)) for examples in mixed for example in examples]
    if not kept:
        return None
    rows = []
    for example, _ in kept:
        # The features times the shares of the scorer's three tables, side by side.
        shares = table_shares(example.features.confidence, example.features.named_share)
        parts = [example.features.matrix[:, which] * share for which, share in zip(columns, shares, strict=True)]
        rows.append(np.concatenate(parts, axis=1)[example.rows])
    starts = np.concatenate([[0], np.cumsum(list(map(len, rows)))[:-1]]).astype(np.intp)
    relevant = np.concatenate([example.relevant for example, _ in kept])
    return _Questions(np.concatenate(rows), relevant, starts, np.array([weight for _, weight in kept]))


def _loss(weights: Floats, questions: _Questions, penalty: float, centre: Floats | float = 0.0) -> tuple[float, Floats]:
    """Return the loss and its gradient: -log of a relevant candidate's softmax among itself and the irrelevant ones.

    ``penalty`` is that on the square of the distance from ``centre``.
    """
    starts, relevant = questions.starts, questions.relevant
    scores = questions.matrix @ weights
    of = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(scores))))
    powers = np.exp(scores - np.maximum.reduceat(scores, starts)[of])
    against = np.add.reduceat(powers * ~relevant, starts)
    question = of[relevant]
    total = powers[relevant] + against[question]
    chance = powers[relevant] / total
    share = (questions.weights / np.add.reduceat(relevant.astype(float), starts))[question]
    slope = np.zeros(len(scores))
    slope[relevant] = -share * (1 - chance)
    pull = np.zeros(len(starts))
    np.add.at(pull, question, share / total)
    slope[~relevant] = (powers * pull[of])[~relevant]
    moved = weights - centre
    value = -float(share @ np.log(np.maximum(chance, 1e-12))) + penalty * float(moved @ moved)
    return value, questions.matrix.T @ slope + 2 * penalty * moved


def _scale(matrix: Floats) -> Floats:
    spread = matrix.std(axis=0)
    return np.where(spread > 0, spread, 1.0)
