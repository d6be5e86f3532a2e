"""Confidence intervals of a mean over queries, by bootstrap (Efron and Tibshirani, 1993, chapter 13)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_RESAMPLES = 10_000  # scipy's default is 9,999
_LEVEL = 0.95  # the usual level
TIE = 1e-9
"""Values of a measure that differ by less are equal: the same sum in another order."""

_DRAWS_AT_ONCE = 4_000_000  # how many draws are held in memory together: about 64 MB with their values


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its percentile interval, of 95%."""

    mean: float
    low: float
    high: float

    @property
    def is_noise(self) -> bool:
        """Return whether the interval holds 0: the difference may be chance."""
        return self.low <= 0.0 <= self.high


def pooled_interval(groups: Sequence[Sequence[float]], *, seed: int = 0) -> Interval:
    """Return the mean of the groups' means and its interval when the values of each group are resampled.

    All groups weigh the same, and have a value each. The interval depends on the values and ``seed`` alone.
    """
    # Imported here: it takes half a second, and most commands need no interval.
    from scipy.stats import bootstrap

    # A single value is its own interval, but scipy takes no sample of one.
    samples = [np.repeat(group, 2) if len(group) == 1 else np.asarray(group, dtype=np.float64) for group in groups]
    interval = bootstrap(
        samples,
        _mean_of_means,
        n_resamples=_RESAMPLES,
        batch=max(1, _DRAWS_AT_ONCE // max(map(len, samples))),
        vectorized=True,
        confidence_level=_LEVEL,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    # Where all resamples are nearly equal, interpolation may round the two past each other.
    low, high = sorted((float(interval.low), float(interval.high)))
    return Interval(float(_mean_of_means(*samples)), low, high)


def _mean_of_means(*samples: Any, axis: int = -1) -> Any:
    return sum(sample.mean(axis=axis) for sample in samples) / len(samples)
