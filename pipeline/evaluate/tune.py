"""Learn what the scorer's features weigh, and what its ranking weighs in the fusion, from judged questions.

The model is a logistic regression, one for questions whose names are "titled" evidence and one for the others; each
queryset counts the same. Whatever is learned is judged on sets that it wasn't learned from: each is left out in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.errors import QuerySetError
from pipeline.evaluate.answer import chunk_documents
from pipeline.evaluate.bootstrap import Interval, pooled_interval
from pipeline.evaluate.measures import Measures, document_ranking, measure_query
from pipeline.evaluate.querysets import Query, QuerySet
from pipeline.graph.client import Client
from pipeline.progress import Progress
from pipeline.retrieve.features import FEATURES, Matrix
from pipeline.retrieve.fuse import Ranked, fuse
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import check_question
from pipeline.retrieve.retriever import Examined, Retriever
from pipeline.retrieve.scorer import Scorer
from pipeline.retrieve.seeds import Strength
from pipeline.settings import EvidenceSettings, ScorerSettings

_FACTORS = (0.0, 1.0, 2.0, 4.0)
"""What the scorer's ranking may weigh against the walk's; 0 leaves it out."""

_AIMS = ("recall@5", "recall@10", "ndcg@10")
_PENALTY = 0.03
"""C of the regression, with each set counted as a hundred questions."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A judged question: its candidates with their features, the other rankings, and the document of each chunk."""

    query: Query
    examined: Examined
    others: tuple[tuple[Ranked, float], ...]
    k: float
    documents: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned: the features' weights, and how much more than the walk the scorer's ranking weighs."""

    scorer: ScorerSettings
    factor: float

    def evidence(self, settings: EvidenceSettings) -> dict[str, float]:
        """Return the scorer's weights in the fusion, by the names of the settings."""
        return {
            "scorer_titled": self.factor * settings.graph_titled,
            "scorer_rare": self.factor * settings.graph_rare,
            "scorer_weak": self.factor * settings.graph_weak,
        }


@dataclass(frozen=True, slots=True)
class Judged:
    """A queryset's measures by query: without the scorer, with what the other sets teach, and with what all do."""

    queryset: str
    without: tuple[Measures, ...]
    left_out: tuple[Measures, ...]
    shipped: tuple[Measures, ...]


@dataclass(frozen=True, slots=True)
class Tuned:
    """What all querysets teach, and how each fares."""

    learned: Learned
    evidence: EvidenceSettings
    judged: tuple[Judged, ...]

    def gain(self, measure: str) -> Interval:
        """Return what the scorer adds to a measure on sets that it wasn't learned from, the mean over sets."""
        return pooled_interval(
            [
                [after[measure] - before[measure] for before, after in zip(one.without, one.left_out, strict=True)]
                for one in self.judged
            ]
        )

    def to_toml(self) -> str:
        """Return what was learned as a file of settings."""
        weights = self.learned.evidence(self.evidence)
        sections = {
            "evidence": weights,
            "scorer.titled": self.learned.scorer.titled,
            "scorer.untitled": self.learned.scorer.untitled,
        }
        lines = [f"# Learned by `hoprank tune` from {', '.join(one.queryset for one in self.judged)}."]
        for section, values in sections.items():
            lines += ["", f"[{section}]", *(f"{name} = {value}" for name, value in values.items())]
        return "\n".join(lines) + "\n"


def study(client: Client, retriever: Retriever, queryset: QuerySet, progress: Progress) -> list[Lesson]:
    """Ask every question of a queryset, and keep what the scorer would be shown."""
    documents = chunk_documents(client, retriever)
    lessons = []
    retriever.prepare()
    with progress.stage(f"study {queryset.name}", len(queryset.queries)) as done:
        for query in queryset.queries:
            found = retriever.find(check_question(query.text))
            parts = tuple((ranking, weight) for ranking, weight in found.parts if weight and ranking.leg != Leg.SCORER)
            if found.examined:
                lessons.append(Lesson(query, found.examined, parts, found.k, documents))
            done(1)
    return lessons


def check_sets(names: Sequence[str]) -> None:
    """Raise QuerySetError unless there are two querysets or more, all of different names."""
    if len(names) < 2 or len(set(names)) < len(names):
        raise QuerySetError(
            f"Nothing can be judged with the querysets {', '.join(names)}.",
            "Give two or more of different names: each is judged by what the others teach.",
        )


def learn_from(sets: Mapping[str, Sequence[Lesson]], evidence: EvidenceSettings) -> Tuned:
    """Learn from all sets, by name, and judge each by what the others teach."""
    check_sets(list(sets))
    shipped = learn(sets.values(), evidence)
    judged = []
    for name, lessons in sets.items():
        learned = learn([others for other, others in sets.items() if other != name], evidence)
        ways = (_judge(lessons, one, evidence) for one in (None, learned, shipped))
        judged.append(Judged(name, *ways))
    return Tuned(shipped, evidence, tuple(judged))


def learn(sets: Iterable[Sequence[Lesson]], evidence: EvidenceSettings) -> Learned:
    """Fit the features' weights, then choose the ranking's weight that serves best, sets counting the same."""
    weighed = [(lesson, 100 / len(lessons)) for lessons in sets for lesson in lessons]
    titled = [one for one in weighed if one[0].examined.strength is Strength.TITLED]
    untitled = [one for one in weighed if one[0].examined.strength is not Strength.TITLED]
    scorer = ScorerSettings(titled=_fit(titled or weighed), untitled=_fit(untitled or weighed))

    def value(factor: float) -> float:
        measured = _judge([lesson for lesson, _ in weighed], Learned(scorer, factor), evidence)
        return sum(share * _aim(measures) for measures, (_, share) in zip(measured, weighed, strict=True))

    return Learned(scorer, max(_FACTORS, key=value))


def _fit(weighed: Sequence[tuple[Lesson, float]]) -> dict[str, float]:
    """Return each feature's weight on its own scale, rounded; nothing if all candidates are of one kind."""
    from sklearn.linear_model import LogisticRegression

    matrix = np.concatenate([lesson.examined.matrix for lesson, _ in weighed])
    relevant = np.concatenate([_relevance(lesson) for lesson, _ in weighed])
    shares = np.concatenate([np.full(len(lesson.examined.ids), share) for lesson, share in weighed])
    if len(set(relevant.tolist())) < 2:
        return {}
    spread = matrix.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    model = LogisticRegression(C=_PENALTY, max_iter=5000)
    model.fit((matrix - matrix.mean(axis=0)) / scale, relevant, sample_weight=shares)
    weights = model.coef_[0] / scale
    return {name: round(float(weight), 4) for name, weight in zip(FEATURES, weights, strict=True)}


def _relevance(lesson: Lesson) -> Matrix:
    relevant = lesson.query.relevant
    return np.array([float(lesson.documents.get(id_) in relevant) for id_ in lesson.examined.ids])


def _judge(lessons: Sequence[Lesson], learned: Learned | None, evidence: EvidenceSettings) -> tuple[Measures, ...]:
    scorer = Scorer(learned.scorer) if learned and learned.factor else None
    weights = learned.evidence(evidence) if learned else {}
    return tuple(measure_query(lesson.query, _ranking(lesson, scorer, weights)) for lesson in lessons)


def _ranking(lesson: Lesson, scorer: Scorer | None, weights: Mapping[str, float]) -> list[str]:
    parts = list(lesson.others)
    examined = lesson.examined
    if scorer:
        scored = scorer.rank(examined.ids, examined.matrix, examined.strength)
        parts.append((scored, weights[f"scorer_{examined.strength}"]))
    whole = fuse(Leg.WHOLE, parts, lesson.k)
    return document_ranking(
        (lesson.documents[id_], score) for id_, score in whole.scores.items() if id_ in lesson.documents
    )


def _aim(measures: Measures) -> float:
    return sum(measures[name] for name in _AIMS) / len(_AIMS)
