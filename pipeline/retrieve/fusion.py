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
    """A leg's ranking: ids from the best to the worst, each with the leg's own score."""

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
        """Return the ranking of the best ``limit`` alone."""
        return Ranked(self.leg, dict(islice(self.scores.items(), limit)))

    def ranks(self) -> dict[str, int]:
        """Return each id's rank, from 1."""
        return {id_: rank for rank, id_ in enumerate(self.scores, 1)}


def ranked(leg: str, scores: Mapping[str, float]) -> Ranked:
    """Order scores from the highest to the lowest, ties by id."""
    by_id = sorted(scores.items())
    return Ranked(leg, dict(sorted(by_id, key=itemgetter(1), reverse=True)))


def fuse(leg: str, rankings: Sequence[tuple[Ranked, float]], k: float) -> Ranked:
    """Fuse rankings, each with its weight: an id's score is the sum of weight / (k + rank) over those that hold it."""
    terms: dict[str, list[float]] = defaultdict(list)
    for ranking, weight in rankings:
        for rank, id_ in enumerate(ranking.scores, 1):
            terms[id_].append(weight / (k + rank))
    # An exact sum: ranks 1, 2, 3 and 3, 2, 1 tie, which the last bits of a running sum would not see.
    return ranked(leg, {id_: fsum(found) for id_, found in terms.items()})
