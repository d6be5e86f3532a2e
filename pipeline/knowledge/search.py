"""Rankings of a graph's nodes: random walks from similar nodes, and full text, graph and vectors fused."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from pipeline.errors import GraphError
from pipeline.knowledge.records import Direction, RankedNode
from pipeline.knowledge.store.protocol import Store, in_order
from pipeline.knowledge.traverse import expand
from pipeline.retrieve.fusion import Ranked, fuse, ranked

FUSE_K = 60
"""k of reciprocal rank fusion; see pipeline.retrieve.fusion."""

_DECAY = 0.5  # of the score, for each edge away from a full-text match; chosen by hand, not measured
_CANDIDATES = 50
"""Minimum depth of each ranking, whatever ``top_k`` is: nodes to fuse, or to expand; by hand, not measured."""


class Mode(StrEnum):
    """The rankings that a search uses."""

    BM25 = "bm25"  # full text alone
    GRAPH = "graph"  # nodes within some hops of the best full-text matches
    HYBRID = "hybrid"  # ``bm25`` and ``graph`` fused
    VECTOR = "vector"  # cosine of the embeddings alone
    ALL = "all"  # ``bm25``, ``graph`` and ``vector`` fused


_LEGS = {
    Mode.BM25: ("bm25",),
    Mode.GRAPH: ("graph",),
    Mode.VECTOR: ("vector",),
    Mode.HYBRID: ("bm25", "graph"),
    Mode.ALL: ("bm25", "graph", "vector"),
}


def query(
    store: Store,
    vector: Sequence[float],
    top_k: int,
    steps: int | None,
    restart: float,
    direction: Direction,
    seed: int,
) -> list[RankedNode]:
    """Return the best nodes of random walks, ties by similarity, then id; see ``KnowledgeGraph.query``."""
    check_top_k(top_k)
    if steps is not None and steps < 1:
        raise GraphError(f"random_walk_steps is {steps}.", "Give 1 or more, or None for the limit of endless walks.")
    _check_restart(restart)
    _check_vector(store, vector)
    similar = store.nearest(vector, top_k)
    seeds = {node_id: cosine for node_id, cosine in similar.items() if cosine > 0}
    if steps is None:
        shares = store.pagerank(seeds, restart, direction, top_k)
    else:
        shares = random_walks(store, seeds, steps=steps, restart_prob=restart, direction=direction, seed=seed)
    best = sorted(shares, key=lambda node_id: (-shares[node_id], -similar.get(node_id, 0.0), node_id))[:top_k]
    return _with_nodes(store, {node_id: shares[node_id] for node_id in best}, walk=shares, similarity=similar)


def nearest(store: Store, vector: Sequence[float], top_k: int) -> list[RankedNode]:
    """Return the nodes nearest to a vector; see ``KnowledgeGraph.nearest``."""
    check_top_k(top_k)
    _check_vector(store, vector)
    similar = store.nearest(vector, top_k)
    return _with_nodes(store, similar, similarity=similar)


def walk_from(
    store: Store, seeds: Mapping[str, float], top_k: int, restart_prob: float, direction: Direction
) -> list[RankedNode]:
    """Return the nodes of the highest PageRank; see ``KnowledgeGraph.walk_from``."""
    check_top_k(top_k)
    _check_restart(restart_prob)
    if not seeds or not all(0 <= weight < math.inf for weight in seeds.values()) or not any(seeds.values()):
        raise GraphError(f"The seeds' weights are {list(seeds.values())[:5]}.", "Give 0 or more, and not 0 to all.")
    shares = store.pagerank(seeds, restart_prob, direction, top_k)
    return _with_nodes(store, shares, walk=shares)


def search(
    store: Store,
    text: str,
    vector: Sequence[float] | None,
    mode: Mode,
    top_k: int,
    graph_hops: int,
    direction: Direction,
) -> list[RankedNode]:
    """Return the nodes that match a text; ``vector`` is its embedding, for modes that use one."""
    check_top_k(top_k)
    if graph_hops < 0:
        raise GraphError(f"graph_hops is {graph_hops}.", "Give 0 or more.")
    candidates = max(_CANDIDATES, top_k)
    rankings: dict[str, Ranked] = {}
    if vector is not None:
        rankings["vector"] = ranked("vector", store.nearest(vector, candidates))
    if mode is not Mode.VECTOR:
        matches = store.matching(text, candidates)
        rankings["bm25"] = ranked("bm25", matches)
        if mode is not Mode.BM25:
            top = max(matches.values(), default=1.0)
            starts = {node_id: score / top for node_id, score in matches.items()}
            reached = expand(store, starts, graph_hops, candidates, direction, None, _DECAY)
            rankings["graph"] = ranked("graph", {node_id: score for node_id, (_, score) in reached.items()})
    chosen = [rankings[leg] for leg in _LEGS[mode] if leg in rankings]
    fused = chosen[0] if len(chosen) == 1 else fuse(mode, [(leg, 1.0) for leg in chosen], FUSE_K)
    return _with_nodes(store, fused.first(top_k).scores, **{name: leg.scores for name, leg in rankings.items()})


def check_top_k(top_k: int) -> None:
    """Raise GraphError if ``top_k`` is below 1."""
    if top_k < 1:
        raise GraphError(f"top_k is {top_k}.", "Ask for 1 node or more.")


def _check_restart(restart_prob: float) -> None:
    if not 0 < restart_prob <= 1:
        raise GraphError(f"restart_prob is {restart_prob}.", "Give more than 0 and at most 1; 0.15 is usual.")


def _check_vector(store: Store, vector: Sequence[float]) -> None:
    dimension = store.dimension
    if dimension is not None and len(vector) != dimension:
        raise GraphError(
            f"The query has {len(vector)} numbers; the embeddings of {store.name!r} have {dimension}.",
            "Embed it with the model that embedded the nodes.",
        )
    if not 0 < math.hypot(*vector) < math.inf:
        raise GraphError("The query's vector is zero, or not finite.", "Embed it with the nodes' model.")


def _with_nodes(store: Store, scores: Mapping[str, float], **parts: Mapping[str, float]) -> list[RankedNode]:
    nodes = store.nodes(list(scores))
    return [
        RankedNode(nodes[node_id], score, {name: part[node_id] for name, part in parts.items() if node_id in part})
        for node_id, score in scores.items()
        if node_id in nodes
    ]


_Distribution = tuple[list[str], npt.NDArray[np.float64]]  # node ids with their cumulative probabilities


def random_walks(
    store: Store, seeds: Mapping[str, float], *, steps: int, restart_prob: float, direction: Direction, seed: int
) -> dict[str, float]:
    """Walk ``steps`` steps with one walker per seed; return each visited node's share of all visits, best first.

    The same ``seed`` on the same graph gives the same shares. The walkers step together and fetch the steps of all new
    nodes in one query: at most ``steps`` round trips.
    """
    if not seeds:
        return {}
    generator = np.random.default_rng(seed)
    start = _distribution(sorted(seeds.items()))
    transitions: dict[str, _Distribution] = {}
    visits: Counter[str] = Counter()
    walkers = [_draw(start, number) for number in generator.random(len(seeds)).tolist()]
    for _ in range(steps):
        visits.update(walkers)
        if new := sorted(set(walkers) - transitions.keys()):
            fetched = store.steps(new, direction, None)
            transitions.update((node, _distribution(fetched.get(node, ()))) for node in new)
        restarts, numbers = generator.random((2, len(walkers))).tolist()
        walkers = [
            _draw(start if restart < restart_prob or not transitions[node][0] else transitions[node], number)
            for node, restart, number in zip(walkers, restarts, numbers, strict=True)
        ]
    return in_order({node: count / visits.total() for node, count in visits.items()})


def _distribution(weighted: Iterable[tuple[str, float]]) -> _Distribution:
    """Return the nodes with a weight above 0 and their cumulative probabilities."""
    positive = [(node, weight) for node, weight in weighted if weight > 0]
    cumulative = np.cumsum([weight for _, weight in positive])
    return [node for node, _ in positive], cumulative / cumulative[-1] if positive else cumulative


def _draw(distribution: _Distribution, number: float) -> str:
    """Return the node at ``number``, which is uniform in [0, 1)."""
    nodes, cumulative = distribution
    return nodes[int(np.searchsorted(cumulative, number, side="right"))]
