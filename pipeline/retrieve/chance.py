"""Chance: how near a corpus comes to a question that it knows nothing about, measured on the corpus itself.

A cosine means different things in different models and corpora: in a large, varied corpus some chunk is near to
anything. So messages of everyday life (``everyday.txt``), which few corpora are about, are searched for too.
"""

import hashlib
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from pipeline.db.corpus import CorpusHandle
from pipeline.db.indexes import cosine_of
from pipeline.db.vectors import packed
from pipeline.embedding.embedder import Embedder
from pipeline.records import Vector
from pipeline.temporary import replacing

_LEAST_DEVIATION = 0.01
"""Least deviation of cosines: the chunks of a tiny corpus may differ less by accident. Chosen by hand; not measured."""

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


def chance_of(nearest: Iterable[float]) -> Chance | None:
    """Return the chance that the cosines of the nearest chunks show; None without any."""
    values = np.fromiter(nearest, dtype=np.float64)
    if not len(values):
        return None
    values = np.minimum(values, np.percentile(values, _COMMON, method="lower"))
    return Chance(float(values.mean()), max(float(values.std()), _LEAST_DEVIATION))


@cache
def everyday_messages() -> tuple[str, ...]:
    """Return messages that few corpora are about."""
    return tuple(Path(__file__).with_name("everyday.txt").read_text(encoding="utf-8").splitlines())


def everyday_vectors(embedder: Embedder, folder: Path) -> Vector:
    """Return the vectors of the everyday messages, kept in ``folder``: to embed them takes 0.3 s."""
    model = "\n".join((str(embedder.identity), *everyday_messages()))
    file = folder / f"everyday-{hashlib.sha256(model.encode()).hexdigest()[:16]}.npy"
    with suppress(OSError, ValueError, EOFError):
        kept: Vector = np.load(file, allow_pickle=False)
        if kept.shape == (len(everyday_messages()), embedder.dimension) and kept.dtype == np.float32:
            return kept
    vectors = embedder.embed_queries(everyday_messages())
    with suppress(OSError):  # if the folder can't be written, the next process embeds them again
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(file) as part, part.open("wb") as stream:
            np.save(stream, vectors)
    return vectors


class ChanceReader:
    """Measures the chance in a corpus at first use, and again when its size has changed. Thread-safe.

    ``probes`` returns the vectors of the everyday messages; without it there is no chance to tell.
    """

    def __init__(self, corpus: CorpusHandle, probes: Callable[[], Vector] | None) -> None:
        self._corpus, self._probes = corpus, probes
        self._chunks = 0
        self._chance: Chance | None = None
        self._lock = threading.Lock()

    def read(self, chunks: int) -> Chance | None:
        """Return the chance in a corpus of so many ``chunks``, 0 if they weren't counted; None if it can't be told."""
        with self._lock:
            if self._probes and (self._chance is None or not self._fits(chunks)):
                probes = list(map(packed, self._probes()))
                scores = [row["score"] for row in self._corpus.read("chance", probes=probes)]
                self._chance, self._chunks = chance_of(map(cosine_of, scores)), chunks
            return self._chance

    def _fits(self, chunks: int) -> bool:
        return not chunks or self._chunks / _GROWTH <= chunks <= self._chunks * _GROWTH
