"""Paired bootstrap: how far a mean difference over queries may be chance (Efron and Tibshirani, 1993, chapter 13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
LEVEL = 0.95
_AT_ONCE = 4_000_000
"""Draws held in memory together: about 32 MB."""

_Numbers: TypeAlias = npt.NDArray[np.float64]


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
    return pooled_interval([values], seed=seed)


def pooled_interval(groups: Sequence[Sequence[float]], *, seed: int = 0) -> Interval:
    """As :func:`mean_interval` of the mean over groups, each of which weighs the same and is drawn from by itself."""
    draw = np.random.default_rng(seed)
    means = sum((_resampled(np.asarray(group, dtype=np.float64), draw) for group in groups), np.zeros(RESAMPLES))
    low, high = np.percentile(means / len(groups), [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return Interval(float(np.mean([np.mean(group) for group in groups])), float(low), float(high))


def _resampled(sample: _Numbers, draw: np.random.Generator) -> _Numbers:
    """Return ``RESAMPLES`` means of as many values as ``sample`` has, drawn from it with repeats."""
    rows = max(1, _AT_ONCE // len(sample))
    sizes = [min(rows, RESAMPLES - start) for start in range(0, RESAMPLES, rows)]
    return np.concatenate([sample[draw.integers(len(sample), size=(size, len(sample)))].mean(axis=1) for size in sizes])
