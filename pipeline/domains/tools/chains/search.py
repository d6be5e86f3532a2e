"""Find chains: the most confident paths along the links between tools, between two ends or for a task."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from pipeline.domains.tools.catalogue import Tool
from pipeline.domains.tools.chains.complete import STEP, SURE, Draft, Given, completed
from pipeline.domains.tools.chains.network import ToolNetwork
from pipeline.domains.tools.chains.plan import UNLINKED, Chain, plan
from pipeline.domains.tools.chains.task import TaskWords
from pipeline.domains.tools.types.fields import Field
from pipeline.domains.tools.types.flows import TEXT
from pipeline.domains.tools.types.system import TypeSystem
from pipeline.domains.tools.types.words import split, stems
from pipeline.errors import GraphError, did_you_mean

_BEAM = 50
"""Partial chains kept after each clause: ten times the chains that are returned by default. Chosen by hand."""

_PATHS = 40
"""Paths from each found tool, and paths of all that are planned. Chosen by hand; not measured."""


def chains_between(
    network: ToolNetwork, system: TypeSystem, start: str, goal: str, *, longest: int, limit: int
) -> list[Chain]:
    """Return the ``limit`` best chains of at most ``longest`` tools in a row from one end to the other, best first.

    An end is a tool (its id or name), a type, or the name of a field. What is at the first end fills the inputs that it
    fits, before any tool does. Raises GraphError if no tool matches an end.
    """
    first, last = _end(network, system, start, "takes"), _end(network, system, goal, "returns")
    given = Given(first.fields, min(SURE, max(first.tools.values())), first.tool)
    goals: dict[tuple[str, ...], float] = {(tool,): fit for tool, fit in last.tools.items()}
    return _ranked(network, completed(network, goals, longest=longest, limit=limit, given=given))


def chains_for(
    network: ToolNetwork, words: TaskWords, found: Mapping[str, float], *, longest: int, limit: int
) -> list[Chain]:
    """Return the ``limit`` best chains of tools found for a task, best first.

    ``found`` maps tools to their relevance, above 0 and at most 1; ``words`` are those of the task. A chain has found
    tools that are linked one after the other, and what they need. Its relevance is that of its best tool, times how
    well all of them cover the words. Chains whose tools all occur in a better one are left out.
    """

    def relevance(tools: Collection[str]) -> float:
        return max(found.get(tool, 0.0) for tool in tools) * words.covered(tools)

    paths = [path for tool in found for path in best_paths(network, tool, found, longest=longest, limit=_PATHS)]
    paths.sort(key=lambda path: (-path.confidence * relevance(path.tools), path.tools))
    targets = {path.tools: STEP ** len(path.tools) for path in paths[:_PATHS]}
    return _without_parts(_ranked(network, _each_completed(network, targets, longest, words), relevance))[:limit]


def chains_in_order(
    network: ToolNetwork, words: TaskWords, candidates: Sequence[Mapping[str, float]], *, longest: int, limit: int
) -> list[Chain]:
    """Return the ``limit`` best chains with a tool for each clause of a task, in the order of the clauses, best first.

    ``candidates`` has the tools for each clause with their relevance, above 0 and at most 1; ``words`` are those of the
    task. The relevance of a chain is the product of the best for each clause, times how well its tools cover the words.
    A step counts as its best link from an earlier step, or as ``UNLINKED`` if it has none.
    """
    asked = [tools for tools in candidates if tools]

    def relevance(tools: Collection[str]) -> float:
        return math.prod(max(of.get(tool, 0.0) for tool in tools) for of in asked) * words.covered(tools)

    beam = [_Partial((), 1.0, 1.0)]
    for of in asked:
        extended = [_extended(one, network, tool, fit) for one in beam for tool, fit in of.items()]
        best: dict[tuple[str, ...], _Partial] = {}
        for one in sorted(extended, key=lambda one: (-one.confidence * one.relevance**2, one.tools)):
            best.setdefault(one.tools, one)
        beam = list(best.values())[:_BEAM]
    targets = {one.tools: one.relevance for one in beam if one.tools}
    return _without_parts(_ranked(network, _each_completed(network, targets, longest, words), relevance))[:limit]


def _each_completed(
    network: ToolNetwork, targets: Mapping[tuple[str, ...], float], longest: int, words: TaskWords
) -> Iterator[Draft]:
    """Yield the best plan of each of several targets."""
    for tools, factor in targets.items():
        yield from completed(network, {tools: factor}, longest=longest, limit=1, stated=words.states)


class _Partial(NamedTuple):
    """A chain for the first clauses of a task."""

    tools: tuple[str, ...]
    confidence: float
    relevance: float


def _extended(chain: _Partial, network: ToolNetwork, tool: str, relevance: float) -> _Partial:
    """Return a chain with a tool for the next clause; it may hold that tool already."""
    links = (network.link(source, tool) for source in chain.tools)
    confidence = max((link.confidence for link in links if link), default=UNLINKED)
    if not chain.tools or tool in chain.tools:
        confidence = 1.0
    tools = tuple(dict.fromkeys((*chain.tools, tool)))
    return _Partial(tools, chain.confidence * confidence, chain.relevance * relevance)


def _ranked(
    network: ToolNetwork, drafts: Iterable[Draft], relevance: Callable[[Collection[str]], float] | None = None
) -> list[Chain]:
    """Return drafts as chains, best first; of two with the same tools the better."""
    chains = ((plan(network, draft), draft.ease) for draft in drafts)
    valued = [(replace(one, relevance=relevance(one.tools) if relevance else 1.0), ease) for one, ease in chains]
    valued.sort(key=lambda pair: (-pair[0].relevance * pair[0].confidence * pair[1], pair[0].tools))
    found: dict[frozenset[str], Chain] = {}
    for chain, _ in valued:
        found.setdefault(frozenset(chain.tools), chain)
    return list(found.values())


def _without_parts(ranked: Sequence[Chain]) -> list[Chain]:
    """Return the chains, best first, without those whose tools all occur in a better one."""
    kept: list[Chain] = []
    for chain in ranked:
        if not any(set(chain.tools) <= set(better.tools) for better in kept):
            kept.append(chain)
    return kept


_PLAIN = frozenset(("string", "number", "object"))
"""Types that say little of what is meant: that a date fits where a string is expected is no reason to pass it."""


class Path(NamedTuple):
    """The ids of tools in order, and the product of the confidences of the links between."""

    confidence: float
    tools: tuple[str, ...]


def best_paths(network: ToolNetwork, start: str, within: Collection[str], *, longest: int, limit: int) -> list[Path]:
    """Return the ``limit`` most confident paths of at most ``longest`` tools from a tool among others, best first.

    A path visits no tool twice. Best-first search is exact here: a confidence is at most 1, so a path is never better
    than its beginning.
    """
    heap: list[tuple[float, tuple[str, ...]]] = [(-1.0, (start,))]
    found: list[Path] = []
    while heap and len(found) < limit:
        negative, tools = heapq.heappop(heap)
        found.append(Path(-negative, tools))
        for link in network.outgoing.get(tools[-1], ()) if len(tools) < longest else ():
            if link.target in within and link.target not in tools:
                heapq.heappush(heap, (negative * link.confidence, (*tools, link.target)))
    return found


def find_tool(tools: Iterable[Tool], name: str) -> Tool | None:
    """Return the tool with that id or name, or None; raises GraphError if several have the name."""
    by_id = {tool.id: tool for tool in tools}
    if name in by_id:
        return by_id[name]
    found = [tool for tool in by_id.values() if tool.name == name]
    if len(found) > 1:
        ids = ", ".join(tool.id for tool in found[:5])
        raise GraphError(f"{len(found)} tools are named {name!r}.", f"Say which: {ids}.")
    return next(iter(found), None)


class _End(NamedTuple):
    """The tools at one end of a chain with their confidences, and the fit of the fields of each by path.

    ``tool`` is the tool that the end names.
    """

    tools: dict[str, float]
    fields: dict[str, dict[str, float]]
    tool: str = ""


def _end(network: ToolNetwork, system: TypeSystem, name: str, role: Literal["takes", "returns"]) -> _End:
    """Return the tool with that name, else the tools that take or return that type, or a field with that name."""
    if tool := find_tool(network.tools.values(), name):
        return _End({tool.id: 1.0}, {}, tool.id)
    wanted, found = stems(split(name)), _End({}, {})
    for id_ in network.tools:
        fits = {
            each.path: max(_named(each, wanted), _fit(system, name, each, role)) for each in network.ends(id_, role)
        }
        if best := max(fits.values(), default=0.0):
            found.tools[id_] = best
            found.fields[id_] = {path: value for path, value in fits.items() if value == best}
    if not found.tools:
        known = [one.name for one in network.tools.values()]
        raise GraphError(
            f"No tool is named {name!r}, and none {role} it.",
            did_you_mean(name, known, "Give a tool, a type such as string:uri, or the name of a field."),
        )
    return found


def _named(each: Field, wanted: frozenset[str]) -> float:
    """Return the share of a field's words that are ``wanted``; 0 unless all wanted words are among them."""
    if not wanted or not wanted <= each.words:
        return 0.0
    return (TEXT if each.evidence == "text" else 1.0) * len(wanted) / len(each.words)


def _fit(system: TypeSystem, name: str, each: Field, role: Literal["takes", "returns"]) -> float:
    """Return the confidence that the type of a name fits a field, or the field fits it; 0 if either is unknown."""
    names = (name, each.type.name) if role == "takes" else (each.type.name, name)
    if "any" in names or not system.types.keys() >= {*names}:
        return 0.0
    found = system.compatibility(*(system.types[one] for one in names))
    if found and found.how == "inheritance" and names[1] in _PLAIN and stems(split(name)).isdisjoint(each.words):
        return TEXT * found.confidence
    return found.confidence if found else 0.0
