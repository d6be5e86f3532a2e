"""PageRank of a graph: by GDS on a projection, or in this process over all edges."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from neo4j import Record

from pipeline.db.pagerank import power_iteration
from pipeline.knowledge.records import Direction
from pipeline.knowledge.store.protocol import in_order

VIEW = "view"
"""Kind of the projections that PageRank reads: one for each version of a graph and direction."""

_ITERATIONS = 500
_TOLERANCE = 1e-12


def read_pagerank(rows: list[Record], limit: int) -> Mapping[str, float]:
    """Return each score's share of the total by id, best first, ties by id.

    ``rows`` holds at most one row, with the lists ``ids`` and ``scores`` and the total ``mass``.
    """
    row = rows[0] if rows else None
    if row is None or not row["mass"]:
        return {}
    shares: dict[str, float] = {
        node: score / row["mass"] for node, score in zip(row["ids"], row["scores"], strict=True)
    }
    return dict(list(in_order(shares).items())[:limit])


def local_pagerank(
    node_ids: Iterable[str],
    edges: Iterable[tuple[str, str, float]],
    seeds: Mapping[str, float] | None,
    restart_prob: float,
    limit: int,
) -> Mapping[str, float]:
    """Return each node's share of the total by id, best first, ties by id, as GDS would at convergence.

    ``edges`` are source, target and weight, in the direction in which they are followed; both endpoints are among
    ``node_ids``. ``seeds`` are restart weights by id; with None every node has the same weight.
    """
    ids = sorted(node_ids)
    row = {node_id: place for place, node_id in enumerate(ids)}
    restart = np.array([1.0 if seeds is None else seeds.get(node_id, 0.0) for node_id in ids])
    if not restart.sum():
        return {}
    weighted = [(row[source], row[target], weight) for source, target, weight in edges if weight > 0]
    sources, targets = (np.array([edge[end] for edge in weighted], dtype=np.intp) for end in (0, 1))
    weights = np.array([weight for _, _, weight in weighted], dtype=np.float64)
    scores = power_iteration(
        sources,
        targets,
        weights,
        restart / restart.sum(),
        damping=1 - restart_prob,
        iterations=_ITERATIONS,
        tolerance=_TOLERANCE,
    )
    total = scores.sum()
    shares = {node_id: float(scores[place] / total) for place, node_id in enumerate(ids) if scores[place] > 0}
    return dict(list(in_order(shares).items())[:limit])


def followed(edges: Iterable[tuple[str, str, float, bool]], direction: Direction) -> Iterator[tuple[str, str, float]]:
    """Yield source, target and weight of each edge, in each direction in which it is followed.

    ``edges`` are source, target, weight and whether the edge is directed.
    """
    for source, target, weight, directed in edges:
        if not directed or direction is not Direction.IN or source == target:
            yield source, target, weight
        if source != target and (not directed or direction is not Direction.OUT):
            yield target, source, weight
