"""Ways through a graph: shortest and cheapest paths, and what is within some hops; over any kind of graph.

Each hop asks the server for all of its frontier's steps at once, so a way of n hops costs about n round trips, and
the nodes of a large graph that a way doesn't come near are never read.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

from pipeline.knowledge.records import Direction
from pipeline.knowledge.store import Steps, Store

_AHEAD = 200
"""Nodes whose steps are fetched together when a search by cost comes to one that it hasn't seen."""

Types: TypeAlias = Sequence[str] | None
_State: TypeAlias = tuple[str, int]
"""A node, and after how many edges, where that matters."""


class Cost(StrEnum):
    """What makes a path short."""

    HOPS = "hops"
    """fewest edges"""
    WEIGHT = "weight"
    """least sum of weights, as of distances"""
    STRENGTH = "strength"
    """least sum of 1 / weight: strong edges are short, and those of weight 0 lead nowhere"""


def shortest(
    store: Store, source: str, target: str, direction: Direction, types: Types, max_depth: int | None
) -> list[str]:
    """Return the ids of a path of fewest edges, both ends included; empty if there is none of ``max_depth`` edges.

    Searches from both ends. Of several shortest paths always the same is returned.
    """
    back = {Direction.OUT: Direction.IN, Direction.IN: Direction.OUT}.get(direction, direction)
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


def cheapest(
    store: Store,
    source: str,
    target: str,
    cost: Cost,
    direction: Direction,
    types: Types,
    max_depth: int | None,
) -> list[str]:
    """Return the ids of a path of the least cost, both ends included; empty if there is none (Dijkstra, 1959).

    With ``max_depth`` it is the least cost of paths of that many edges at most: a node is come to again by a dearer
    way if that has fewer edges.
    """
    known: dict[str, Steps] = {}
    settled: dict[str, int] = {}
    came_from: dict[_State, _State] = {}
    best: dict[_State, float] = {(source, 0): 0.0}
    queue = [(0.0, 0, source)]
    while queue:
        spent, hops, at = heapq.heappop(queue)
        state = (at, hops if max_depth is not None else 0)
        if at == target:
            return _traced(came_from, state)
        # Without a depth to keep to, whatever comes first is best; else only fewer edges excuse a dearer way.
        if spent > best[state] or hops == max_depth or settled.get(at, math.inf) <= state[1]:
            continue
        settled[at] = state[1]
        if at not in known:
            ahead = dict.fromkeys([at, *(one for _, _, one in queue[:_AHEAD] if one not in known)])
            known.update(store.steps(list(ahead), direction, types))
        for other, weight in known.get(at, ()):
            step = (other, hops + 1 if max_depth is not None else 0)
            total = spent + _length(weight, cost)
            if total < best.get(step, math.inf) and settled.get(other, math.inf) > step[1]:
                best[step] = total
                came_from[step] = state
                heapq.heappush(queue, (total, hops + 1, other))
    return []


def _traced(came_from: Mapping[_State, _State], state: _State) -> list[str]:
    path = [state[0]]
    while state in came_from:
        state = came_from[state]
        path.append(state[0])
    return path[::-1]


def _length(weight: float, cost: Cost) -> float:
    if cost is Cost.WEIGHT:
        return weight
    return 1 / weight if weight else math.inf


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
