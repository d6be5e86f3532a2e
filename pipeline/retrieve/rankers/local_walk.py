"""The local walk: personalised PageRank by power iteration over the neighbourhood of the seeds, in this process.

Its cost follows from the neighbourhood and not from the corpus, and it needs no GDS. On a neighbourhood that holds
the whole graph it gives what GDS gives.
"""

from __future__ import annotations

from itertools import chain, islice

import numpy as np

from pipeline.retrieve.expansion import Neighbourhood
from pipeline.retrieve.fusion import Ranked, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.seeds import Seeds
from pipeline.settings import WalkSettings


def rank_by_walk(neighbourhood: Neighbourhood, seeds: Seeds, settings: WalkSettings, limit: int) -> Ranked:
    """Rank the ``limit`` best chunks by how often a walk is there that restarts at ``seeds``."""
    sources, targets, weights = neighbourhood.edges(settings)
    restarts = {**seeds.chunks, **seeds.entities}
    index = {id_: place for place, id_ in enumerate(dict.fromkeys(chain(sources, targets, restarts)))}
    weight = np.array(weights, dtype=np.float64)
    there = weight > 0
    ends = np.array([index[id_] for id_ in chain(sources, targets)], dtype=np.intp).reshape(2, -1)[:, there]
    source, target = np.concatenate([ends, ends[::-1]], axis=1)
    both = np.concatenate([weight[there], weight[there]])
    share = both / np.bincount(source, both, len(index))[source]
    restart = np.zeros(len(index))
    for id_, of_it in restarts.items():
        restart[index[id_]] = of_it
    scores = restart.copy()
    for _ in range(settings.iterations):
        moved = np.bincount(target, share * scores[source], len(scores))
        scores = (1 - settings.damping) * restart + settings.damping * moved
    ids = list(index)
    entities = neighbourhood.entities
    # Enough of the first to hold ``limit`` chunks whatever the rest are.
    reached = np.flatnonzero(scores)
    best = reached[np.argsort(-scores[reached], kind="stable")][: limit + len(entities) + len(seeds.entities)]
    found = ((ids[i], float(scores[i])) for i in best.tolist())
    chunks = ((id_, score) for id_, score in found if id_ not in entities and id_ not in seeds.entities)
    return ranked(Leg.GRAPH, dict(islice(chunks, limit)))
