"""Traversal of any store: shortest paths, the scored neighbourhood of nodes, and what nodes bring to each other.

Nodes farther away are never read: breadth-first searches fetch the steps of the whole frontier by one query a hop, so n
hops cost about n round trips; Dijkstra's algorithm (1959) fetches those of the nodes that it expands next.
"""

import dataclasses
import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias, TypeVar

from pipeline.knowledge.records import Direction
from pipeline.knowledge.store.memory import MemoryStore
from pipeline.knowledge.store.protocol import Steps, Store

Types: TypeAlias = Sequence[str] | None
"""Edge types to follow; None follows all."""

STAY = 1.0
"""Weight of what stays at a node, beside those of its edges: that of one usual edge, as the loop that a graph
convolution adds to each node (Kipf and Welling, 2017). Without it a node with a single weak edge passes on all that it
has, and in one of three collections a description no longer found its own skill first."""

_PREFETCH = 50  # queued nodes whose steps are fetched along with those of a new node; chosen by hand, not measured
_Node = TypeVar("_Node")


class Cost(StrEnum):
    """The cost that a shortest path minimises."""

    HOPS = "hops"  # number of edges
    WEIGHT = "weight"  # sum of the weights, which are taken for distances
    STRENGTH = "strength"  # sum of 1 / weight: strong edges are short, edges of weight 0 are never used


def fewest_hops(
    store: Store, source: str, target: str, direction: Direction, types: Types, max_depth: int | None
) -> list[str]:
    """Return the node ids of a path with the fewest edges, at most ``max_depth``; an empty list if there is none.

    Both endpoints are included. The choice among several shortest paths is deterministic.
    """
    directions = (direction, _reverse(direction))
    predecessors: list[dict[str, str | None]] = [{source: None}, {target: None}]
    frontiers = [[source], [target]]
    depth = 0
    while all(frontiers) and (max_depth is None or depth < max_depth) and source != target:
        side = 0 if len(frontiers[0]) <= len(frontiers[1]) else 1
        steps = store.steps(frontiers[side], directions[side], types)
        reached = []
        for node in sorted(frontiers[side]):
            for neighbour, _ in steps.get(node, ()):
                if neighbour not in predecessors[side]:
                    predecessors[side][neighbour] = node
                    reached.append(neighbour)
        frontiers[side] = reached
        depth += 1
        if meeting := [node for node in reached if node in predecessors[1 - side]]:
            forth, back = (_trace(came_from, min(meeting)) for came_from in predecessors)
            return [*reversed(forth), *back[1:]]
    return [source] if source == target else []


def shortest_path(
    store: Store, source: str, target: str, cost: Cost, direction: Direction, types: Types, max_depth: int | None
) -> list[str]:
    """Return the node ids of a path of least cost, of at most ``max_depth`` edges; an empty list if there is none."""
    if max_depth is not None:
        return _bounded_path(store, source, target, cost, direction, types, max_depth)
    sides = (_Side(store, source, cost, direction, types), _Side(store, target, cost, _reverse(direction), types))
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
    forth, back = (_trace(side.predecessors, meeting) for side in sides)
    return [*reversed(forth), *back[1:]]


class _Side:
    """Dijkstra's search from one endpoint: the cost of each reached node, and its predecessor."""

    def __init__(self, store: Store, start: str, cost: Cost, direction: Direction, types: Types) -> None:
        self.costs = {start: 0.0}
        self.queue = [(0.0, start)]
        self.predecessors: dict[str, str] = {}
        self._cost = cost
        self._steps = _cached_steps(store, direction, types)

    def expand_next(self) -> list[str]:
        """Expand the cheapest queued node; return the neighbours whose cost it lowered."""
        spent, node = heapq.heappop(self.queue)
        if spent > self.costs[node]:
            return []
        improved = []
        for neighbour, weight in self._steps(node, (queued for _, queued in self.queue[:_PREFETCH])):
            total = spent + _edge_cost(weight, self._cost)
            if total < self.costs.get(neighbour, math.inf):
                self.costs[neighbour] = total
                self.predecessors[neighbour] = node
                heapq.heappush(self.queue, (total, neighbour))
                improved.append(neighbour)
        return improved


def _bounded_path(
    store: Store, source: str, target: str, cost: Cost, direction: Direction, types: Types, max_depth: int
) -> list[str]:
    # Expands a node again at a higher cost if it is reached by fewer edges: a state is a node and its depth in edges.
    steps = _cached_steps(store, direction, types)
    fewest_edges: dict[str, int] = {}
    predecessors: dict[tuple[str, int], tuple[str, int]] = {}
    costs: dict[tuple[str, int], float] = {(source, 0): 0.0}
    queue = [(0.0, 0, source)]
    while queue:
        spent, edges, node = heapq.heappop(queue)
        if node == target:
            return [passed for passed, _ in reversed(_trace(predecessors, (node, edges)))]
        if spent > costs[node, edges] or edges == max_depth or fewest_edges.get(node, math.inf) <= edges:
            continue
        fewest_edges[node] = edges
        for neighbour, weight in steps(node, (queued for _, _, queued in queue[:_PREFETCH])):
            state, total = (neighbour, edges + 1), spent + _edge_cost(weight, cost)
            if total < costs.get(state, math.inf) and fewest_edges.get(neighbour, math.inf) > edges + 1:
                costs[state] = total
                predecessors[state] = (node, edges)
                heapq.heappush(queue, (total, edges + 1, neighbour))
    return []


def _reverse(direction: Direction) -> Direction:
    return {Direction.OUT: Direction.IN, Direction.IN: Direction.OUT}.get(direction, direction)


def _trace(predecessors: Mapping[_Node, _Node | None], node: _Node) -> list[_Node]:
    """Return the path from a reached node back to the start of the search."""
    path = [node]
    while (before := predecessors.get(path[-1])) is not None:
        path.append(before)
    return path


def _cached_steps(store: Store, direction: Direction, types: Types) -> Callable[[str, Iterable[str]], Steps]:
    """Return the function from a node to its steps; if it has to fetch them, it fetches those of queued nodes too."""
    known: dict[str, Steps] = {}

    def steps(node: str, queued: Iterable[str]) -> Steps:
        if node not in known:
            missing = dict.fromkeys([node, *(other for other in queued if other not in known)])
            known.update(store.steps(list(missing), direction, types))
        return known.get(node, [])

    return steps


def _edge_cost(weight: float, cost: Cost) -> float:
    if cost is Cost.WEIGHT:
        return weight
    return 1 / weight if weight else math.inf


def expand(
    store: Store,
    starts: Mapping[str, float],
    hops: int,
    limit: int | None,
    direction: Direction,
    types: Types,
    decay: float,
) -> dict[str, tuple[int, float]]:
    """Return depth and score of the nodes within ``hops`` of the starts, by id: best score first, ties by depth, id.

    ``starts`` are scores by id. Any other node's score is that of the strongest path: the start's score times each
    edge's weight (capped at 1) times ``decay``. A node is expanded again only if a stronger path reaches it. With
    ``limit`` only the best nodes so far are expanded. That is exact: scores never rise along a path, so every node on
    a path to one of the best is itself one of the best.
    """
    scores = dict(starts)
    depths = dict.fromkeys(starts, 0)
    frontier = _best(scores, list(scores), limit)
    for depth in range(1, hops + 1):
        steps = store.steps(frontier, direction, types)
        raised: dict[str, float] = {}
        for node in frontier:
            for neighbour, weight in steps.get(node, ()):
                score = scores[node] * min(weight, 1.0) * decay
                if score > raised.get(neighbour, scores.get(neighbour, -1.0)):
                    raised[neighbour] = score
        for node in raised:
            depths.setdefault(node, depth)
        scores |= raised
        frontier = _best(scores, list(raised), limit)
        if not frontier:
            break
    ranked = sorted(scores, key=lambda node: (-scores[node], depths[node], node))[:limit]
    return {node: (depths[node], scores[node]) for node in ranked}


def support(store: Store, starts: Mapping[str, float], hops: int, limit: int, direction: Direction) -> dict[str, float]:
    """Return what walks of up to ``hops`` steps from the starts bring to each node but their own start, by id.

    ``starts`` are scores by id. In each step a node passes its score on along its edges, to each neighbour in
    proportion to the weight, less the share that stays (``STAY``). What walks bring adds up. A walk ends when it comes
    back to its start. Only the ``limit`` nodes with the highest scores pass anything on in a step, so at most so many
    are read.
    """
    walks = {start: {start: score} for start, score in sorted(starts.items())}
    brought: dict[str, float] = {}
    steps: dict[str, Steps] = {}
    for _ in range(hops):
        scores = _summed(walks.values())
        passing = _best(scores, sorted(scores), limit)
        if unread := [node for node in passing if node not in steps]:
            steps |= store.steps(unread, direction, None)
        shares = {node: _shares(steps.get(node, ())) for node in passing}
        walks = {start: _moved(own, shares, start) for start, own in walks.items()}
        brought = _summed([brought, *walks.values()])
    return brought


def _summed(all_scores: Iterable[Mapping[str, float]]) -> dict[str, float]:
    summed: dict[str, float] = defaultdict(float)
    for scores in all_scores:
        for node, score in scores.items():
            summed[node] += score
    return summed


def _shares(steps: Sequence[tuple[str, float]]) -> Steps:
    """Return the share of a node's score that goes along each of its steps."""
    whole = STAY + math.fsum(weight for _, weight in steps)
    return [(neighbour, weight / whole) for neighbour, weight in steps]


def _moved(scores: Mapping[str, float], shares: Mapping[str, Steps], start: str) -> dict[str, float]:
    """Return the scores one step on, without what comes back to the start."""
    moved: dict[str, float] = defaultdict(float)
    for node, score in scores.items():
        for neighbour, share in shares.get(node, ()):
            if share and neighbour not in (start, node):
                moved[neighbour] += score * share
    return moved


def _best(scores: Mapping[str, float], nodes: list[str], limit: int | None) -> list[str]:
    """Return those of ``nodes`` that are among the ``limit`` best by ``scores``, ties by id."""
    if limit is None:
        return nodes
    best = set(heapq.nsmallest(limit, scores, key=lambda node: (-scores[node], node)))
    return [node for node in nodes if node in best]


def induced_subgraph(store: Store, node_ids: Sequence[str]) -> MemoryStore:
    """Return these nodes with the edges among them; links to parents and children outside are removed."""
    nodes = store.nodes(node_ids)
    restricted = (
        dataclasses.replace(
            node,
            parent_id=node.parent_id if node.parent_id in nodes else None,
            child_ids=[child for child in node.child_ids if child in nodes],
        )
        for node in nodes.values()
    )
    return MemoryStore(store.name, restricted, store.edges_among(node_ids))
