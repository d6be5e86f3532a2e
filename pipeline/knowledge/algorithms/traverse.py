"""Ways through a graph by hops: paths of fewest edges, and what is within some hops; over any kind of graph.

Each hop asks the server for all of its frontier's steps at once, so a way of n hops costs about n round trips, and
the nodes of a large graph that a way doesn't come near are never read.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pipeline.knowledge.records import Direction
from pipeline.knowledge.store.protocol import Steps, Store

Types: TypeAlias = Sequence[str] | None


def reverse(direction: Direction) -> Direction:
    """Return the direction that leads back."""
    return {Direction.OUT: Direction.IN, Direction.IN: Direction.OUT}.get(direction, direction)


def shortest(
    store: Store, source: str, target: str, direction: Direction, types: Types, max_depth: int | None
) -> list[str]:
    """Return the ids of a path of fewest edges, both ends included; empty if there is none of ``max_depth`` edges.

    Searches from both ends. Of several shortest paths always the same is returned.
    """
    back = reverse(direction)
    seen: list[dict[str, str | None]] = [{source: None}, {target: None}]
    frontiers = [[source], [target]]
    depth = 0
    while all(frontiers) and (max_depth is None or depth < max_depth) and source != target:
        side = 0 if len(frontiers[0]) <= len(frontiers[1]) else 1
        steps = store.steps(frontiers[side], back if side else direction, types)
        frontiers[side] = _expand(frontiers[side], steps, seen[side])
        depth += 1
        met = [one for one in frontiers[side] if one in seen[1 - side]]
        if met:
            return _joined(seen, min(met))
    return [source] if source == target else []


def _expand(frontier: Sequence[str], steps: Mapping[str, Steps], seen: dict[str, str | None]) -> list[str]:
    reached = []
    for one in sorted(frontier):
        for other, _ in steps.get(one, ()):
            if other not in seen:
                seen[other] = one
                reached.append(other)
    return reached


def _joined(seen: Sequence[Mapping[str, str | None]], met: str) -> list[str]:
    halves = []
    for came_from in seen:
        half, at = [], came_from[met]
        while at is not None:
            half.append(at)
            at = came_from[at]
        halves.append(half)
    return [*reversed(halves[0]), met, *halves[1]]


def within(
    store: Store,
    starts: Mapping[str, float],
    hops: int,
    limit: int | None,
    direction: Direction,
    types: Types,
    decay: float,
) -> dict[str, tuple[int, float]]:
    """Return what is within some hops of the starts, best first: by id, how many hops away and its score.

    A start's score is given; that of any other is the strongest way's: the start's score times each edge's weight
    (over 1 counts as 1) times ``decay``. A node that was come to is not walked through again unless by a stronger
    way. With ``limit`` only the best so far are walked on from, which is exact: as scores only fall along a way,
    all of a way to one of the best leads through the best.
    """
    scores = dict(starts)
    depths = dict.fromkeys(starts, 0)
    frontier = _best(scores, list(scores), limit)
    for depth in range(1, hops + 1):
        steps = store.steps(frontier, direction, types)
        gained: dict[str, float] = {}
        for one in frontier:
            for other, weight in steps.get(one, ()):
                score = scores[one] * min(weight, 1.0) * decay
                if score > gained.get(other, scores.get(other, -1.0)):
                    gained[other] = score
        for other, score in gained.items():
            depths.setdefault(other, depth)
            scores[other] = score
        frontier = _best(scores, list(gained), limit)
        if not frontier:
            break
    ranked = sorted(scores, key=lambda one: (-scores[one], depths[one], one))[:limit]
    return {one: (depths[one], scores[one]) for one in ranked}


def _best(scores: Mapping[str, float], among: list[str], limit: int | None) -> list[str]:
    """Return those of ``among`` that are within the ``limit`` best of all scores."""
    if limit is None or len(scores) <= limit:
        return among
    last = heapq.nsmallest(limit, ((-score, one) for one, score in scores.items()))[-1]
    return [one for one in among if (-scores[one], one) <= last]
