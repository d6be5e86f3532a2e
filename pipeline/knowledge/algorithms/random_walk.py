"""Random walks with restart.

At each step a walker follows an edge, drawn by weight, or restarts at a seed, drawn by the seeds' weights. It restarts
with the restart probability, and always at a dead end. A node's score is its share of the visits. For infinitely long
walks the shares converge to personalised PageRank (Page et al., 1999; Tong, Faloutsos and Pan, 2006).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from pipeline.knowledge.records import Direction
from pipeline.knowledge.store.protocol import Store

_Distribution = tuple[list[str], npt.NDArray[np.float64]]
"""Node ids with their cumulative probabilities."""


def random_walks(
    store: Store,
    seeds: Mapping[str, float],
    *,
    steps: int,
    restart_prob: float,
    direction: Direction,
    seed: int,
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
        new = sorted(set(walkers) - transitions.keys())
        if new:
            fetched = store.steps(new, direction, None)
            transitions.update((node, _distribution(fetched.get(node, ()))) for node in new)
        restarts, numbers = generator.random((2, len(walkers))).tolist()
        walkers = [
            _draw(start if restart < restart_prob or not transitions[node][0] else transitions[node], number)
            for node, restart, number in zip(walkers, restarts, numbers, strict=True)
        ]
    total = sum(visits.values())
    return {node: count / total for node, count in sorted(visits.items(), key=lambda item: (-item[1], item[0]))}


def _distribution(weighted: Iterable[tuple[str, float]]) -> _Distribution:
    """Return the nodes with a weight above 0 and their cumulative probabilities."""
    positive = [(node, weight) for node, weight in weighted if weight > 0]
    cumulative = np.cumsum([weight for _, weight in positive])
    return [node for node, _ in positive], cumulative / cumulative[-1] if positive else cumulative


def _draw(distribution: _Distribution, number: float) -> str:
    """Return the node at ``number``, which is uniform in [0, 1)."""
    nodes, cumulative = distribution
    return nodes[int(np.searchsorted(cumulative, number, side="right"))]
