"""Scores of different legs on one scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.retrieve.fusion import Ranked


def standard_scores(ids: Sequence[str], leg: Ranked) -> NDArray[np.float64]:
    """Return the scores that a leg gives to chunks, in standard deviations from the mean of all that it holds.

    A chunk that the leg leaves out is no better than the last that it holds. All are 0 where all of its scores are one.
    """
    mean, spread = leg.moments
    if spread == 0:
        return np.zeros(len(ids))
    least = min(leg.scores.values())
    return np.array([(leg.scores.get(id_, least) - mean) / spread for id_ in ids])
