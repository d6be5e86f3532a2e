"""Chance: how near a corpus comes to a question that it knows nothing about, measured on the corpus itself.

A cosine means different things in different models and corpora: in a large, varied corpus some chunk is near to
anything. So messages of everyday life (:mod:`pipeline.embedding.everyday`) are searched for too.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from pipeline.db.corpus import CorpusHandle
from pipeline.db.indexes import cosine_of
from pipeline.db.vectors import packed
from pipeline.embedding.everyday import BUNDLED, Everyday, Scale

_LEAST_DEVIATION = 0.01
"""Least deviation of cosines of the bundled model: the chunks of a tiny corpus may differ less by accident. Chosen by
hand; not measured."""

_COMMON = 75
"""Percentile of the messages that count fully, and those above it as much as it: a corpus of recipes, or of chats, does
know about some. Of 100, 90 and 75 the one by which a corpus of conversations loses fewest of its own passages."""

_GROWTH = 1.2
"""A corpus that grew or shrank by less is measured as it was: the best of N falls with the logarithm of N. Chosen by
hand; not measured."""


@dataclass(frozen=True, slots=True)
class Chance:
    """The mean and the standard deviation of the cosines of the chunks nearest to each everyday message.

    Of the messages that the corpus comes nearest to, the last quarter, both count what is least among them.
    """

    mean: float
    deviation: float

    def beyond(self, cosine: float) -> float:
        """Return how far a cosine is beyond the mean, in standard deviations."""
        return (cosine - self.mean) / self.deviation


def chance_of(nearest: Iterable[float], scale: Scale = BUNDLED) -> Chance | None:
    """Return the chance that the cosines of the nearest chunks, of that scale, show; None without any."""
    values = np.fromiter(nearest, dtype=np.float64)
    if not len(values):
        return None
    values = np.minimum(values, np.percentile(values, _COMMON, method="lower"))
    return Chance(float(values.mean()), max(float(values.std()), _LEAST_DEVIATION / scale.slope))


class ChanceReader:
    """Measures the chance in a corpus at first use, and again when its size has changed. Thread-safe.

    The corpus keeps what was measured, for whoever opens it next. Without ``everyday`` there is no chance to tell.
    """

    def __init__(self, corpus: CorpusHandle, everyday: Everyday | None) -> None:
        self._corpus, self._everyday = corpus, everyday
        kept = corpus.record.chance if everyday else ()
        self._chance = Chance(*kept[:2]) if kept else None
        self._chunks = int(kept[2]) if kept else 0
        self._lock = threading.Lock()

    def read(self, chunks: int) -> Chance | None:
        """Return the chance in a corpus of so many ``chunks``, 0 if they weren't counted; None if it can't be told."""
        with self._lock:
            if self._everyday and (self._chance is None or not self._fits(chunks)):
                probes = list(map(packed, self._everyday.questions))
                scores = [row["score"] for row in self._corpus.read("chance", probes=probes)]
                self._chance = chance_of(map(cosine_of, scores), self._everyday.scale)
                self._chunks = chunks
                if self._chance and chunks:
                    self._keep(self._chance)
            return self._chance

    def _keep(self, chance: Chance) -> None:
        """Let the corpus keep what was measured; who may only read measures it each time."""
        kept = [chance.mean, chance.deviation, float(self._chunks)]
        write = partial(self._corpus.write, "set_chance", chance=kept)
        self._corpus.client.in_background(f"chance of {self._corpus.id}", write)

    def _fits(self, chunks: int) -> bool:
        return not chunks or self._chunks / _GROWTH <= chunks <= self._chunks * _GROWTH
