"""Paths of least cost (Dijkstra, 1959), from both ends at once where no number of edges is to be kept to."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias

from pipeline.knowledge.algorithms.traverse import Types, reverse
from pipeline.knowledge.records import Direction
from pipeline.knowledge.store.protocol import Steps, Store

_AHEAD = 50
"""Nodes whose steps are fetched together when a search comes to one that it hasn't seen."""


class Cost(StrEnum):
    """What makes a path short."""

    HOPS = "hops"
    """fewest edges"""
    WEIGHT = "weight"
    """least sum of weights, as of distances"""
    STRENGTH = "strength"
    """least sum of 1 / weight: strong edges are short, and those of weight 0 lead nowhere"""


def shortest_path(
    store: Store,
    source: str,
    target: str,
    cost: Cost,
    direction: Direction,
    types: Types,
    max_depth: int | None,
) -> list[str]:
    """Return the ids of a path of the least cost, both ends included; empty if there is none.

    With ``max_depth`` it is the least cost of paths of that many edges at most.
    """
    if max_depth is not None:
        return _bounded(store, source, target, cost, direction, types, max_depth)
    sides = (_Side(store, source, cost, direction, types), _Side(store, target, cost, reverse(direction), types))
    least, met = (0.0, source) if source == target else (math.inf, "")
    while all(side.queue for side in sides) and sides[0].queue[0][0] + sides[1].queue[0][0] < least:
        side, other = sorted(sides, key=lambda one: one.queue[0][0])
        for node in side.settle_next():
            total = side.costs[node] + other.costs.get(node, math.inf)
            # Of several ways of one cost always the same is taken.
            if (total, node) < (least, met):
                least, met = total, node
    return [*reversed(sides[0].way_from(met)), *sides[1].way_from(met)[1:]] if least < math.inf else []


class _Side:
    """A search from one end: what it costs to come to each node, and from where."""

    def __init__(self, store: Store, start: str, cost: Cost, direction: Direction, types: Types) -> None:
        self.costs = {start: 0.0}
        self.queue = [(0.0, start)]
        self._cost = cost
        self._came_from: dict[str, str] = {}
        self._known = _Known(store, direction, types)

    def settle_next(self) -> list[str]:
        """Settle the cheapest node, and return those that are now come to more cheaply."""
        spent, at = heapq.heappop(self.queue)
        if spent > self.costs[at]:
            return []
        nearer = []
        for other, weight in self._known.steps(at, [one for _, one in self.queue[:_AHEAD]]):
            total = spent + _length(weight, self._cost)
            if total < self.costs.get(other, math.inf):
                self.costs[other] = total
                self._came_from[other] = at
                heapq.heappush(self.queue, (total, other))
                nearer.append(other)
        return nearer

    def way_from(self, node: str) -> list[str]:
        """Return the nodes from this one back to where the search began."""
        way = [node]
        while way[-1] in self._came_from:
            way.append(self._came_from[way[-1]])
        return way


class _Known:
    """Steps that were fetched, many at a time."""

    def __init__(self, store: Store, direction: Direction, types: Types) -> None:
        self._store = store
        self._direction = direction
        self._types = types
        self._steps: dict[str, Steps] = {}

    def steps(self, node: str, soon: list[str]) -> Steps:
        """Return a node's steps; those of the nodes that are likely to come soon are fetched with them."""
        if node not in self._steps:
            ahead = dict.fromkeys([node, *(one for one in soon if one not in self._steps)])
            self._steps.update(self._store.steps(list(ahead), self._direction, self._types))
        return self._steps.get(node, [])


_State: TypeAlias = tuple[str, int]
"""A node, and after how many edges."""


def _bounded(
    store: Store, source: str, target: str, cost: Cost, direction: Direction, types: Types, max_depth: int
) -> list[str]:
    """Search from the source alone: a node is come to again by a dearer way if that has fewer edges."""
    known = _Known(store, direction, types)
    fewest: dict[str, int] = {}
    came_from: dict[_State, _State] = {}
    best: dict[_State, float] = {(source, 0): 0.0}
    queue = [(0.0, 0, source)]
    while queue:
        spent, hops, at = heapq.heappop(queue)
        if at == target:
            return _traced(came_from, (at, hops))
        if spent > best[at, hops] or hops == max_depth or fewest.get(at, math.inf) <= hops:
            continue
        fewest[at] = hops
        for other, weight in known.steps(at, [one for _, _, one in queue[:_AHEAD]]):
            step, total = (other, hops + 1), spent + _length(weight, cost)
            if total < best.get(step, math.inf) and fewest.get(other, math.inf) > hops + 1:
                best[step] = total
                came_from[step] = (at, hops)
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
