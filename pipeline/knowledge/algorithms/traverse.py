"""Breadth-first traversal of any graph: paths with the fewest edges, and the scored neighbourhood of nodes.

One query per hop fetches the steps of the whole frontier: n hops cost about n round trips. Nodes farther away are
never read.
"""

import dataclasses
import heapq
from collections.abc import Container, Mapping, Sequence
from typing import TypeAlias

from pipeline.knowledge.records import Direction, KnowledgeNode
from pipeline.knowledge.store.memory import MemoryStore
from pipeline.knowledge.store.protocol import Steps, Store

Types: TypeAlias = Sequence[str] | None
"""Edge types to follow; None follows all."""


def reverse(direction: Direction) -> Direction:
    """Return the opposite direction; BOTH is its own."""
    return {Direction.OUT: Direction.IN, Direction.IN: Direction.OUT}.get(direction, direction)


def fewest_hops(
    store: Store, source: str, target: str, direction: Direction, types: Types, max_depth: int | None
) -> list[str]:
    """Return the node ids of a path with the fewest edges, at most ``max_depth``; an empty list if there is none.

    Both endpoints are included. The search is bidirectional. The choice among several shortest paths is deterministic.
    """
    back = reverse(direction)
    predecessors: list[dict[str, str | None]] = [{source: None}, {target: None}]
    frontiers = [[source], [target]]
    depth = 0
    while all(frontiers) and (max_depth is None or depth < max_depth) and source != target:
        side = 0 if len(frontiers[0]) <= len(frontiers[1]) else 1
        steps = store.steps(frontiers[side], back if side else direction, types)
        frontiers[side] = _next_frontier(frontiers[side], steps, predecessors[side])
        depth += 1
        meeting = [node for node in frontiers[side] if node in predecessors[1 - side]]
        if meeting:
            return _joined(predecessors, min(meeting))
    return [source] if source == target else []


def _next_frontier(
    frontier: Sequence[str], steps: Mapping[str, Steps], predecessors: dict[str, str | None]
) -> list[str]:
    """Return the nodes that the frontier's steps reach first, and add their ``predecessors``."""
    reached = []
    for node in sorted(frontier):
        for neighbour, _ in steps.get(node, ()):
            if neighbour not in predecessors:
                predecessors[neighbour] = node
                reached.append(neighbour)
    return reached


def _joined(predecessors: Sequence[Mapping[str, str | None]], meeting: str) -> list[str]:
    """Return the path through the node where both searches met."""
    halves = []
    for came_from in predecessors:
        half, node = [], came_from[meeting]
        while node is not None:
            half.append(node)
            node = came_from[node]
        halves.append(half)
    return [*reversed(halves[0]), meeting, *halves[1]]


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
        for node, score in raised.items():
            depths.setdefault(node, depth)
            scores[node] = score
        frontier = _best(scores, list(raised), limit)
        if not frontier:
            break
    ranked = sorted(scores, key=lambda node: (-scores[node], depths[node], node))[:limit]
    return {node: (depths[node], scores[node]) for node in ranked}


def _best(scores: Mapping[str, float], nodes: list[str], limit: int | None) -> list[str]:
    """Return those of ``nodes`` that are among the ``limit`` best by ``scores``, ties by id."""
    if limit is None or len(scores) <= limit:
        return nodes
    last = heapq.nsmallest(limit, ((-score, node) for node, score in scores.items()))[-1]
    return [node for node in nodes if (-scores[node], node) <= last]


def induced_subgraph(store: Store, node_ids: Sequence[str]) -> MemoryStore:
    """Return these nodes with the edges among them; links to parents and children outside are removed."""
    nodes = store.nodes(node_ids)
    restricted = (_restricted(node, nodes) for node in nodes.values())
    return MemoryStore(store.name, restricted, store.edges_among(node_ids))


def _restricted(node: KnowledgeNode, ids: Container[str]) -> KnowledgeNode:
    parent = node.parent_id if node.parent_id is not None and node.parent_id in ids else None
    children = [child for child in node.child_ids if child in ids]
    return dataclasses.replace(node, parent_id=parent, child_ids=children)
