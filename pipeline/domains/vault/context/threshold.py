"""The threshold of relevance: how relevant a note has to be to a message, measured on the vault itself.

A cosine means different things in different vaults: a note is always near to a message about its field, and in a large,
varied vault some note is near to anything. So messages of everyday life (``probes.txt``), which few vaults are about,
are asked of the vault, and the best note of a message has to be more relevant than what chance finds for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

DEVIATIONS = 2.25
"""Standard deviations above the mean. Chosen on ten collections: 95% of their own questions exceed this, and 1% of
thirty everyday messages, which are no probes."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least relevance that counts; ``mean`` and ``deviation`` are of the notes most relevant to each probe."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, chance: Sequence[float]) -> Threshold:
        """Return the threshold above what chance finds; ``chance`` is the relevance of the best note of each probe."""
        return cls(float(np.mean(chance)), float(np.std(chance)))

    @property
    def value(self) -> float:
        """The relevance that the best note of a message exceeds, if the vault knows anything of it."""
        return self.mean + DEVIATIONS * self.deviation

    @property
    def least(self) -> float:
        """The relevance that each note exceeds once the best one counts: half way from chance."""
        return (self.mean + self.value) / 2


@cache
def everyday_messages() -> tuple[str, ...]:
    """Return the probes: messages that few vaults are about."""
    return tuple(Path(__file__).with_name("probes.txt").read_text(encoding="utf-8").splitlines())
