"""Find chains: the best paths along the links between tools, from one end to another or for a task."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pipeline.domains.tools.catalogue import Tool
from pipeline.domains.tools.chains.network import ToolNetwork
from pipeline.domains.tools.chains.plan import Chain, plan
from pipeline.domains.tools.types.fields import Field
from pipeline.domains.tools.types.system import TypeSystem
from pipeline.domains.tools.types.words import split, stems
from pipeline.errors import GraphError, did_you_mean

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
    first, last = _start(network, system, start), _goal(network, system, goal)
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


_TEXT = 0.5
"""Confidence that a tool returns what only its name and description say."""


@dataclass(frozen=True, slots=True)
class End:
    """The tools at one end of a chain, with their confidences, and the inputs of each that the named data fill."""

    tools: Mapping[str, float]
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def find_tool(tools: Iterable[Tool], name: str) -> Tool | None:
    """Return the tool with an id or a name; None if there is none. Raises GraphError if several have the name."""
    by_id = {tool.id: tool for tool in tools}
    if name in by_id:
        return by_id[name]
    found = [tool for tool in by_id.values() if tool.name == name]
    if len(found) > 1:
        ids = ", ".join(tool.id for tool in found[:5])
        raise GraphError(f"{len(found)} tools are named {name!r}.", f"Say which: {ids}.")
    return found[0] if found else None


def _start(network: ToolNetwork, system: TypeSystem, name: str) -> End:
    """Return the tool of a name, else the tools that take data of the type or field that is so named."""
    return _end(network, name, "takes", network.takes, lambda given, wanted: _fit(system, given, wanted))


def _goal(network: ToolNetwork, system: TypeSystem, name: str) -> End:
    """Return the tool of a name, else the tools that return data of the type or field that is so named."""
    return _end(network, name, "returns", network.returns, lambda given, wanted: _fit(system, wanted, given))


def _end(
    network: ToolNetwork,
    name: str,
    role: str,
    fields: Mapping[str, Sequence[Field]],
    fit: Callable[[str, str], float],
) -> End:
    tool = find_tool(network.tools.values(), name)
    if tool:
        return End({tool.id: 1.0})
    wanted = stems(split(name))
    tools: dict[str, float] = {}
    filled: dict[str, tuple[str, ...]] = {}
    for candidate in network.tools.values():
        fits = {one.name: max(_named(one, wanted), fit(name, one.type.name)) for one in fields[candidate.id]}
        if best := max(fits.values(), default=0.0):
            tools[candidate.id] = best
            filled[candidate.id] = tuple(sorted(name for name, value in fits.items() if value == best))
    if not tools:
        known = [one.name for one in network.tools.values()]
        raise GraphError(
            f"No tool is named {name!r}, and none {role} it.",
            did_you_mean(name, known, "Give a tool, a type such as string:uri, or the name of a field."),
        )
    return End(tools, filled)


def _named(one: Field, wanted: frozenset[str]) -> float:
    """Return how surely a field is named by some words: all of them have to be in its name."""
    if not wanted or not wanted <= one.words:
        return 0.0
    return (_TEXT if one.evidence == "text" else 1.0) * len(wanted) / len(one.words)


def _fit(system: TypeSystem, source: str, target: str) -> float:
    """Return how well a type fits another, both by name; 0 for what the tools have no such type of."""
    known = system.types
    if "any" in (source, target) or not {source, target} <= known.keys():
        return 0.0
    found = system.compatibility(known[source], known[target])
    return found.confidence if found else 0.0
