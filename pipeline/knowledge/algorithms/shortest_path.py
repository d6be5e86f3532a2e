"""Paths of least cost by Dijkstra's algorithm (1959): bidirectional, or from the source if the depth is bounded."""

import heapq
import math
from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias

from pipeline.knowledge.algorithms.traverse import Types, reverse
from pipeline.knowledge.records import Direction
from pipeline.knowledge.store.protocol import Steps, Store

_PREFETCH = 50
"""Number of queued nodes whose steps are fetched along with those of a new node."""


class Cost(StrEnum):
    """The cost that a shortest path minimises."""

    HOPS = "hops"
    """number of edges"""
    WEIGHT = "weight"
    """sum of the weights, which are taken for distances"""
    STRENGTH = "strength"
    """sum of 1 / weight: strong edges are short, edges of weight 0 are never used"""


def shortest_path(
    store: Store,
    source: str,
    target: str,
    cost: Cost,
    direction: Direction,
    types: Types,
    max_depth: int | None,
) -> list[str]:
    """Return the node ids of a path of least cost, both endpoints included; an empty list if there is none.

    ``max_depth`` limits the number of edges of the paths considered.
    """
    if max_depth is not None:
        return _bounded_path(store, source, target, cost, direction, types, max_depth)
    sides = (_Side(store, source, cost, direction, types), _Side(store, target, cost, reverse(direction), types))
    least, meeting = (0.0, source) if source == target else (math.inf, "")
    while all(side.queue for side in sides) and sides[0].queue[0][0] + sides[1].queue[0][0] < least:
        side, opposite = sorted(sides, key=lambda side: side.queue[0][0])
        for node in side.expand_next():
            total = side.costs[node] + opposite.costs.get(node, math.inf)
            # Comparing the node too makes the choice among paths of equal cost deterministic.
            if (total, node) < (least, meeting):
                least, meeting = total, node
    if least == math.inf:
        return []
    return [*reversed(sides[0].path_to_start(meeting)), *sides[1].path_to_start(meeting)[1:]]


class _Side:
    """Dijkstra's search from one endpoint: the cost of each reached node, and its predecessor."""

    def __init__(self, store: Store, start: str, cost: Cost, direction: Direction, types: Types) -> None:
        self.costs = {start: 0.0}
        self.queue = [(0.0, start)]
        self._cost = cost
        self._predecessors: dict[str, str] = {}
        self._steps = _StepCache(store, direction, types)

    def expand_next(self) -> list[str]:
        """Expand the cheapest queued node; return the neighbours whose cost it lowered."""
        spent, node = heapq.heappop(self.queue)
        if spent > self.costs[node]:
            return []
        improved = []
        for neighbour, weight in self._steps.of(node, [queued for _, queued in self.queue[:_PREFETCH]]):
            total = spent + _edge_cost(weight, self._cost)
            if total < self.costs.get(neighbour, math.inf):
                self.costs[neighbour] = total
                self._predecessors[neighbour] = node
                heapq.heappush(self.queue, (total, neighbour))
                improved.append(neighbour)
        return improved

    def path_to_start(self, node: str) -> list[str]:
        """Return the path from a reached node back to the start of the search."""
        path = [node]
        while path[-1] in self._predecessors:
            path.append(self._predecessors[path[-1]])
        return path


class _StepCache:
    """A cache of nodes' steps, fetched in bulk."""

    def __init__(self, store: Store, direction: Direction, types: Types) -> None:
        self._store = store
        self._direction = direction
        self._types = types
        self._steps: dict[str, Steps] = {}

    def of(self, node: str, queued: list[str]) -> Steps:
        """Return a node's steps; if they have to be fetched, fetch those of the ``queued`` nodes too."""
        if node not in self._steps:
            missing = dict.fromkeys([node, *(other for other in queued if other not in self._steps)])
            self._steps.update(self._store.steps(list(missing), self._direction, self._types))
        return self._steps.get(node, [])


_State: TypeAlias = tuple[str, int]
"""A node and the number of edges from the source to it."""


def _bounded_path(
    store: Store, source: str, target: str, cost: Cost, direction: Direction, types: Types, max_depth: int
) -> list[str]:
    """Search from the source alone; expand a node again at a higher cost if it is reached by fewer edges."""
    steps = _StepCache(store, direction, types)
    fewest_hops: dict[str, int] = {}
    predecessors: dict[_State, _State] = {}
    costs: dict[_State, float] = {(source, 0): 0.0}
    queue = [(0.0, 0, source)]
    while queue:
        spent, hops, node = heapq.heappop(queue)
        if node == target:
            return _traced(predecessors, (node, hops))
        if spent > costs[node, hops] or hops == max_depth or fewest_hops.get(node, math.inf) <= hops:
            continue
        fewest_hops[node] = hops
        for neighbour, weight in steps.of(node, [queued for _, _, queued in queue[:_PREFETCH]]):
            state, total = (neighbour, hops + 1), spent + _edge_cost(weight, cost)
            if total < costs.get(state, math.inf) and fewest_hops.get(neighbour, math.inf) > hops + 1:
                costs[state] = total
                predecessors[state] = (node, hops)
                heapq.heappush(queue, (total, hops + 1, neighbour))
    return []


def _traced(predecessors: Mapping[_State, _State], state: _State) -> list[str]:
    path = [state[0]]
    while state in predecessors:
        state = predecessors[state]
        path.append(state[0])
    return path[::-1]


def _edge_cost(weight: float, cost: Cost) -> float:
    if cost is Cost.WEIGHT:
        return weight
    return 1 / weight if weight else math.inf
