"""Rankings of a graph's nodes: random walks from similar nodes, and full text, graph and vectors together."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pipeline.embedding.embedder import Embedder
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.errors import GraphError, UnknownNode
from pipeline.knowledge.records import Direction, RankedNode
from pipeline.knowledge.store.protocol import Store, in_order
from pipeline.knowledge.traverse import support
from pipeline.retrieve.fusion import fuse, ranked
from pipeline.retrieve.question import check_question

_Option = TypeVar("_Option", bound=StrEnum)

FUSE_K = 60
"""k of reciprocal rank fusion; see pipeline.retrieve.fusion."""

WEIGHT = 0.5
"""Weight of what the graph brings, beside full text relative to its best match: of 0.25, 0.5, 0.75 and 1, the one that
each of four collections gets if it is chosen on the other three. A further decay by hops gained nothing."""

_RESTART = 0.15  # PageRank's usual damping, 0.85
_CANDIDATES = 50
"""Minimum depth of each ranking, whatever ``top_k`` is: nodes to fuse, or to start from; by hand, not measured."""
_MOST_PASSING = 1000
"""Nodes whose edges a search reads for each hop: all but those of large graphs. Chosen by hand, not measured."""


class Mode(StrEnum):
    """The rankings that a search uses."""

    BM25 = "bm25"  # full text alone
    GRAPH = "graph"  # what the best full-text matches bring to the nodes around them
    HYBRID = "hybrid"  # ``bm25`` and ``graph``, summed
    VECTOR = "vector"  # cosine of the embeddings alone
    ALL = "all"  # ``hybrid`` and ``vector`` fused


class GraphRankings:
    """The rankings of :class:`pipeline.knowledge.KnowledgeGraph`: nodes best first, ties by id."""

    _store: Store
    _configured_embedder: Embedder | None

    @property
    def name(self) -> str:
        """Name of the graph or corpus."""
        return self._store.name

    @cached_property
    def _embedder(self) -> Embedder:
        return self._configured_embedder or SentenceTransformerEmbedder()

    def query(
        self,
        query: str | Sequence[float],
        top_k: int = 10,
        random_walk_steps: int | None = None,
        restart_prob: float = _RESTART,
        *,
        direction: Direction | str = Direction.BOTH,
        seed: int = 0,
    ) -> list[RankedNode]:
        """Return nodes ranked by similarity and centrality, best first.

        ``query`` is a vector or a text to embed. Random walks start at the ``top_k`` most similar nodes and restart
        with ``restart_prob``; a node's score is its share of the visits of infinitely long walks, personalised
        PageRank, which takes one query. With ``random_walk_steps`` it is that in so many steps per walker, each of
        which may take a query; ``seed`` makes these walks repeatable. A result's ``parts`` are ``walk`` and, for a
        seed, ``similarity``.
        """
        vector = self._embedded(query) if isinstance(query, str) else query
        followed, steps = direction_of(direction), random_walk_steps
        check_top_k(top_k)
        if steps is not None and steps < 1:
            fix = "Give 1 or more, or None for the limit of endless walks."
            raise GraphError(f"random_walk_steps is {steps}.", fix)
        _check_restart(restart_prob)
        _check_vector(self._store, vector)
        similar = self._store.nearest(vector, top_k)
        seeds = {node_id: cosine for node_id, cosine in similar.items() if cosine > 0}
        if steps is None:
            shares = self._store.pagerank(seeds, restart_prob, followed, top_k)
        else:
            shares = random_walks(
                self._store, seeds, steps=steps, restart_prob=restart_prob, direction=followed, seed=seed
            )
        best = sorted(shares, key=lambda node_id: (-shares[node_id], -similar.get(node_id, 0.0), node_id))[:top_k]
        scores = {node_id: shares[node_id] for node_id in best}
        return _with_nodes(self._store, scores, walk=shares, similarity=similar)

    def nearest(self, vector: Sequence[float], top_k: int = 10) -> list[RankedNode]:
        """Return the ``top_k`` nodes whose embeddings are nearest to a vector; a score is the cosine.

        Raises GraphError if the vector has another length than the embeddings, or is zero.
        """
        check_top_k(top_k)
        _check_vector(self._store, vector)
        similar = self._store.nearest(vector, top_k)
        return _with_nodes(self._store, similar, similarity=similar)

    def walk_from(
        self,
        seeds: Mapping[str, float],
        top_k: int = 10,
        restart_prob: float = _RESTART,
        *,
        direction: Direction | str = Direction.BOTH,
    ) -> list[RankedNode]:
        """Return the nodes with the highest personalised PageRank; ``seeds`` are restart weights by node id."""
        self._require(*seeds)
        followed = direction_of(direction)
        check_top_k(top_k)
        _check_restart(restart_prob)
        if not seeds or not all(0 <= weight < math.inf for weight in seeds.values()) or not any(seeds.values()):
            raise GraphError(f"The seeds' weights are {list(seeds.values())[:5]}.", "Give 0 or more, and not 0 to all.")
        shares = self._store.pagerank(seeds, restart_prob, followed, top_k)
        return _with_nodes(self._store, shares, walk=shares)

    def search(
        self,
        text: str,
        top_k: int = 10,
        *,
        mode: Mode | str = Mode.HYBRID,
        graph_hops: int = 2,
        direction: Direction | str = Direction.BOTH,
    ) -> list[RankedNode]:
        """Return the nodes that match a text, best first.

        ``mode`` is one of

        - ``bm25``: full text;
        - ``graph``: what the best matches of full text bring to the nodes within ``graph_hops``. What several bring
          adds up, as in a random walk; no match brings anything to itself;
        - ``hybrid``: the sum of ``bm25``, relative to the best match, and half of ``graph``;
        - ``vector``: cosine of the embeddings;
        - ``all``: ``hybrid``, counted twice, and ``vector``, fused by reciprocal rank.

        A result's ``parts`` are its scores by ``bm25``, ``graph`` and ``vector``, as far as these have it.
        """
        store, question, chosen = self._store, check_question(text), member(Mode, mode, "mode")
        vector = self._embedded(question) if chosen in (Mode.VECTOR, Mode.ALL) else None
        followed = direction_of(direction)
        check_top_k(top_k)
        if graph_hops < 0:
            raise GraphError(f"graph_hops is {graph_hops}.", "Give 0 or more.")
        candidates = max(_CANDIDATES, top_k)
        parts: dict[str, Mapping[str, float]] = {}
        if vector is not None:
            parts[Mode.VECTOR] = store.nearest(vector, candidates)
        if chosen is not Mode.VECTOR:
            parts[Mode.BM25] = store.matching(question, candidates)
        if chosen not in (Mode.VECTOR, Mode.BM25):
            starts = _relative(parts[Mode.BM25])
            parts[Mode.GRAPH] = support(store, starts, graph_hops, _MOST_PASSING, followed)
        best = in_order(_fused(chosen, parts), top_k)
        return _with_nodes(store, best, **{str(name): scores for name, scores in parts.items()})

    def importance(self, top_k: int = 100, *, direction: Direction | str = Direction.BOTH) -> dict[str, float]:
        """Return the ``top_k`` nodes with the highest PageRank, best first, as shares of the graph's total."""
        check_top_k(top_k)
        return dict(self._store.pagerank(None, _RESTART, direction_of(direction), top_k))

    def _embedded(self, text: str) -> Sequence[float]:
        question = check_question(text)
        if self._store.dimension is None:
            raise GraphError(
                f"No node of {self.name!r} has an embedding.", "Add embeddings, or search by words: mode='bm25'."
            )
        if self._embedder.dimension != self._store.dimension:
            raise GraphError(
                f"The embedder {self._embedder.name} makes {self._embedder.dimension} numbers; the embeddings of "
                f"{self.name!r} have {self._store.dimension}.",
                "Give the graph the embedder that its nodes were embedded with, or query by a vector.",
            )
        return self._embedder.embed_query(question)

    def _require(self, *node_ids: str) -> None:
        nodes = self._store.nodes(node_ids)
        for node_id in node_ids:
            if node_id not in nodes:
                raise UnknownNode(
                    f"The graph {self.name!r} has no node {node_id[:80]!r}.", "Look for it with search, or add it."
                )


def _fused(mode: Mode, parts: Mapping[str, Mapping[str, float]]) -> Mapping[str, float]:
    """Return the scores by a mode, of the scores by its parts."""
    if mode in parts:
        return parts[mode]
    hybrid = _relative(parts[Mode.BM25])
    for node_id, score in parts[Mode.GRAPH].items():
        hybrid[node_id] = hybrid.get(node_id, 0.0) + WEIGHT * score
    if mode is Mode.HYBRID:
        return hybrid
    # Hybrid counts twice, for full text and for the graph: by this, each of the three has the same say.
    legs = [(ranked(Mode.HYBRID, hybrid), 2.0), (ranked(Mode.VECTOR, parts[Mode.VECTOR]), 1.0)]
    return fuse(mode, legs, FUSE_K).scores


def _relative(scores: Mapping[str, float]) -> dict[str, float]:
    """Return the scores as shares of the highest."""
    top = max(scores.values(), default=1.0)
    return {node_id: score / top for node_id, score in scores.items()}


def check_top_k(top_k: int) -> None:
    """Raise GraphError if ``top_k`` is below 1."""
    if top_k < 1:
        raise GraphError(f"top_k is {top_k}.", "Ask for 1 node or more.")


def direction_of(direction: Direction | str) -> Direction:
    """Return a direction by its name; raises GraphError if it is none."""
    return member(Direction, direction, "direction")


def member(options: type[_Option], value: _Option | str, name: str) -> _Option:
    """Return an option by its name; raises GraphError, listing all, if ``value`` is none."""
    try:
        return options(value)
    except ValueError:
        raise GraphError(f"{name} is {value!r}.", f"Use one of {', '.join(options)}.") from None


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
