"""PageRank and communities of a graph: by GDS on a projection, or in this process over all edges.

A community is a group of nodes with more, or heavier, edges among each other than to the rest. The Leiden algorithm of
GDS (Traag, Waltman and van Eck, From Louvain to Leiden, 2019) finds them on the server, Louvain's (networkx; Blondel
and others, Fast unfolding of communities in large networks, 2008) in this process.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

import networkx as nx
import numpy as np
from neo4j import Record

from pipeline.db.pagerank import power_iteration
from pipeline.grouping import grouped
from pipeline.knowledge.records import Direction
from pipeline.knowledge.store.protocol import in_order

VIEW = "view"
"""Kind of the projections that PageRank reads: one for each version of a graph and direction."""

_ITERATIONS = 500  # above what the tolerance needs at any usual damping
_TOLERANCE = 1e-12  # reached within 170 iterations at the usual damping: 0.85 ** 170 is smaller


def gds_pagerank(
    read: Callable[..., list[Record]], query: str, seeds: Mapping[str, float] | None, restart_prob: float, limit: int
) -> Callable[[str], Mapping[str, float]]:
    """Return the function from a projection's name to each score's share of the total by id, best first, ties by id.

    ``query`` is run with ``seeds``, the restart weights by key; without any, every node has the same weight.
    """
    params: dict[str, object] = {"damping": 1 - restart_prob, "limit": limit}
    if seeds is not None:
        params["seeds"] = [{"key": key, "weight": weight} for key, weight in seeds.items()]

    def run(projection: str) -> Mapping[str, float]:
        rows = read("importance" if seeds is None else query, projection=projection, **params)
        if not rows or not (mass := rows[0]["mass"]):
            return {}
        scores = zip(rows[0]["ids"], rows[0]["scores"], strict=True)
        return in_order({node_id: score / mass for node_id, score in scores}, limit)

    return run


def local_pagerank(
    node_ids: Iterable[str],
    edges: Iterable[tuple[str, str, float]],
    seeds: Mapping[str, float] | None,
    restart_prob: float,
    limit: int,
) -> Mapping[str, float]:
    """Return each node's share of the total by id, best first, ties by id, as GDS would at convergence.

    ``edges`` are source, target and weight, as :func:`followed` returns them; both endpoints are among ``node_ids``.
    """
    ids = sorted(node_ids)
    row = {node_id: place for place, node_id in enumerate(ids)}
    restart = np.array([1.0 if seeds is None else seeds.get(node_id, 0.0) for node_id in ids])
    if not restart.sum():
        return {}
    weighted = [(row[source], row[target], weight) for source, target, weight in edges if weight > 0]
    sources, targets = (np.array([edge[end] for edge in weighted], dtype=np.intp) for end in (0, 1))
    scores = power_iteration(
        sources,
        targets,
        np.array([weight for _, _, weight in weighted], dtype=np.float64),
        restart / restart.sum(),
        damping=1 - restart_prob,
        iterations=_ITERATIONS,
        tolerance=_TOLERANCE,
    )
    total = scores.sum()
    shares = {node_id: float(scores[place] / total) for place, node_id in enumerate(ids) if scores[place] > 0}
    return in_order(shares, limit)


def followed(edges: Iterable[tuple[str, str, float, bool]], direction: Direction) -> Iterator[tuple[str, str, float]]:
    """Yield source, target and weight for each direction in which an edge (with ``directed``) is followed."""
    for source, target, weight, directed in edges:
        if not directed or direction is not Direction.IN or source == target:
            yield source, target, weight
        if source != target and (not directed or direction is not Direction.OUT):
            yield target, source, weight


def local_communities(
    node_ids: Iterable[str], edges: Iterable[tuple[str, str, float]], gamma: float, seed: int
) -> list[list[str]]:
    """Return the communities by Louvain's algorithm, in the order of :func:`ordered`.

    ``edges`` are source, target and weight. A resolution ``gamma`` above 1 makes smaller communities.
    """
    graph = nx.Graph()
    graph.add_nodes_from(sorted(node_ids))
    weights: dict[tuple[str, str], float] = defaultdict(float)
    for source, target, weight in edges:
        weights[min(source, target), max(source, target)] += weight
    graph.add_weighted_edges_from((*ends, weight) for ends, weight in sorted(weights.items()) if weight > 0)
    groups = nx.community.louvain_communities(graph, resolution=gamma, seed=seed)
    return ordered({node_id: number for number, group in enumerate(groups) for node_id in group})


def ordered(community_of: Mapping[str, Hashable]) -> list[list[str]]:
    """Return the ids of each community, sorted; the largest community first, ties by the first id."""
    groups = grouped((community_of[node_id], node_id) for node_id in sorted(community_of))
    return sorted(groups.values(), key=lambda group: (-len(group), group[0]))
