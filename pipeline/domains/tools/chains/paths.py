"""The best paths along the links between tools: the confidences of the links multiply."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping
from typing import NamedTuple

from pipeline.domains.tools.chains.network import ToolNetwork

_MOST_EXPANDED = 20_000
"""Paths that a search extends before it ends with what it has found."""


class Path(NamedTuple):
    """Tools in order, by id, and the product of the confidences of the links between them and of both ends."""

    confidence: float
    tools: tuple[str, ...]


def best_paths(
    network: ToolNetwork,
    starts: Mapping[str, float],
    goals: Mapping[str, float],
    *,
    longest: int,
    limit: int,
    within: Collection[str] | None = None,
) -> list[Path]:
    """Return the ``limit`` best paths of at most ``longest`` tools from a start to a goal, the best first.

    ``starts`` and ``goals`` are tools with confidences of their own. No path visits a tool twice, or leaves the tools
    ``within``. The search is best-first: no confidence exceeds 1, so that a path is at most as good as its beginning.
    """
    heap: list[tuple[float, tuple[str, ...], bool]] = [
        (-confidence, (tool,), False) for tool, confidence in starts.items() if within is None or tool in within
    ]
    heapq.heapify(heap)
    found: list[Path] = []
    expanded = 0
    while heap and len(found) < limit and expanded < _MOST_EXPANDED:
        negative, tools, is_whole = heapq.heappop(heap)
        if is_whole:
            found.append(Path(-negative, tools))
            continue
        expanded += 1
        if tools[-1] in goals:
            heapq.heappush(heap, (negative * goals[tools[-1]], tools, True))
        if len(tools) < longest:
            for link in network.outgoing.get(tools[-1], ()):
                if link.target not in tools and (within is None or link.target in within):
                    heapq.heappush(heap, (negative * link.confidence, (*tools, link.target), False))
    return found
