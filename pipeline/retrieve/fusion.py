"""Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), weighted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import fsum, sqrt
from operator import itemgetter


@dataclass(frozen=True)
class Ranked:
    """The ranking of a leg: ids from best to worst, each with the leg's own score."""

    leg: str
    scores: Mapping[str, float]

    @property
    def ids(self) -> list[str]:
        """The ids in order."""
        return list(self.scores)

    @cached_property
    def moments(self) -> tuple[float, float]:
        """The mean and the standard deviation of the scores; 0 without any."""
        # Not by numpy, which takes twice as long for a hundred scores.
        scores, count = self.scores.values(), max(len(self.scores), 1)
        mean = fsum(scores) / count
        return mean, sqrt(fsum((score - mean) ** 2 for score in scores) / count)

    def first(self, limit: int) -> Ranked:
        """Return the best ``limit`` of the ranking."""
        return Ranked(self.leg, dict(islice(self.scores.items(), limit)))

    def ranks(self) -> dict[str, int]:
        """Return the rank of each id, from 1."""
        return {id_: rank for rank, id_ in enumerate(self.scores, 1)}


def ranked(leg: str, scores: Mapping[str, float]) -> Ranked:
    """Order scores from highest to lowest, ties by id."""
    by_id = sorted(scores.items())
    return Ranked(leg, dict(sorted(by_id, key=itemgetter(1), reverse=True)))


def fuse(leg: str, rankings: Sequence[tuple[Ranked, float]], k: float) -> Ranked:
    """Fuse weighted rankings: the score of an id is the sum of weight / (k + rank) over the rankings that hold it."""
    if len(rankings) == 2:
        (one, weight), (other, others) = rankings
        sums = {id_: weight / (k + rank) for rank, id_ in enumerate(one.scores, 1)}
        for rank, id_ in enumerate(other.scores, 1):
            sums[id_] = sums.get(id_, 0.0) + others / (k + rank)
        return ranked(leg, sums)
    terms: dict[str, list[float]] = defaultdict(list)
    for ranking, weight in rankings:
        for rank, id_ in enumerate(ranking.scores, 1):
            terms[id_].append(weight / (k + rank))
    # An exact sum: ranks 1, 2, 3 and 3, 2, 1 must tie, but a running sum of three differs in its last bits.
    return ranked(leg, {id_: fsum(addends) for id_, addends in terms.items()})
