"""Tuning of names' confidence and the scorer on judged datasets, with a validation on questions left out.

Learning starts from the weights in use, and each question is judged by what the others teach. With several datasets
each is left out in turn, too, and each kind of datasets. Everything, features included, is chosen without what is left
out, so the figures hold for new questions, a new dataset and a new kind of text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from pipeline.errors import ExtraMissing, QuerySetError
from pipeline.evaluate.measures import Measures, mean_measures
from pipeline.evaluate.significance import Interval, Verdict, pooled_interval, verdict
from pipeline.evaluate.tuning.learn import Learned, fit_names, fit_scorer
from pipeline.evaluate.tuning.lessons import Example, Lessons, NameLesson, examples, name_lessons
from pipeline.evaluate.tuning.nested import LeftOut, Near, aim, measure_example, measure_ranking
from pipeline.progress import Progress
from pipeline.retrieve.scoring.confidence import probability
from pipeline.retrieve.scoring.features import FEATURES, RERANKER
from pipeline.retrieve.scoring.scorer import Scorer
from pipeline.settings import RetrieveSettings, ScorerSettings, Settings
from pipeline.text.prose import counted

LEAST = 10
"""Fewest judged questions to learn from; of fewer, no difference shows that chance couldn't make."""

_JUDGED_BY = "ndcg@10"  # of the verdict: it moves with every rank, so few questions tell more by it than by recall
_BINS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)  # of the calibration that is shown; chosen by hand
_TRIED = 60  # number of questions of a dataset that features are selected by


@dataclass(frozen=True, slots=True)
class Judged:
    """The measures of a dataset by query: of hybrid, of the weights in use, and of the whole as learned from others.

    ``queries`` are the ids. ``of_other_kinds`` is learned from datasets of other kinds, ``left_out`` from the other
    datasets, and either is empty if there are none; ``other_questions`` from all questions but some, of which the query
    is one, and empty if learning starts from nothing; ``shipped`` from all.
    """

    dataset: str
    kind: str
    queries: tuple[str, ...]
    hybrid: tuple[Measures, ...]
    of_other_kinds: tuple[Measures, ...]
    left_out: tuple[Measures, ...]
    shipped: tuple[Measures, ...]
    in_use: tuple[Measures, ...]
    other_questions: tuple[Measures, ...] = ()

    @property
    def unseen(self) -> tuple[Measures, ...]:
        """The measures by what was learned without the query: from other questions, else from other datasets."""
        return self.other_questions or self.left_out

    def means(self) -> dict[str, Measures]:
        """Return the mean measures by what they were learned from, as far as there is such."""
        ways = {
            "hybrid": self.hybrid,
            "in use": self.in_use,
            "other kinds": self.of_other_kinds,
            "other sets": self.left_out,
            "other questions": self.other_questions,
            "all sets": self.shipped,
        }
        return {learned_from: mean_measures(by_query) for learned_from, by_query in ways.items() if by_query}


@dataclass(frozen=True, slots=True)
class Calibration:
    """Names in datasets left out with a confidence from ``low`` to ``high``: their number, and the share that leads."""

    low: float
    high: float
    count: int
    leads: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """The outcome: what all datasets teach, the measures of each, and the calibration of the confidence in names."""

    learned: Learned
    judged: tuple[Judged, ...]
    calibration: tuple[Calibration, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict on questions that weren't learned from: what is learned against the weights in use."""
        before, after = self._values(_JUDGED_BY, "in_use"), self._values(_JUDGED_BY, "unseen")
        return verdict(_JUDGED_BY, _differences(before, after))

    def gain(self, measure: str) -> Interval:
        """Return what the whole adds to hybrid on what was left out, as the mean over datasets."""
        return pooled_interval(_differences(self._values(measure, "hybrid"), self._values(measure, "unseen")))

    def _values(self, measure: str, way: str) -> list[list[float]]:
        return [[measures[measure] for measures in getattr(judged, way)] for judged in self.judged]

    def to_toml(self) -> str:
        """Return the learned settings as TOML, below the verdict."""
        sections: dict[str, Mapping[str, float]] = {
            "names": self.learned.names.model_dump(),
            "scorer.unnamed": self.learned.scorer.unnamed,
            "scorer.confident": self.learned.scorer.confident,
            "scorer.named": self.learned.scorer.named,
        }
        lines = [
            f"# Learned by `hoprank tune` from {', '.join(judged.dataset for judged in self.judged)}.",
            f"# {self.verdict.sentence}",
        ]
        for section, values in sections.items():
            lines += ["", f"[{section}]", *(f"{name} = {value}" for name, value in values.items())]
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return the verdict, the mean measures of each dataset by what they were learned from, and what was learned.

        ``per_query`` holds the measures of each query by the weights in use, and by what was learned without it.
        """
        return {
            "verdict": {**self.verdict.to_json(), "sentence": self.verdict.sentence},
            "querysets": [_judged_json(judged) for judged in self.judged],
            "names": [asdict(row) for row in self.calibration],
            "learned": {"names": self.learned.names.model_dump(), "scorer": self.learned.scorer.model_dump()},
        }


def _judged_json(judged: Judged) -> dict[str, Any]:
    rows = zip(judged.queries, judged.in_use, judged.unseen, strict=True)
    return {
        "queryset": judged.dataset,
        "kind": judged.kind,
        "queries": len(judged.queries),
        "metrics": {way.replace(" ", "_"): means for way, means in judged.means().items()},
        "per_query": [{"query": query, "in_use": before, "left_out": after} for query, before, after in rows],
    }


def check_sets(sets: Sequence[tuple[str, int]], *, anew: bool = False) -> None:
    """Raise QuerySetError unless the datasets, as (name, number of questions), are enough to be judged.

    Their names differ, and they have ``LEAST`` questions together. To learn ``anew``, from nothing, takes two, and
    scikit-learn. Raises ConfigurationError if that isn't installed.
    """
    if anew and find_spec("sklearn") is None:
        raise ExtraMissing.of("tune", "No module named 'sklearn'", "learn from the weights in use, without --anew")
    names = [name for name, _ in sets]
    if len(names) < (2 if anew else 1) or len(set(names)) < len(names):
        raise QuerySetError(
            f"Nothing can be judged with the querysets {', '.join(names)}.",
            "Give two or more of different names: each is judged by what the others teach."
            if anew
            else "Give one, or several of different names.",
        )
    if (count := sum(number for _, number in sets)) < LEAST:
        raise QuerySetError(
            f"{', '.join(names)}: {counted(count, 'judged question')}, and tune learns from {LEAST} or more.",
            f"Judge {LEAST - count} more.",
        )


def tune(
    sets: Sequence[Lessons], settings: Settings, progress: Progress, *, select: bool = False, anew: bool = False
) -> Tuned:
    """Learn from all datasets near the weights in use, and measure each question by what the others teach.

    Several datasets are also measured by what the other datasets, and those of other kinds, teach. With ``anew``
    learning starts from nothing, and these alone are measured. With ``select``, which is anew, features that don't help
    are dropped, each time without the datasets left out.
    """
    anew = anew or select
    check_sets([(lessons.dataset, len(lessons.lessons)) for lessons in sets], anew=anew)
    names_of = {lessons.dataset: name_lessons(lessons) for lessons in sets}
    near = None if anew else Near(sets, settings)
    learn = near.learn if near else partial(_learn, names_of, settings, select)
    kinds = sorted({lessons.kind for lessons in sets})
    several = len(sets) > 1
    questions = sum(len(lessons.lessons) for lessons in sets) if near else 0
    steps = 1 + (len(sets) if several else 0) + (len(kinds) if len(kinds) > 1 else 0) + questions
    with progress.stage("tune", steps) as done:
        shipped = learn(sets)
        done(1)
        by_kind: dict[str, Learned] = {}
        for kind in kinds if len(kinds) > 1 else ():
            by_kind[kind] = learn([lessons for lessons in sets if lessons.kind != kind])
            done(1)
        left_out = near.left_out(sets, done) if near else [LeftOut((), ()) for _ in sets]
        judged, calibrated = [], []
        for lessons, by_question in zip(sets, left_out, strict=True):
            learned = None
            if several:
                learned = learn([other for other in sets if other is not lessons])
                done(1)
            judged.append(_judged(lessons, (by_kind.get(lessons.kind), learned, shipped), by_question, settings))
            names = names_of[lessons.dataset] if learned and anew else ()
            calibrated += [(probability(name.signs, learned.names), name.leads) for name in names if learned]
            calibrated += by_question.names
    return Tuned(shipped, tuple(judged), tuple(_calibration(calibrated)))


def _judged(lessons: Lessons, ways: Sequence[Learned | None], by_question: LeftOut, settings: Settings) -> Judged:
    """Return the measures of a dataset; ``ways`` were learned from other kinds, from other datasets, and from all."""
    questions = [(one.query, one.found.candidates.hybrid) for one in lessons.lessons]
    hybrid = tuple(measure_ranking(query, ranking, lessons.passages) for query, ranking in questions)
    learned = (*ways, Learned(settings.weights.names, settings.weights.scorer))
    of_other_kinds, left_out, shipped, in_use = (_judge(lessons, way, settings) for way in learned)
    return Judged(
        dataset=lessons.dataset,
        kind=lessons.kind,
        queries=tuple(query.id for query, _ in questions),
        hybrid=hybrid,
        of_other_kinds=of_other_kinds,
        left_out=left_out,
        shipped=shipped,
        in_use=in_use,
        other_questions=by_question.measures,
    )


def _learn(
    names_of: Mapping[str, Sequence[NameLesson]], settings: Settings, select: bool, sets: Sequence[Lessons]
) -> Learned:
    """Learn from some of the datasets, from nothing."""
    # If names can't be told apart there is nothing to fit, and the settings stay.
    names = fit_names([names_of[lessons.dataset] for lessons in sets]) or settings.weights.names
    shown = [examples(lessons, names, settings) for lessons in sets]
    chosen = select_features(shown, settings.retrieve) if select and len(shown) > 1 else learnable(settings.retrieve)
    return Learned(names, _with_unlearned(fit_scorer(shown, chosen), settings))


def learnable(settings: RetrieveSettings) -> tuple[str, ...]:
    """Return the features that can be learned: without a reranker all but its own."""
    return tuple(name for name in FEATURES if settings.reranker or name != RERANKER)


def _with_unlearned(learned: ScorerSettings, settings: Settings) -> ScorerSettings:
    """Return what was learned with the weights of a reranker as they were, if there is none to learn by."""
    if settings.retrieve.reranker:
        return learned
    kept = settings.weights.scorer.model_dump()
    tables = {
        name: table | {RERANKER: kept[name].get(RERANKER, 0.0)} if RERANKER in table else table
        for name, table in learned.model_dump().items()
    }
    return ScorerSettings.model_validate(tables)


def select_features(shown: Sequence[Sequence[Example]], settings: RetrieveSettings) -> tuple[str, ...]:
    """Drop features one by one while datasets left out are better off without, beyond chance; return the rest.

    A feature is dropped if the 95% interval of the gain, over queries, lies above 0. Dropping whatever gained a little
    fitted the chance of the queries: new datasets lost by it.
    """
    few = [examples_[:: max(1, len(examples_) // _TRIED)] for examples_ in shown]
    chosen = learnable(settings)
    aims = _left_out_aims(few, chosen, settings)
    while len(chosen) > 1:
        tried = {dropped: tuple(name for name in chosen if name != dropped) for dropped in chosen}
        without = {dropped: _left_out_aims(few, rest, settings) for dropped, rest in tried.items()}
        gains = {dropped: pooled_interval(_differences(aims, other)) for dropped, other in without.items()}
        dropped = max(gains, key=lambda name: gains[name].mean)
        if gains[dropped].low <= 0:
            break
        chosen, aims = tried[dropped], without[dropped]
    return chosen


def _differences(before: Sequence[Sequence[float]], after: Sequence[Sequence[float]]) -> list[list[float]]:
    return [[new - old for old, new in zip(*sets, strict=True)] for sets in zip(before, after, strict=True)]


def _left_out_aims(
    shown: Sequence[Sequence[Example]], features: Sequence[str], settings: RetrieveSettings
) -> list[list[float]]:
    """Return the aim of each query, by dataset, with the weights that the other datasets teach."""
    aims = []
    for place, left_out in enumerate(shown):
        scorer = Scorer(fit_scorer([*shown[:place], *shown[place + 1 :]], features))
        aims.append([aim(measure_example(example, scorer, settings)) for example in left_out])
    return aims


def _judge(lessons: Lessons, learned: Learned | None, settings: Settings) -> tuple[Measures, ...]:
    if learned is None:
        return ()
    scorer = Scorer(learned.scorer)
    shown = examples(lessons, learned.names, settings)
    return tuple(measure_example(example, scorer, settings.retrieve) for example in shown)


def _calibration(calibrated: Sequence[tuple[float, bool]]) -> Iterator[Calibration]:
    for low, high in pairwise(_BINS):
        leads = [lead for sure, lead in calibrated if low <= sure < high or (high == 1.0 == sure)]
        yield Calibration(low, high, len(leads), float(np.mean(leads)) if leads else 0.0)
