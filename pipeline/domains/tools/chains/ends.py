"""The ends of a chain: a tool, or what a tool takes or returns, as a user names it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.domains.tools.chains.network import ToolNetwork
from pipeline.domains.tools.records import Tool
from pipeline.domains.tools.types.fields import Field
from pipeline.domains.tools.types.system import TypeSystem
from pipeline.domains.tools.types.words import split, stems
from pipeline.errors import GraphError, did_you_mean

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


def start(network: ToolNetwork, system: TypeSystem, name: str) -> End:
    """Return the tool of a name, else the tools that take data of the type or field that is so named."""
    return _end(network, name, "takes", network.takes, lambda given, wanted: _fit(system, given, wanted))


def goal(network: ToolNetwork, system: TypeSystem, name: str) -> End:
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
