"""Random walks with restart: which nodes a walker visits who now and then returns to the seeds.

A walker at a node goes on along an edge, drawn by weight, or with the restart probability, and from a dead end
always, to a seed, drawn by the seeds' weights. The share of visits is what ranks; its limit for ever longer walks is
personalised PageRank (Page et al., 1999; Tong, Faloutsos and Pan, 2006).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from pipeline.knowledge.records import Direction
from pipeline.knowledge.store.protocol import Store

_Places = tuple[list[str], npt.NDArray[np.float64]]


def random_walks(
    store: Store,
    seeds: Mapping[str, float],
    *,
    steps: int,
    restart_prob: float,
    direction: Direction,
    seed: int,
) -> dict[str, float]:
    """Walk ``steps`` steps with as many walkers as there are seeds; return each visited node's share of all visits.

    The same ``seed`` on the same graph gives the same shares. The walkers step together, and ask for the steps of
    places that are new to them in one query: at most ``steps`` round trips.
    """
    if not seeds:
        return {}
    draw = np.random.default_rng(seed)
    start = _places(sorted(seeds.items()))
    known: dict[str, _Places] = {}
    visits: Counter[str] = Counter()
    walkers = [_drawn(start, number) for number in draw.random(len(seeds)).tolist()]
    for _ in range(steps):
        visits.update(walkers)
        new = sorted(set(walkers) - known.keys())
        if new:
            found = store.steps(new, direction, None)
            known.update((one, _places(found.get(one, ()))) for one in new)
        restarts, numbers = draw.random((2, len(walkers))).tolist()
        walkers = [
            _drawn(start if restart < restart_prob or not known[at][0] else known[at], number)
            for at, restart, number in zip(walkers, restarts, numbers, strict=True)
        ]
    total = sum(visits.values())
    return {one: count / total for one, count in sorted(visits.items(), key=lambda item: (-item[1], item[0]))}


def _places(weighted: Iterable[tuple[str, float]]) -> _Places:
    """Return places and their cumulated shares; those of weight 0 are never gone to."""
    found = [(one, weight) for one, weight in weighted if weight > 0]
    cumulated = np.cumsum([weight for _, weight in found])
    return [one for one, _ in found], cumulated / cumulated[-1] if found else cumulated


def _drawn(places: _Places, number: float) -> str:
    return places[0][int(np.searchsorted(places[1], number, side="right"))]
