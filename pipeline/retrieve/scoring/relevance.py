"""Relevance: the calibrated probability that a hit is relevant, comparable between questions and between corpora.

It is the product of two logistic regressions. One says whether the corpus knows anything about the question, by the
best that was found: a cosine beyond what chance brings (:mod:`pipeline.retrieve.chance`), words and names. The other
says whether a hit is relevant if it does, by its own cosine, its rank, and the margin that the scorer gives it.
Relevant means that its document was judged so: what answers a question but was never judged counts as irrelevant.

``tests/benchmarks/bench_relevance.py`` fits the weights, and measures them on collections left out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline.errors import ConfigurationError, QuestionError
from pipeline.records import Hit, Reasons
from pipeline.retrieve.chance import Chance
from pipeline.retrieve.expansion import Neighbourhood
from pipeline.retrieve.fusion import Ranked
from pipeline.retrieve.scoring.confidence import NamedEntity, mentions_of
from pipeline.retrieve.scoring.coverage import Passage, terms_held, terms_of, words_by_term
from pipeline.settings import RelevanceSettings

_RANK_K = 5
"""The first hit counts 1/6, the tenth 1/15, as in the features of candidates."""


class QuestionSigns(NamedTuple):
    """The signs that a corpus knows about a question.

    ``meaning`` is the best cosine, in deviations beyond chance. ``words`` is the logarithm of 1 plus the best score of
    full text. ``names`` is the highest confidence in a name. ``share`` is the largest share of the question's words
    that one of the first hits holds.
    """

    meaning: float
    words: float
    names: float
    share: float


class HitSigns(NamedTuple):
    """The signs that a hit is relevant to a question that the corpus knows about.

    ``meaning`` is its cosine, in deviations beyond chance, ``rank`` its reciprocal rank, and ``margin`` the scorer's
    score beyond the mean of what it scored, 0 if it didn't score the hit.
    """

    meaning: float
    rank: float
    margin: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a search: its rankings by vector, by full text and by the scorer, empty if it has none.

    ``question`` is empty if a vector alone was asked for. ``confidence`` is the highest in a name. ``first`` are the
    hits whose words count for the question, and ``chance`` is that of the corpus, None if it can't be told. ``held``
    is the share of the question's words that a hit holds, by id, as far as it is known.
    """

    question: str
    vector: Ranked
    fulltext: Ranked
    scores: Ranked
    confidence: float
    first: Sequence[Hit]
    chance: Chance | None
    held: Mapping[str, float] = field(default_factory=dict)

    @property
    def by_meaning(self) -> bool:
        """True if cosines tell anything."""
        return bool(self.vector.scores) and self.chance is not None

    @property
    def by_words(self) -> bool:
        """True if words were searched for."""
        return bool(self.question and self.fulltext.leg)

    def of_question(self) -> QuestionSigns:
        """Return the signs that the corpus knows about the question."""
        shares = self._shares() if self.by_words else ()
        return QuestionSigns(
            meaning=self._beyond(max(self.vector.scores.values(), default=0.0)),
            words=math.log1p(max((0.0, *self.fulltext.scores.values()))),
            names=self.confidence,
            share=max(shares, default=0.0),
        )

    def of_hits(self, hits: Sequence[Hit]) -> list[HitSigns]:
        """Return the signs that each of the hits, best first, is relevant; one without a cosine gets the lowest."""
        least = min(self.vector.scores.values(), default=0.0)
        mean, _ = self.scores.moments
        return [
            HitSigns(
                meaning=self._beyond(self.vector.scores.get(hit.id, least)),
                rank=1 / (_RANK_K + rank),
                margin=self.scores.scores.get(hit.id, mean) - mean,
            )
            for rank, hit in enumerate(hits, 1)
        ]

    def _shares(self) -> list[float]:
        unread = [hit for hit in self.first if hit.id not in self.held]
        known = [self.held[hit.id] for hit in self.first if hit.id in self.held]
        return known + (shares_of_words(self.question, unread) if unread else [])

    def _beyond(self, cosine: float) -> float:
        return self.chance.beyond(cosine) if self.chance else 0.0


class RelevanceJudge:
    """Computes the relevance of hits by the weights of the settings.

    Raises ConfigurationError, naming it, if they weigh a sign that there isn't.
    """

    def __init__(self, settings: RelevanceSettings) -> None:
        self._tables: Mapping[str, Mapping[str, float]] = settings.model_dump()
        for name, weights in self._tables.items():
            signs = HitSigns._fields if name.startswith("hit") else QuestionSigns._fields
            if unknown := sorted(weights.keys() - {"intercept", *signs}):
                raise ConfigurationError(
                    f"[relevance.{name}] weighs {', '.join(unknown)}, which relevance doesn't know.",
                    f"Use intercept, {', '.join(signs)}.",
                )

    def judge(self, evidence: Evidence, hits: Sequence[Hit]) -> dict[str, float]:
        """Return the relevance of hits, best first, by id, 0 to 1; nothing if it can't be told.

        Then neither a vector nor full text was searched by, as by rank-bm25 alone, or the corpus's chance is unknown.
        """
        if not (evidence.by_meaning or evidence.by_words):
            return {}
        both = evidence.by_meaning and evidence.by_words
        kind = "_by_meaning" if evidence.by_meaning else "_by_words"
        known = self.probability(f"question{'' if both else kind}", evidence.of_question())
        table = f"hit{'' if both and evidence.scores.scores else kind}"
        of_hits = zip(hits, evidence.of_hits(hits), strict=True)
        return {hit.id: known * self.probability(table, signs) for hit, signs in of_hits}

    def probability(self, table: str, signs: QuestionSigns | HitSigns) -> float:
        """Return the probability that a table of the settings gives to signs."""
        weights = self._tables[table]
        by_name = zip(signs._fields, signs, strict=True)
        total = weights.get("intercept", 0.0) + math.fsum(weights.get(name, 0.0) * sign for name, sign in by_name)
        # Not 1 / (1 + exp(-total)), which overflows where weights are large.
        return (1 + math.tanh(total / 2)) / 2


def reasons_of(
    evidence: Evidence, hits: Sequence[Hit], names: Sequence[NamedEntity], around: Neighbourhood
) -> dict[str, Reasons]:
    """Return what speaks for each hit, by id; the words of the names that it mentions count as these."""
    words = words_by_term(evidence.question) if evidence.question else {}
    held = terms_held(list(words), _passages(hits))
    mentions = {name.name: mentions_of(name, around) for name in names}
    reasons = {}
    for hit, row, signs in zip(hits, held, evidence.of_hits(hits), strict=True):
        mentioned = tuple(name for name, chunks in mentions.items() if hit.id in chunks)
        of_names = {term for name in mentioned for term in terms_of(name)}
        other = (
            word for (term, word), is_held in zip(words.items(), row, strict=True) if is_held and term not in of_names
        )
        reasons[hit.id] = Reasons(mentioned, tuple(other), signs.meaning if evidence.by_meaning else None)
    return reasons


def _passages(hits: Sequence[Hit]) -> list[Passage]:
    return [Passage(hit.text, hit.title, hit.heading, hit.document) for hit in hits]


def shares_of_words(question: str, hits: Sequence[Hit]) -> list[float]:
    """Return the share of a question's words that each hit holds in its title, heading or text."""
    terms = terms_of(question)
    held = terms_held(terms, _passages(hits))
    shares: list[float] = held.mean(axis=1).tolist() if terms else [0.0] * len(hits)
    return shares


def check_relevance(least: float) -> float:
    """Return a least relevance as it is; raises QuestionError unless it is from 0 to 1."""
    if not 0 <= least <= 1:
        raise QuestionError(f"min_relevance is {least}.", "Give a relevance from 0 to 1.")
    return least
