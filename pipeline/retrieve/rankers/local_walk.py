"""The local walk: personalised PageRank by power iteration over the neighbourhood of the seeds, in this process.

Its cost depends on the neighbourhood, not on the corpus, and it needs no GDS. If the neighbourhood is the whole graph,
it returns the ranking of GDS.
"""

from itertools import chain, islice

import numpy as np

from pipeline.db.pagerank import power_iteration
from pipeline.retrieve.expansion import Neighbourhood
from pipeline.retrieve.fusion import Ranked, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.seeds import Seeds
from pipeline.settings import WalkSettings


def rank_by_walk(neighbourhood: Neighbourhood, seeds: Seeds, settings: WalkSettings, limit: int) -> Ranked:
    """Rank the ``limit`` best chunks by the PageRank of a walk that restarts at ``seeds``."""
    sources, targets, weights = neighbourhood.edges(settings)
    restarts = {**seeds.chunks, **seeds.entities}
    index = {id_: place for place, id_ in enumerate(dict.fromkeys(chain(sources, targets, restarts)))}
    weight = np.array(weights, dtype=np.float64)
    linked = weight > 0
    ends = np.array([index[id_] for id_ in chain(sources, targets)], dtype=np.intp).reshape(2, -1)[:, linked]
    source, target = np.concatenate([ends, ends[::-1]], axis=1)
    both = np.concatenate([weight[linked], weight[linked]])
    restart = np.zeros(len(index))
    for id_, probability in restarts.items():
        restart[index[id_]] = probability
    scores = power_iteration(source, target, both, restart, damping=settings.damping, iterations=settings.iterations)
    ids = list(index)
    entities = neighbourhood.entities
    # So many of the best nodes include ``limit`` chunks, whichever of them are entities.
    reached = np.flatnonzero(scores)
    best = reached[np.argsort(-scores[reached], kind="stable")][: limit + len(entities) + len(seeds.entities)]
    nodes = ((ids[i], float(scores[i])) for i in best.tolist())
    chunks = ((id_, score) for id_, score in nodes if id_ not in entities and id_ not in seeds.entities)
    return ranked(Leg.GRAPH, dict(islice(chunks, limit)))
