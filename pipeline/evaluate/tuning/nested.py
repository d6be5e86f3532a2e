"""Learning near the weights in use, and nested cross-validation: what that does to questions it wasn't learned from.

How far to go from the weights in use is chosen by cross-validation. The questions that measure it are left out of that
choice, too (Varma and Simon, Bias in error estimation when using cross-validation for model selection, 2006).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from pipeline.evaluate.datasets import Query
from pipeline.evaluate.measures import Measures, measure_query
from pipeline.evaluate.tuning.learn import (
    Floats,
    Learned,
    name_losses,
    names_near,
    scorer_losses,
    scorers_near,
)
from pipeline.evaluate.tuning.lessons import Example, Lessons, NameLesson, examples, name_lessons
from pipeline.retrieve.fusion import Ranked, fuse
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.scoring.confidence import probability
from pipeline.retrieve.scoring.coverage import Passage
from pipeline.retrieve.scoring.scorer import Scorer
from pipeline.settings import NameSettings, RetrieveSettings, Settings

AIMS = ("recall@5", "recall@10", "ndcg@10")
"""The measures whose mean is aimed at."""

STRENGTHS = (math.inf, 100.0, 30.0, 10.0)
"""Strengths of the pull towards the weights in use, in questions or names; the first keeps them.

With weaker ones to choose from, 20 questions lost recall@5 on new questions of nine public sets; 120 gained little.
"""

_ALONE = 40  # questions up to which each is left out alone, which leaves nothing to the draw of the parts
_PARTS = 10  # of more questions; the usual number
_INNER_PARTS = 5  # of the choice of a strength, which is made once for each part; chosen by hand, to bound the time
Questions = TypeVar("Questions")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The questions of a dataset as judged by what all other questions teach, in order.

    ``names`` are those in the questions, each with its confidence and whether it leads to a relevant document.
    """

    measures: tuple[Measures, ...]
    names: tuple[tuple[float, bool], ...]


def partition(sizes: Sequence[int], parts: int, *, seed: int = 0) -> list[list[tuple[int, int]]]:
    """Divide the questions of datasets into at most ``parts`` parts of nearly equal size; each has a share of each set.

    A question is given as the place of its dataset and its place there. Each is in one part, and no part is empty.
    """
    draw = np.random.default_rng(seed)
    places = [(place, int(number)) for place, size in enumerate(sizes) for number in draw.permutation(size)]
    return [places[start::parts] for start in range(min(parts, len(places)))]


def cross_validate(
    sets: Sequence[Sequence[Questions]],
    parts: int,
    judge: Callable[[list[list[Questions]], list[Questions]], Floats],
) -> Floats:
    """Return what ``judge`` says of the questions of each part by those of the other parts, a row a question.

    ``judge`` takes the others, by dataset, and the questions of the part. Rows are in the order of datasets and
    questions; an empty dataset is left out.
    """
    rows: dict[tuple[int, int], Floats] = {}
    for part in partition([len(each) for each in sets], parts):
        rows.update(zip(part, judge(_without(sets, part), [sets[of][at] for of, at in part]), strict=True))
    return np.array([rows[place] for place in sorted(rows)])


def _without(sets: Sequence[Sequence[Questions]], part: Iterable[tuple[int, int]]) -> list[list[Questions]]:
    left_out = set(part)
    rest = [[one for at, one in enumerate(each) if (of, at) not in left_out] for of, each in enumerate(sets)]
    return [each for each in rest if each]


def least(losses: Floats, errors: float = 0.0) -> int:
    """Return the column of the least mean loss if that is less than column 0's by ``errors`` standard errors, else 0.

    Rows are questions. For the errors, see Breiman and others, Classification and Regression Trees (1984).
    """
    gains = losses[:, :1] - losses
    best = int(gains.mean(axis=0).argmax())
    error = float(gains[:, best].std(ddof=1)) / math.sqrt(len(gains)) if len(gains) > 1 else 0.0
    return best if float(gains[:, best].mean()) > errors * error else 0


class Near:
    """Learns from questions near the weights in use."""

    def __init__(self, sets: Sequence[Lessons], settings: Settings) -> None:
        self._sets = {lessons.dataset: lessons for lessons in sets}
        self._settings = settings
        self._names = {lessons.dataset: _by_question(lessons) for lessons in sets}
        self._in_use = {lessons.dataset: examples(lessons, settings.weights.names, settings) for lessons in sets}

    def examples(self, dataset: str, names: NameSettings) -> list[Example]:
        """Return the questions of a dataset with these settings of names."""
        if names == self._settings.weights.names:
            return self._in_use[dataset]
        return examples(self._sets[dataset], names, self._settings)

    def learn(self, sets: Sequence[Lessons], left_out: Iterable[tuple[int, int]] = ()) -> Learned:
        """Learn from datasets without the questions left out; how far to go from the weights in use is chosen on them.

        They stay where no other weights are better.
        """
        names = self._learn_names(_without([self._names[lessons.dataset] for lessons in sets], left_out))
        shown = _without([self.examples(lessons.dataset, names) for lessons in sets], left_out)
        return self._learn_scorer(names, shown)

    def left_out(self, sets: Sequence[Lessons], done: Callable[[int], None]) -> list[LeftOut]:
        """Judge each question by what is learned without it, and without others of its part."""
        count = sum(len(lessons.lessons) for lessons in sets)
        measured: dict[tuple[int, int], Measures] = {}
        sure: dict[tuple[int, int], list[tuple[float, bool]]] = {}
        for part in partition([len(lessons.lessons) for lessons in sets], count if count <= _ALONE else _PARTS):
            learned = self.learn(sets, part)
            scorer = Scorer(learned.scorer)
            for of, at in part:
                dataset = sets[of].dataset
                example = self.examples(dataset, learned.names)[at]
                measured[of, at] = measure_example(example, scorer, self._settings.retrieve)
                names = self._names[dataset][at]
                sure[of, at] = [(probability(name.signs, learned.names), name.leads) for name in names]
            done(len(part))
        places = [[(of, at) for at in range(len(lessons.lessons))] for of, lessons in enumerate(sets)]
        return [
            LeftOut(tuple(measured[place] for place in each), tuple(name for place in each for name in sure[place]))
            for each in places
        ]

    def _learn_names(self, sets: Sequence[Sequence[Sequence[NameLesson]]]) -> NameSettings:
        prior = self._settings.weights.names

        def judge(others: list[list[Sequence[NameLesson]]], part: list[Sequence[NameLesson]]) -> Floats:
            fitted = names_near(prior, _flat(others), STRENGTHS)
            return np.array([[name_losses(names, one).sum() for one in fitted] for names in part])

        # By a standard error: few questions have few names, and a name moves the seeds of a whole walk.
        strength = STRENGTHS[least(cross_validate(sets, _INNER_PARTS, judge), errors=1)]
        return names_near(prior, _flat(sets), [strength])[0]

    def _learn_scorer(self, names: NameSettings, shown: Sequence[Sequence[Example]]) -> Learned:
        prior, retrieve = self._settings.weights.scorer, self._settings.retrieve

        def judge(others: list[list[Example]], part: list[Example]) -> Floats:
            fitted = scorers_near(prior, others, STRENGTHS)
            losses = [scorer_losses(part, one) for one in fitted]
            aims = [[_aim(example, Scorer(one.scorer), retrieve) for example in part] for one in fitted]
            return np.moveaxis(np.array([losses, aims]), -1, 0)

        # The losses choose, since they tell more of few questions than measures do, and the aims must not be worse.
        losses, aims = np.moveaxis(cross_validate(shown, _INNER_PARTS, judge), 1, 0)
        best = least(losses)
        strength = STRENGTHS[best if aims[:, best].mean() >= aims[:, 0].mean() else 0]
        return Learned(names, scorers_near(prior, shown, [strength])[0].scorer)


def measure_example(example: Example, scorer: Scorer, settings: RetrieveSettings) -> Measures:
    """Return the measures of the whole for a question, ranked by a scorer."""
    parts = [(example.hybrid, 1.0), (scorer.rank(example.features), settings.fuse_scorer)]
    return measure_ranking(example.query, fuse(Leg.WHOLE, parts, settings.fuse_k), example.passages)


def measure_ranking(query: Query, ranking: Ranked, passages: Mapping[str, Passage]) -> Measures:
    """Return the measures of a ranking of chunks; ``passages`` are those of the corpus, by id."""
    return measure_query(query, (passages[id_].document for id_ in ranking.ids if id_ in passages))


def aim(measures: Measures) -> float:
    """Return the mean of the measures that are aimed at."""
    return sum(measures[name] for name in AIMS) / len(AIMS)


def _aim(example: Example, scorer: Scorer, settings: RetrieveSettings) -> float:
    return aim(measure_example(example, scorer, settings))


def _by_question(lessons: Lessons) -> list[list[NameLesson]]:
    return [name_lessons(replace(lessons, lessons=(one,))) for one in lessons.lessons]


def _flat(sets: Sequence[Sequence[Sequence[NameLesson]]]) -> list[list[NameLesson]]:
    return [[name for names in each for name in names] for each in sets]
