"""Learning from judged questions: the confidence in names, and the weights of the scorer's features.

Both models are linear and small, and all datasets count the same. Weights are 0 or more: a feature that helps on one
kind of text can then do no harm on another.
"""

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
Floats = NDArray[np.float64]


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
    # Imported here: it takes half a second, and the Python interface imports this module for searches too.
    from scipy.optimize import minimize

    tables = _tables(features)
    questions = _questions(sets, tables)
    if questions is None:
        return _settings(tables, [0.0] * sum(map(len, tables)))
    scale = _scale(questions.matrix)
    questions = _Questions(questions.matrix / scale, questions.relevant, questions.starts, questions.weights)
    penalty = _SCORER_PENALTY * len(sets)
    start = np.full(questions.matrix.shape[1], 0.05)  # small and positive; the loss is convex
    fitted = minimize(
        lambda weights: _loss(weights, questions, penalty),
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * len(start),
        options={"maxiter": 300},  # chosen by hand, to bound the time
    )
    return _settings(tables, (fitted.x / scale).tolist())


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


def _loss(weights: Floats, questions: _Questions, penalty: float) -> tuple[float, Floats]:
    """Return the loss and its gradient: -log of a relevant candidate's softmax among itself and the irrelevant ones."""
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
    value = -float(share @ np.log(np.maximum(chance, 1e-12))) + penalty * float(weights @ weights)
    return value, questions.matrix.T @ slope + 2 * penalty * weights


def _scale(matrix: Floats) -> Floats:
    spread = matrix.std(axis=0)
    return np.where(spread > 0, spread, 1.0)
