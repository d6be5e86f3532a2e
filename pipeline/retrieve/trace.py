"""The trace of a ranking: the findings of each step of a search, for later steps and for explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pipeline.records import Hit
from pipeline.retrieve.candidates import HYBRID_K, NO_CANDIDATES, Candidates
from pipeline.retrieve.chance import Chance
from pipeline.retrieve.filters.matches import Matches
from pipeline.retrieve.fusion import Ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.scoring.confidence import NamedEntity, confidence_in
from pipeline.retrieve.scoring.features import Features
from pipeline.retrieve.seeds import NO_SEEDS, Seeds

_NO_WALK = Ranked(Leg.GRAPH, {})
_NO_SCORES = Ranked(Leg.SCORER, {})
_NO_RANKING = Ranked("", {})


@dataclass(frozen=True, slots=True)
class RankingTrace:
    """A question and the findings of the steps so far. A step returns a new trace.

    ``vector`` is the question's embedding, empty unless a leg needs it. ``matches`` are the chunks that match its
    filter, None without one. ``chance`` is that of the corpus, None if nothing is scored or it can't be told.
    ``engine`` is the engine of the walk: "gds", "local", or "" without a walk. ``scores`` ranks candidates by their
    ``features``, and ``hits`` are these candidates, by id. ``ranking`` is the outcome, ``parts`` are the rankings that
    it fuses, each with its weight, and ``k`` is the constant of the fusion.
    """

    question: str
    vector: Sequence[float] = ()
    matches: Matches | None = None
    generation: int = 0
    candidates: Candidates = NO_CANDIDATES
    chance: Chance | None = None
    seeds: Seeds = NO_SEEDS
    walk: Ranked = _NO_WALK
    engine: str = ""
    features: Features | None = None
    scores: Ranked = _NO_SCORES
    hits: Mapping[str, Hit] = field(default_factory=dict)
    ranking: Ranked = _NO_RANKING
    parts: tuple[tuple[Ranked, float], ...] = ()
    k: float = HYBRID_K

    @property
    def names(self) -> tuple[NamedEntity, ...]:
        """The names in the question, each with its confidence."""
        return self.candidates.names

    @property
    def confidence(self) -> float:
        """The highest confidence in a name of the question, 0 without names."""
        return confidence_in(self.names)

    def ranked(self, ranking: Ranked) -> RankingTrace:
        """Return the trace with the outcome of a leg that fuses nothing."""
        return replace(self, ranking=ranking, parts=((ranking, 1.0),))

    def fused(self, ranking: Ranked, parts: Sequence[tuple[Ranked, float]], k: float) -> RankingTrace:
        """Return the trace with the outcome of a leg that fuses ``parts``, each with its weight."""
        return replace(self, ranking=ranking, parts=tuple(parts), k=k)
