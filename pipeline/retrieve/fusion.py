"""Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), weighted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import fsum
from operator import itemgetter


@dataclass(frozen=True, slots=True)
class Ranked:
    """A leg's ranking: ids from the best to the worst, each with the leg's own score."""

    leg: str
    scores: Mapping[str, float]

    @property
    def ids(self) -> list[str]:
        """The ids in order."""
        return list(self.scores)

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
