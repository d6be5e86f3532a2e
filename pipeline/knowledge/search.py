"""Rankings of a graph's nodes: by meaning and a walk from there, and by words, graph and meaning fused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum

from pipeline.errors import GraphError
from pipeline.knowledge.algorithms.random_walk import random_walks
from pipeline.knowledge.algorithms.traverse import within
from pipeline.knowledge.records import Direction, RankedNode
from pipeline.knowledge.store.protocol import Store
from pipeline.retrieve.fusion import Ranked, fuse, ranked

FUSE_K = 60
"""The k of reciprocal rank fusion; see pipeline.retrieve.fusion."""

_CANDIDATES = 50
"""Nodes at most that each ranking offers to a fusion, or that the graph is followed from."""


class Mode(StrEnum):
    """What a search goes by."""

    BM25 = "bm25"
    """words alone"""
    GRAPH = "graph"
    """what the best by words lead to, within some hops"""
    HYBRID = "hybrid"
    """both, fused"""
    VECTOR = "vector"
    """meaning alone"""
    ALL = "all"
    """words, graph and meaning, fused"""


def query(
    store: Store,
    vector: Sequence[float],
    *,
    top_k: int,
    random_walk_steps: int | None,
    restart_prob: float,
    direction: Direction,
    seed: int,
) -> list[RankedNode]:
    """Return the ``top_k`` nodes that a walk from the ``top_k`` most similar ones visits most.

    See :meth:`pipeline.knowledge.KnowledgeGraph.query`.
    """
    check_query(store, vector, top_k, random_walk_steps, restart_prob)
    similar = store.nearest(vector, top_k)
    seeds = {one: cosine for one, cosine in similar.items() if cosine > 0}
    if random_walk_steps is None:
        shares = store.pagerank(seeds, restart_prob, direction, top_k)
    else:
        shares = random_walks(
            store, seeds, steps=random_walk_steps, restart_prob=restart_prob, direction=direction, seed=seed
        )
    best = sorted(shares, key=lambda one: (-shares[one], -similar.get(one, 0.0), one))[:top_k]
    parts = {"walk": shares, "similarity": similar}
    return _with_nodes(store, {one: shares[one] for one in best}, parts)


def walk_from(
    store: Store, seeds: Mapping[str, float], top_k: int, restart_prob: float, direction: Direction
) -> list[RankedNode]:
    """Return the ``top_k`` nodes that endless walks from weighted seeds visit most.

    See :meth:`pipeline.knowledge.KnowledgeGraph.walk_from`.
    """
    check_top_k(top_k)
    check_restart(restart_prob)
    if not seeds or not all(0 <= weight < math.inf for weight in seeds.values()) or not any(seeds.values()):
        raise GraphError(f"The seeds' weights are {list(seeds.values())[:5]}.", "Give 0 or more, and not 0 to all.")
    shares = store.pagerank(seeds, restart_prob, direction, top_k)
    return _with_nodes(store, shares, {"walk": shares})


def search(
    store: Store,
    text: str,
    vector: Sequence[float] | None,
    *,
    mode: Mode,
    top_k: int,
    graph_hops: int,
    direction: Direction,
) -> list[RankedNode]:
    """Return the ``top_k`` nodes that a text finds; ``vector`` is its embedding, if meaning is to be asked.

    See :meth:`pipeline.knowledge.KnowledgeGraph.search`.
    """
    check_top_k(top_k)
    if graph_hops < 0:
        raise GraphError(f"graph_hops is {graph_hops}.", "Give 0 or more.")
    candidates = max(_CANDIDATES, top_k)
    rankings: dict[str, Ranked] = {}
    if vector is not None:
        rankings["vector"] = ranked("vector", store.nearest(vector, candidates))
    if mode is not Mode.VECTOR:
        words = store.matching(text, candidates)
        rankings["bm25"] = ranked("bm25", words)
        if mode is not Mode.BM25:
            rankings["graph"] = ranked("graph", _around(store, words, graph_hops, candidates, direction))
    chosen = [rankings[leg] for leg in _legs(mode) if leg in rankings]
    whole = chosen[0] if len(chosen) == 1 else fuse(mode, [(leg, 1.0) for leg in chosen], FUSE_K)
    return _with_nodes(store, whole.first(top_k).scores, {name: leg.scores for name, leg in rankings.items()})


def check_query(
    store: Store, vector: Sequence[float], top_k: int, random_walk_steps: int | None, restart_prob: float
) -> None:
    """Raise GraphError, naming the argument, unless a query with these can be answered."""
    check_top_k(top_k)
    if random_walk_steps is not None and random_walk_steps < 1:
        raise GraphError(
            f"random_walk_steps is {random_walk_steps}.", "Give 1 or more, or None for the limit of endless walks."
        )
    check_restart(restart_prob)
    dimension = store.dimension
    if dimension is not None and len(vector) != dimension:
        raise GraphError(
            f"The query has {len(vector)} numbers; the embeddings of {store.name!r} have {dimension}.",
            "Embed it with the model that embedded the nodes.",
        )
    if not 0 < math.hypot(*vector) < math.inf:
        raise GraphError("The query's vector is zero, or not finite.", "Embed it with the nodes' model.")


def check_restart(restart_prob: float) -> None:
    """Raise GraphError unless ``restart_prob`` is over 0 and at most 1."""
    if not 0 < restart_prob <= 1:
        raise GraphError(f"restart_prob is {restart_prob}.", "Give more than 0 and at most 1; 0.15 is usual.")


def check_top_k(top_k: int) -> None:
    """Raise GraphError if ``top_k`` is under 1."""
    if top_k < 1:
        raise GraphError(f"top_k is {top_k}.", "Ask for 1 node or more.")


def _around(store: Store, words: Mapping[str, float], hops: int, limit: int, direction: Direction) -> dict[str, float]:
    """Return what the best by words lead to; each of them begins with its share of the best one's BM25."""
    top = max(words.values(), default=1.0)
    starts = {one: score / top for one, score in words.items()}
    return {one: score for one, (_, score) in within(store, starts, hops, limit, direction, None, 0.5).items()}


def _legs(mode: Mode) -> tuple[str, ...]:
    return {
        Mode.BM25: ("bm25",),
        Mode.GRAPH: ("graph",),
        Mode.VECTOR: ("vector",),
        Mode.HYBRID: ("bm25", "graph"),
        Mode.ALL: ("bm25", "graph", "vector"),
    }[mode]


def _with_nodes(
    store: Store, scores: Mapping[str, float], parts: Mapping[str, Mapping[str, float]]
) -> list[RankedNode]:
    nodes = store.nodes(list(scores))
    return [
        RankedNode(nodes[one], score, {name: values[one] for name, values in parts.items() if one in values})
        for one, score in scores.items()
        if one in nodes
    ]
