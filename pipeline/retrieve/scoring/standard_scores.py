"""Standard scores: the scores of different legs on a common scale."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.retrieve.fusion import Ranked


def standard_scores(ids: Sequence[str], leg: Ranked) -> NDArray[np.float64]:
    """Return the scores of a leg for chunks, in standard deviations from the mean of its ranking.

    A chunk that the leg lacks gets its lowest score. If all its scores are equal, the result is 0.
    """
    mean, spread = leg.moments
    if spread == 0:
        return np.zeros(len(ids))
    least = min(leg.scores.values())
    return np.array([(leg.scores.get(id_, least) - mean) / spread for id_ in ids])
