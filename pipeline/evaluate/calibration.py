"""Calibration of the cosine threshold: the graph that each threshold would give a corpus, and a suggested one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pipeline.db.corpus import CorpusHandle
from pipeline.errors import CorpusError
from pipeline.ingest.links.similar import SimilarPair, similar_pairs
from pipeline.json_values import JsonRecord
from pipeline.records import Vector
from pipeline.settings import LinkSettings

_LOWEST, _HIGHEST, _STEP = 30, 95, 1
"""Hundredths of a cosine. Chosen by hand; not measured."""

_GIANT = 0.5
"""Share of the chunks. A component that holds more means that the threshold links nearly everything. Chosen by hand."""

_HUBS = 0.01  # share of the chunks that count as hubs: those with the most links, and at least one
_CHANCE = 3.09  # standard deviations above the mean that one in a thousand normal values reaches

_DEVIATION = 1.4826
"""Ratio of a normal distribution's standard deviation to its median absolute deviation.

The median is used because the few related pairs hardly move it.
"""

_PAIRS = 100_000
"""Pairs that are drawn to estimate the cosines of unrelated chunks. Chosen by hand; not measured."""


@dataclass(frozen=True, slots=True)
class Level:
    """The cosine links at one threshold.

    ``degree`` is the mean number of links of a chunk, ``linked`` the share of chunks with a link, ``components`` the
    number of connected components of at least two chunks, ``largest`` the share of chunks in the largest of them,
    ``hub_share`` the share of link endpoints held by the 1% most-linked chunks.
    """

    threshold: float
    links: int
    degree: float
    linked: float
    components: int
    largest: float
    hub_share: float


@dataclass(frozen=True, slots=True)
class Calibration(JsonRecord):
    """The levels of a corpus from the highest threshold to the lowest, its present threshold and a suggested one.

    ``chance`` is the cosine that one in a thousand pairs of unrelated chunks reaches, if most pairs are unrelated.
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


def calibrate(corpus: CorpusHandle, settings: LinkSettings) -> Calibration:
    """Measure the links that thresholds from 0.30 to 0.95 would make in a corpus, with the other settings unchanged.

    Raises CorpusError if it has fewer than two chunks.
    """
    rows = sorted(corpus.stream("chunk_vectors"), key=lambda row: str(row["id"]))
    if len(rows) < 2:
        raise CorpusError(f"The corpus {corpus.name!r} has {len(rows)} chunks.", "Ingest more before calibrating.")
    vectors: Vector = np.stack([np.asarray(row["vector"], dtype=np.float32) for row in rows])
    near = similar_pairs(
        vectors,
        top_k=settings.similar_top_k,
        threshold=_LOWEST / 100,
        degree_limit=settings.similar_hub_cap,
        exact_up_to=settings.exact_up_to,
    )
    levels = tuple(levels_of([one for one in near if one.linked], len(vectors)))
    first, second = np.random.default_rng(0).integers(len(vectors), size=(2, _PAIRS))
    apart = first != second
    cosines = np.einsum("ij,ij->i", vectors[first[apart]], vectors[second[apart]])
    middle = np.median(cosines)
    chance = float(middle + _CHANCE * _DEVIATION * np.median(np.abs(cosines - middle)))
    suggested, reason = suggest(levels, chance)
    return Calibration(corpus.name, len(vectors), settings.threshold, suggested, reason, chance, levels)


def levels_of(links: Sequence[SimilarPair], chunks: int) -> Iterator[Level]:
    """Yield the level at each threshold, from the highest; ``links`` are those of the lowest threshold.

    A hub keeps its best links, so the links of a higher threshold are among those of a lower one.
    """
    best_first = sorted(links, key=lambda link: -link.score)
    scores = np.array([link.score for link in best_first])
    ends = np.array([(link.source, link.target) for link in best_first], dtype=np.int64).reshape(-1, 2)
    component = np.arange(chunks)
    taken = 0
    for hundredths in range(_HIGHEST, _LOWEST - 1, -_STEP):
        before, taken = taken, int(np.searchsorted(-scores, -hundredths / 100, side="right"))
        if before < taken:
            source, target = component[ends[before:taken]].T
            links_added = coo_array((np.ones(len(source), dtype=bool), (source, target)), shape=(chunks, chunks))
            component = connected_components(links_added, directed=False)[1][component]
        sizes = np.bincount(component)
        degree = np.bincount(ends[:taken].ravel(), minlength=chunks)
        hubs = np.sort(degree)[::-1][: max(1, round(_HUBS * chunks))]
        yield Level(
            threshold=hundredths / 100,
            links=taken,
            degree=2 * taken / chunks,
            linked=float((degree > 0).mean()),
            components=int((sizes > 1).sum()),
            largest=float(sizes.max() / chunks) if taken else 0.0,
            hub_share=float(hubs.sum() / max(1, 2 * taken)),
        )


def suggest(levels: Sequence[Level], chance: float) -> tuple[float, str]:
    """Return the lowest threshold that links related chunks only, and the reason; ``levels`` from the highest."""
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
