"""Which cosine makes a link: what each threshold would do to a corpus's graph, and the one that suits it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.errors import CorpusError
from pipeline.ingest.links.similar import SimilarPair, similar_pairs
from pipeline.records import Vector
from pipeline.settings import LinkSettings

_LOWEST, _HIGHEST, _STEP = 30, 95, 1
"""Hundredths of a cosine."""

_GIANT = 0.5
"""Share of the chunks: a component that holds more says that everything is like everything."""

_HUBS = 0.01
"""Share of the chunks, those with the most links, whose part in all links is the hub share; at least one chunk."""

_CHANCE = 3.09
"""Standard deviations above the middle, which one in a thousand normal values reaches."""

_DEVIATION = 1.4826
"""A normal distribution's standard deviation against its median absolute one, which few related pairs don't move."""

_PAIRS = 100_000


@dataclass(frozen=True, slots=True)
class Level:
    """The cosine links that there are at one threshold.

    ``degree`` is the mean number of links of a chunk, ``linked`` the share of chunks that have one, ``components``
    the number of groups of at least two chunks, ``largest`` the greatest one's share of all chunks, ``hub_share`` the
    share of all link ends that the hundredth of the chunks with the most links has.
    """

    threshold: float
    links: int
    degree: float
    linked: float
    components: int
    largest: float
    hub_share: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """What thresholds do to a corpus: levels from the highest to the lowest, the present and a suggested threshold.

    ``chance`` is the cosine that one in a thousand pairs of unrelated chunks reaches, taking most pairs for unrelated.
    """

    corpus: str
    chunks: int
    present: float
    suggested: float
    reason: str
    chance: float
    levels: tuple[Level, ...]

    def at(self, threshold: float) -> Level:
        """Return the level nearest to a threshold."""
        return min(self.levels, key=lambda level: abs(level.threshold - threshold))

    def to_json(self) -> dict[str, Any]:
        """Return the calibration as plain JSON values."""
        return asdict(self)


def calibrate(client: Client, corpus: Corpus, settings: LinkSettings) -> Calibration:
    """Measure what thresholds from 0.30 to 0.95 would do to a corpus, with the other settings as they are.

    Raises CorpusError if it has fewer than two chunks.
    """
    rows = sorted(
        client.stream("chunk_vectors", label=corpus.label, generation=corpus.generation), key=lambda row: str(row["id"])
    )
    if len(rows) < 2:
        raise CorpusError(f"The corpus {corpus.name!r} has {len(rows)} chunks.", "Ingest more before calibrating.")
    vectors: Vector = np.stack([np.asarray(row["vector"], dtype=np.float32) for row in rows])
    near = similar_pairs(
        vectors,
        top_k=settings.similar_top_k,
        threshold=_LOWEST / 100,
        hub_cap=settings.similar_hub_cap,
        exact_up_to=settings.exact_up_to,
    )
    levels = tuple(levels_of([one for one in near if one.linked], len(vectors)))
    chance = _chance(vectors)
    suggested, reason = suggest(levels, chance)
    return Calibration(corpus.name, len(vectors), settings.similar_threshold, suggested, reason, chance, levels)


def levels_of(links: Sequence[SimilarPair], chunks: int) -> Iterator[Level]:
    """Yield the level at each threshold, from the highest, where ``links`` are those of the lowest one.

    The links that a hub keeps are its best, so those of a higher threshold are among them.
    """
    groups = _Groups(chunks)
    degree = np.zeros(chunks, dtype=np.int64)
    best_first = sorted(links, key=lambda link: -link.score)
    taken = 0
    for hundredths in range(_HIGHEST, _LOWEST - 1, -_STEP):
        while taken < len(best_first) and best_first[taken].score >= hundredths / 100:
            link = best_first[taken]
            groups.join(link.source, link.target)
            degree[[link.source, link.target]] += 1
            taken += 1
        hubs = np.sort(degree)[::-1][: max(1, round(_HUBS * chunks))]
        yield Level(
            threshold=hundredths / 100,
            links=taken,
            degree=2 * taken / chunks,
            linked=float((degree > 0).mean()),
            components=groups.count,
            largest=groups.largest / chunks if taken else 0.0,
            hub_share=float(hubs.sum() / max(1, 2 * taken)),
        )


def suggest(levels: Sequence[Level], chance: float) -> tuple[float, str]:
    """Return the threshold that links most without linking everything, and why; ``levels`` from the highest."""
    apart = [level for level in levels if level.largest <= _GIANT]
    if not apart:
        return levels[0].threshold, (
            f"Even at {levels[0].threshold:.2f} one component holds {levels[0].largest:.0%} of the chunks: most are"
            " near copies of each other, and cosine links tell little."
        )
    meaningful = [level for level in apart if level.threshold >= chance] or apart[:1]
    chosen = meaningful[-1]
    said = (
        f"At {chosen.threshold:.2f}, {chosen.linked:.0%} of the chunks have a link, {chosen.degree:.1f} on average, and"
        f" the largest component holds {chosen.largest:.0%}."
    )
    below = next((level for level in levels if level.threshold < chosen.threshold), None)
    if below is None:
        return chosen.threshold, f"{said} No lower one was tried."
    if below.largest > _GIANT:
        return chosen.threshold, f"{said} At {below.threshold:.2f} one component would hold {below.largest:.0%}."
    return chosen.threshold, f"{said} One in a thousand unrelated pairs reaches {chance:.2f}."


def _chance(vectors: Vector) -> float:
    draw = np.random.default_rng(0)
    first, second = draw.integers(len(vectors), size=(2, _PAIRS))
    apart = first != second
    cosines = np.einsum("ij,ij->i", vectors[first[apart]], vectors[second[apart]])
    middle = np.median(cosines)
    return float(middle + _CHANCE * _DEVIATION * np.median(np.abs(cosines - middle)))


class _Groups:
    """Connected components, while links are added (union by size); ``count`` leaves out single chunks."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))
        self._size = [1] * size
        self.count = 0
        self.largest = 1

    def join(self, first: int, second: int) -> None:
        one, other = self._root(first), self._root(second)
        if one == other:
            return
        if self._size[one] < self._size[other]:
            one, other = other, one
        self.count += 1 - (self._size[one] > 1) - (self._size[other] > 1)
        self._parent[other] = one
        self._size[one] += self._size[other]
        self.largest = max(self.largest, self._size[one])

    def _root(self, place: int) -> int:
        while self._parent[place] != place:
            self._parent[place] = self._parent[self._parent[place]]
            place = self._parent[place]
        return place
