"""The local walk: personalised PageRank by power iteration over the neighbourhood of the seeds, in this process.

Its cost follows from the neighbourhood and not from the corpus, and it needs no GDS. On a neighbourhood that holds
the whole graph it gives what GDS gives.
"""

from __future__ import annotations

from itertools import chain, islice

import numpy as np

from pipeline.retrieve.fuse import Ranked, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.neighbourhood import Neighbourhood
from pipeline.retrieve.seeds import Seeds
from pipeline.settings import WalkSettings


class LocalWalk:
    """A neighbourhood as arrays, to be walked from one set of seeds or more."""

    def __init__(self, neighbourhood: Neighbourhood, settings: WalkSettings) -> None:
        self._settings = settings
        self._index: dict[str, int] = {}
        index = self._index
        sources, targets, weights = neighbourhood.edges(settings)
        ends = np.array([index.setdefault(id_, len(index)) for id_ in chain(sources, targets)], dtype=np.intp)
        weight = np.array(weights, dtype=np.float64)
        there = weight > 0
        source, target = ends.reshape(2, -1)[:, there]
        self._source = np.concatenate([source, target])
        self._target = np.concatenate([target, source])
        both = np.concatenate([weight[there], weight[there]])
        leaving = np.bincount(self._source, both, len(index))
        self._share = both / leaving[self._source] if len(both) else both
        self._entities = neighbourhood.entities

    def rank(self, seeds: Seeds, limit: int) -> Ranked:
        """Rank the ``limit`` best chunks by how often a walk is there that restarts at ``seeds``."""
        weights = {**seeds.chunks, **seeds.entities}
        for id_ in weights:
            self._index.setdefault(id_, len(self._index))
        restart = np.zeros(len(self._index))
        for id_, weight in weights.items():
            restart[self._index[id_]] = weight
        damping = self._settings.damping
        scores = restart.copy()
        for _ in range(self._settings.iterations):
            moved = np.bincount(self._target, self._share * scores[self._source], len(scores))
            scores = (1 - damping) * restart + damping * moved
        ids = list(self._index)
        # Enough of the first to hold ``limit`` chunks whatever the rest are.
        reached = np.flatnonzero(scores)
        best = reached[np.argsort(-scores[reached], kind="stable")][: limit + len(self._entities) + len(seeds.entities)]
        found = ((ids[i], float(scores[i])) for i in best.tolist())
        chunks = ((id_, score) for id_, score in found if id_ not in self._entities and id_ not in seeds.entities)
        return ranked(Leg.GRAPH, dict(islice(chunks, limit)))
