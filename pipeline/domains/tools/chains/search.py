"""Find chains: between two ends, or for a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pipeline.domains.tools.chains import ends
from pipeline.domains.tools.chains.network import ToolNetwork
from pipeline.domains.tools.chains.paths import best_paths
from pipeline.domains.tools.chains.plan import Chain, plan
from pipeline.domains.tools.types.system import TypeSystem

UNLINKED = 0.2
"""Confidence that a tool goes on from an earlier one if nothing but the order of the task says so: below any link."""

_BEAM = 50
_PATHS = 40
"""Paths between found tools that are made into chains, before the best chains are chosen."""


def chains_between(
    network: ToolNetwork, system: TypeSystem, start: str, goal: str, *, longest: int, limit: int
) -> list[Chain]:
    """Return the ``limit`` best chains of at most ``longest`` tools from one end to the other, best first.

    An end is a tool, by id or name, a type, or the name of a field: data that the caller has, or wants. Raises
    GraphError if there is no such tool or data.
    """
    first, last = ends.start(network, system, start), ends.goal(network, system, goal)
    paths = best_paths(network, first.tools, last.tools, longest=longest, limit=limit)
    return [plan(network, path.tools, path.confidence, first.fields.get(path.tools[0], ())) for path in paths]


def chains_for(network: ToolNetwork, found: Mapping[str, float], *, longest: int, limit: int) -> list[Chain]:
    """Return the ``limit`` best chains of tools that were found for a task, best first.

    ``found`` are tools with their relevance, above 0 and at most 1. A chain is as good as the relevance of its tools
    together, times the confidence of its links; no chain is a part of a better one.
    """
    candidates: dict[tuple[str, ...], Chain] = {}
    for tool in found:
        paths = best_paths(
            network, {tool: 1.0}, dict.fromkeys(found, 1.0), longest=longest, limit=_PATHS, within=found.keys()
        )
        for path in paths:
            relevance = sum(found[one] for one in path.tools)
            chain = replace(plan(network, path.tools, path.confidence), relevance=relevance)
            candidates.setdefault(tuple(sorted(chain.tools)), chain)
    ranked = sorted(candidates.values(), key=lambda one: (-one.relevance * one.confidence, one.tools))
    return _without_parts(ranked)[:limit]


def chains_in_order(network: ToolNetwork, candidates: Sequence[Mapping[str, float]], *, limit: int) -> list[Chain]:
    """Return the ``limit`` best chains with a tool for each clause of a task, in their order, best first.

    ``candidates`` are the tools for each clause with their relevance, above 0 and at most 1. A tool follows the best
    link from an earlier one; without any it follows by the order of the task alone, which is worth ``UNLINKED``.
    """
    beam = [_Partial((), 1.0, 0.0)]
    for tools in filter(None, candidates):
        extended = [partial.extended(network, tool, relevance) for partial in beam for tool, relevance in tools.items()]
        best = {one.tools: one for one in sorted(extended, key=_Partial.order, reverse=True)}
        beam = sorted(best.values(), key=_Partial.order)[:_BEAM]
    chains = [
        replace(plan(network, one.tools, one.confidence, in_order=True), relevance=one.relevance)
        for one in beam
        if one.tools
    ]
    return _without_parts(chains)[:limit]


class _Partial(NamedTuple):
    """A chain for the first clauses of a task."""

    tools: tuple[str, ...]
    confidence: float
    relevance: float

    def order(self) -> tuple[float, tuple[str, ...]]:
        return -self.confidence * self.relevance, self.tools

    def extended(self, network: ToolNetwork, tool: str, relevance: float) -> _Partial:
        """Return the chain with a tool for the next clause, which may be one that it has already."""
        if not self.tools or tool in self.tools:
            confidence = 1.0
        else:
            links = (network.link(source, tool) for source in self.tools)
            confidence = max((link.confidence for link in links if link), default=UNLINKED)
        tools = self.tools if tool in self.tools else (*self.tools, tool)
        return _Partial(tools, self.confidence * confidence, self.relevance + relevance)


def _without_parts(ranked: Sequence[Chain]) -> list[Chain]:
    """Return chains without those whose tools all are in a better one."""
    kept: list[Chain] = []
    for chain in ranked:
        if not any(set(chain.tools) <= set(better.tools) for better in kept):
            kept.append(chain)
    return kept
