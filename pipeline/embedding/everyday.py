"""Messages of everyday life, which few corpora are about: they tell what the cosines of a model mean.

Models differ in scale: texts that have nothing in common have cosines around 0.1 by some, around 0.7 by others. The
mean cosine of everyday messages to each other is a model's background; a cosine means what its place between the
background and 1 says.
"""

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from pipeline.embedding.embedder import Embedder
from pipeline.embedding.model_files import BUNDLED_MODEL
from pipeline.records import Vector
from pipeline.settings import Section
from pipeline.temporary import replacing

_Section = TypeVar("_Section", bound=Section)

_BUNDLED = 0.08
"""The background of the bundled model, in whose cosines all thresholds and weights are written."""

_DIGITS = 2
"""Decimals of a background: more would differ between processors, and tell nothing."""


@cache
def everyday_messages() -> tuple[str, ...]:
    """Return messages that few corpora are about."""
    return tuple(Path(__file__).with_name("everyday.txt").read_text(encoding="utf-8").splitlines())


@dataclass(frozen=True)
class Scale:
    """The cosines of a model, by its ``background``: that of the bundled model is the default.

    A model whose cosines are those of the bundled one, pressed together towards 1, is told by it what that is told.
    """

    background: float = _BUNDLED

    @cached_property
    def slope(self) -> float:
        """The difference of cosines of the bundled model that a difference of 1 stands for."""
        return (1 - _BUNDLED) / (1 - self.background)

    @cached_property
    def offset(self) -> float:
        """The cosine of the bundled model that 0 stands for; 0 for the bundled model itself."""
        return _BUNDLED - self.background * self.slope

    def bundled(self, cosine: float) -> float:
        """Return what a cosine of the model stands for: a cosine of the bundled model."""
        return cosine * self.slope + self.offset

    def cosine(self, bundled: float) -> float:
        """Return the cosine of the model that stands for one of the bundled model."""
        return (bundled - self.offset) / self.slope

    def applied(self, settings: _Section, *names: str) -> _Section:
        """Return settings with these cosines of the bundled model in the model's own scale."""
        return settings.model_copy(update={name: self.cosine(getattr(settings, name)) for name in names})


BUNDLED = Scale()
"""The scale of the bundled model."""


class Everyday:
    """The everyday messages by one model.

    Their vectors are made at first use, in 0.3 s, and kept in the folder ``everyday`` of ``home``.
    """

    def __init__(self, embedder: Embedder, home: Path) -> None:
        self._embedder, self._folder = embedder, home / "everyday"

    @cached_property
    def questions(self) -> Vector:
        """Their vectors as questions: unit vectors, shape (40, dimension)."""
        return self._vectors(f"questions {self._embedder.query_prefix}")

    @cached_property
    def scale(self) -> Scale:
        """The scale of the model's cosines between passages."""
        if self._embedder.name == BUNDLED_MODEL:
            return BUNDLED
        return Scale(background(self._vectors("passages")))

    def _vectors(self, kind: str) -> Vector:
        model = "\n".join((str(self._embedder.identity), kind, *everyday_messages()))
        file = self._folder / f"everyday-{hashlib.sha256(model.encode()).hexdigest()[:16]}.npy"
        with suppress(OSError, ValueError, EOFError):
            kept: Vector = np.load(file, allow_pickle=False)
            if kept.shape == (len(everyday_messages()), self._embedder.dimension) and kept.dtype == np.float32:
                return kept
        embed = self._embedder.embed_queries if kind.startswith("questions") else self._embedder.embed_passages
        vectors = embed(everyday_messages())
        with suppress(OSError):  # if the folder can't be written, the next process embeds them again
            self._folder.mkdir(parents=True, exist_ok=True)
            with replacing(file) as part, part.open("wb") as stream:
                np.save(stream, vectors)
        return vectors


def background(vectors: Vector) -> float:
    """Return the mean cosine between different rows, which are unit vectors: at least 0, below 1, to 2 decimals."""
    count = len(vectors)
    total = float(np.square(vectors.sum(axis=0, dtype=np.float64)).sum()) - count
    return min(max(round(total / (count * (count - 1)), _DIGITS), 0.0), 0.99)
