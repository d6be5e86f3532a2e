"""Paired bootstrap: how far a mean difference over queries may be chance (Efron and Tibshirani, 1993, chapter 13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
LEVEL = 0.95
_AT_ONCE = 4_000_000
"""Draws held in memory together: about 32 MB."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its percentile interval, of ``LEVEL``."""

    mean: float
    low: float
    high: float

    @property
    def is_noise(self) -> bool:
        """Whether the interval holds 0: the difference may be chance."""
        return self.low <= 0.0 <= self.high


def mean_interval(values: Sequence[float], *, seed: int = 0) -> Interval:
    """Return the mean of ``values``, at least one, and the interval that it has when queries are drawn anew.

    The same values give the same interval: the draws are those of ``seed``.
    """
    sample = np.asarray(values, dtype=np.float64)
    draw = np.random.default_rng(seed)
    rows = max(1, _AT_ONCE // len(sample))
    means = np.concatenate(
        [
            sample[draw.integers(len(sample), size=(min(rows, RESAMPLES - start), len(sample)))].mean(axis=1)
            for start in range(0, RESAMPLES, rows)
        ]
    )
    low, high = np.percentile(means, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return Interval(float(sample.mean()), float(low), float(high))
