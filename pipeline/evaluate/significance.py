"""Confidence intervals by bootstrap over queries (Efron and Tibshirani, 1993, chapter 13), paired tests, verdicts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pipeline.json_values import JsonRecord

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


def paired_p(differences: Sequence[float], *, seed: int = 0) -> float:
    """Return the two-sided p-value of paired differences by the randomisation test (Smucker, Allan, Carterette, 2007).

    It flips the signs of the differences: all ways where these are few, else a sample of them.
    """
    values = np.asarray([value for value in differences if abs(value) > TIE], dtype=np.float64)
    if len(values) < 2:  # either sign is as likely
        return 1.0
    from scipy.stats import permutation_test

    test = permutation_test(
        (values,),
        np.sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=_RESAMPLES,
        batch=max(1, _DRAWS_AT_ONCE // len(values)),
        rng=np.random.default_rng(seed),
    )
    return float(min(test.pvalue, 1.0))


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for being several, in their order, by the step-down method of Holm (1979)."""
    corrected, least = [0.0] * len(values), 0.0
    for place, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        least = max(least, min(1.0, (len(values) - place) * values[index]))
        corrected[index] = least
    return corrected


def _mean_of_means(*samples: Any, axis: int = -1) -> Any:
    return sum(sample.mean(axis=axis) for sample in samples) / len(samples)


_LEAST_CHANGED = 6
"""Fewest values other than 0 that show a difference: of five, all have the same sign by chance in 1 of 16 cases."""

_WORTH_SEEING = 0.02  # the least difference that a verdict asks more questions for; chosen by hand
_POWER = 1.96 + 0.84  # of a two-sided test at 5% that finds the difference in 80% of cases (Cohen, 1988)


@dataclass(frozen=True, slots=True)
class Verdict(JsonRecord):
    """A verdict on paired differences of a measure over ``questions``; differences are fractions of 1.

    ``answer`` is "helps", "hurts" or "unknown". ``changed`` counts the differences other than 0. About ``needed``
    questions would show a difference of ``shows``, as far as these ones differ; None if none of them changed.
    """

    answer: Literal["helps", "hurts", "unknown"]
    measure: str
    questions: int
    changed: int
    difference: Interval
    shows: float
    needed: int | None

    @property
    def sentence(self) -> str:
        """The verdict in plain words, with differences in points of percent."""
        mean, low, high = (100 * value for value in (self.difference.mean, self.difference.low, self.difference.high))
        unknown = f"Can't be told from {self.questions:,} questions"
        if not self.changed:
            return f"{unknown}: {self.measure} is the same on all that were left out."
        measured = f"{self.measure} {mean:+.1f} points on questions left out (95% interval {low:+.1f} to {high:+.1f}"
        if self.answer != "unknown":
            return f"{self.answer.capitalize()}: {measured}; {self.questions:,} questions)."
        more = f"About {self.needed:,} would show a difference of {100 * self.shows:.1f}."
        if self.needed is not None and self.needed <= self.questions:
            more = f"A difference of {100 * self.shows:.1f} would have shown."
        return f"{unknown}: {measured}; {self.changed:,} changed). {more}"


def verdict(measure: str, groups: Sequence[Sequence[float]]) -> Verdict:
    """Judge the paired differences of a measure by question, in groups that weigh the same.

    It helps or hurts if the interval of the mean excludes 0, and enough questions changed at all.
    """
    values = np.concatenate([np.asarray(group, dtype=np.float64) for group in groups])
    difference, changed = pooled_interval(groups), int((abs(values) > TIE).sum())
    shows = max(abs(difference.mean), _WORTH_SEEING)
    needed = max(math.ceil((_POWER * float(values.std()) / shows) ** 2 - TIE), 1) if changed else None
    if needed is not None and changed < _LEAST_CHANGED and shows > _WORTH_SEEING:
        needed = max(needed, math.ceil(len(values) * _LEAST_CHANGED / changed))
    answer: Literal["helps", "hurts", "unknown"] = "unknown"
    if changed >= _LEAST_CHANGED and not difference.is_noise:
        answer = "helps" if difference.mean > 0 else "hurts"
    return Verdict(answer, measure, len(values), changed, difference, shows, needed)
