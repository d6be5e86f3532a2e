"""Tuning of names' confidence and the scorer on judged datasets, with a validation on datasets left out.

Each dataset is left out in turn, and each kind of datasets. Everything, features included, is chosen without what is
left out, so the figures hold for a new dataset and a new kind of text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets import Query
from pipeline.evaluate.measures import Measures, measure_query
from pipeline.evaluate.significance import Interval, pooled_interval
from pipeline.evaluate.tuning.learn import fit_names, fit_scorer
from pipeline.evaluate.tuning.lessons import Example, Lessons, NameLesson, examples, name_lessons
from pipeline.progress import Progress
from pipeline.retrieve.fusion import Ranked, fuse
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.scoring.confidence import probability
from pipeline.retrieve.scoring.coverage import Passage
from pipeline.retrieve.scoring.features import FEATURES, RERANKER
from pipeline.retrieve.scoring.scorer import Scorer
from pipeline.settings import NameSettings, RetrieveSettings, ScorerSettings, Settings

_AIMS = ("recall@5", "recall@10", "ndcg@10")
_BINS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)  # of the calibration that is shown; chosen by hand
_TRIED = 60  # number of questions of a dataset that features are selected by


@dataclass(frozen=True, slots=True)
class Learned:
    """The outcome of learning: settings of names' confidence and of the scorer."""

    names: NameSettings
    scorer: ScorerSettings


@dataclass(frozen=True, slots=True)
class Judged:
    """The measures of a dataset by query: of hybrid, and of the whole as learned from other datasets.

    ``of_other_kinds`` is learned from datasets of other kinds, and empty if there are none; ``left_out`` from the other
    datasets; ``shipped`` from all.
    """

    dataset: str
    kind: str
    hybrid: tuple[Measures, ...]
    of_other_kinds: tuple[Measures, ...]
    left_out: tuple[Measures, ...]
    shipped: tuple[Measures, ...]


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

    def gain(self, measure: str) -> Interval:
        """Return what the whole adds to hybrid on datasets left out, as the mean over datasets."""
        before = [[measures[measure] for measures in judged.hybrid] for judged in self.judged]
        after = [[measures[measure] for measures in judged.left_out] for judged in self.judged]
        return _gain(before, after)

    def to_toml(self) -> str:
        """Return the learned settings as TOML."""
        sections: dict[str, Mapping[str, float]] = {
            "names": self.learned.names.model_dump(),
            "scorer.unnamed": self.learned.scorer.unnamed,
            "scorer.confident": self.learned.scorer.confident,
            "scorer.named": self.learned.scorer.named,
        }
        lines = [f"# Learned by `hoprank tune` from {', '.join(judged.dataset for judged in self.judged)}."]
        for section, values in sections.items():
            lines += ["", f"[{section}]", *(f"{name} = {value}" for name, value in values.items())]
        return "\n".join(lines) + "\n"


def check_sets(names: Sequence[str]) -> None:
    """Raise QuerySetError unless there are two datasets or more, all of different names."""
    if len(names) < 2 or len(set(names)) < len(names):
        raise QuerySetError(
            f"Nothing can be judged with the querysets {', '.join(names)}.",
            "Give two or more of different names: each is judged by what the others teach.",
        )


def tune(sets: Sequence[Lessons], settings: Settings, progress: Progress, *, select: bool = False) -> Tuned:
    """Learn from all datasets, and measure each by what the others, and those of other kinds, teach.

    With ``select``, features that don't help are dropped, each time without the datasets left out.
    """
    check_sets([lessons.dataset for lessons in sets])
    names_of = {lessons.dataset: name_lessons(lessons) for lessons in sets}
    learn = partial(_learn, names_of, settings, select)
    kinds = sorted({lessons.kind for lessons in sets})
    with progress.stage("tune", 1 + len(sets) + (len(kinds) if len(kinds) > 1 else 0)) as done:
        shipped = learn(sets)
        done(1)
        by_kind: dict[str, Learned] = {}
        for kind in kinds if len(kinds) > 1 else ():
            by_kind[kind] = learn([lessons for lessons in sets if lessons.kind != kind])
            done(1)
        judged, calibrated = [], []
        for lessons in sets:
            learned = learn([other for other in sets if other is not lessons])
            ways = (by_kind.get(lessons.kind), learned, shipped)
            measures = (_judge(lessons, way, settings) for way in ways)
            questions = ((one.query, one.found.candidates.hybrid) for one in lessons.lessons)
            hybrid = tuple(_measured(query, ranking, lessons.passages) for query, ranking in questions)
            judged.append(Judged(lessons.dataset, lessons.kind, hybrid, *measures))
            names = names_of[lessons.dataset]
            calibrated += [(probability(name.signs, learned.names), name.leads) for name in names]
            done(1)
    return Tuned(shipped, tuple(judged), tuple(_calibration(calibrated)))


def _learn(
    names_of: Mapping[str, Sequence[NameLesson]], settings: Settings, select: bool, sets: Sequence[Lessons]
) -> Learned:
    """Learn from some of the datasets."""
    # If names can't be told apart there is nothing to fit, and the settings stay.
    names = fit_names([names_of[lessons.dataset] for lessons in sets]) or settings.names
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
    kept = settings.scorer.model_dump()
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
        gains = {dropped: _gain(aims, other) for dropped, other in without.items()}
        dropped = max(gains, key=lambda name: gains[name].mean)
        if gains[dropped].low <= 0:
            break
        chosen, aims = tried[dropped], without[dropped]
    return chosen


def _gain(before: Sequence[Sequence[float]], after: Sequence[Sequence[float]]) -> Interval:
    return pooled_interval(
        [[new - old for old, new in zip(*sets, strict=True)] for sets in zip(before, after, strict=True)]
    )


def _left_out_aims(
    shown: Sequence[Sequence[Example]], features: Sequence[str], settings: RetrieveSettings
) -> list[list[float]]:
    """Return the aim of each query, by dataset, with the weights that the other datasets teach."""
    aims = []
    for place, left_out in enumerate(shown):
        scorer = Scorer(fit_scorer([*shown[:place], *shown[place + 1 :]], features))
        measured = [_measure(example, scorer, settings) for example in left_out]
        aims.append([sum(measures[name] for name in _AIMS) / len(_AIMS) for measures in measured])
    return aims


def _judge(lessons: Lessons, learned: Learned | None, settings: Settings) -> tuple[Measures, ...]:
    if learned is None:
        return ()
    scorer = Scorer(learned.scorer)
    shown = examples(lessons, learned.names, settings)
    return tuple(_measure(example, scorer, settings.retrieve) for example in shown)


def _measure(example: Example, scorer: Scorer, settings: RetrieveSettings) -> Measures:
    parts = [(example.hybrid, 1.0), (scorer.rank(example.features), settings.fuse_scorer)]
    return _measured(example.query, fuse(Leg.WHOLE, parts, settings.fuse_k), example.passages)


def _measured(query: Query, ranking: Ranked, passages: Mapping[str, Passage]) -> Measures:
    return measure_query(query, (passages[id_].document for id_ in ranking.ids if id_ in passages))


def _calibration(calibrated: Sequence[tuple[float, bool]]) -> Iterator[Calibration]:
    for low, high in pairwise(_BINS):
        leads = [lead for sure, lead in calibrated if low <= sure < high or (high == 1.0 == sure)]
        yield Calibration(low, high, len(leads), float(np.mean(leads)) if leads else 0.0)
