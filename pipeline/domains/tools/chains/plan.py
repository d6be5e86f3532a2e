"""Plan a path of tools as executable steps: which field fills each input, what is missing, what may run in parallel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from pipeline.domains.tools.chains.network import Link, ToolNetwork
from pipeline.domains.tools.types.fields import missing_inputs, required_inputs

_SURE = 0.7
"""Least confidence of a flow at which its tool is inserted to fill a missing input: that of a rule's conversion, below
inheritance (0.8) and above what texts alone say (0.5). Chosen by hand; not measured."""

_MOST_ADDED = 4
"""Prerequisites inserted at most, besides two for each tool of the path: a plan stays readable. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Binding:
    """An input of a step, and the output that fills it; ``step`` is the number of the earlier step, from 1."""

    input: str
    step: int
    output: str
    confidence: float
    how: str = ""
    converter: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A tool of a chain. Steps of the same ``level`` can run in parallel.

    ``missing`` are required inputs that no earlier step fills: the caller supplies them. ``after`` are the numbers of
    the steps that must run before it, with or without data for it; ``condition`` says when the step is needed.
    """

    tool: str
    name: str
    service: str
    level: int
    bindings: tuple[Binding, ...]
    missing: tuple[str, ...]
    after: tuple[int, ...]
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps in the order of execution; ``confidence`` is the product of the confidences of the links between them.

    ``relevance`` is the sum of the tools' relevance to the task; 1 if there is no task.
    """

    steps: tuple[Step, ...]
    confidence: float
    relevance: float = 1.0

    @property
    def tools(self) -> tuple[str, ...]:
        """The ids of the tools, in order."""
        return tuple(step.tool for step in self.steps)


def plan(
    network: ToolNetwork, path: Sequence[str], confidence: float, given: Sequence[str] = (), *, in_order: bool = False
) -> Chain:
    """Return a path of tools as a chain, with each tool's missing prerequisites inserted before it.

    Prerequisites are stated needs, and tools whose output surely fills a required input. ``given`` are inputs of the
    first tool that the caller's data fill. With ``in_order``, a tool without a link from an earlier one runs after the
    previous tool of the path. Raises KeyError for a tool that the network lacks.
    """
    tools = _with_needs(network, path)
    links = {
        (source, target): link
        for place, target in enumerate(tools)
        for source in tools[:place]
        if (link := network.link(source, target))
    }
    numbers = {tool: number for number, tool in enumerate(tools, 1)}
    levels: dict[str, int] = {}
    steps: list[Step] = []
    for tool in tools:
        before = [link for (_, target), link in links.items() if target == tool]
        if in_order and not before and tool in path[1:]:
            before = [Link(path[path.index(tool) - 1], tool, 0.0)]
        levels[tool] = 1 + max((levels[link.source] for link in before), default=0)
        bindings = _bindings(before, numbers)
        filled = {binding.input for binding in bindings} | (set(given) if tool == path[0] else set())
        own = network.tools[tool]
        # a step has no condition if the tools of the chain that need it state several
        conditions = {link.condition for link in network.outgoing.get(tool, ()) if link.target in tools}
        steps.append(
            Step(
                tool,
                own.name,
                network.services.get(own.service, own.service),
                levels[tool],
                bindings,
                tuple(field.name for field in missing_inputs(own, filled)),
                tuple(sorted(numbers[link.source] for link in before)),
                conditions.pop() if len(conditions) == 1 else "",
            )
        )
    return Chain(tuple(steps), confidence)


def _with_needs(network: ToolNetwork, path: Sequence[str]) -> list[str]:
    """Insert each tool's missing prerequisites before it."""
    tools: dict[str, None] = {}
    room = _MOST_ADDED + 2 * len(path)
    for tool in path:
        needs = [need for need in _needs(network, tool, set(path)) if need not in tools][:room]
        room -= len(needs)
        tools |= dict.fromkeys([*needs, tool])
    return list(tools)


def _needs(network: ToolNetwork, tool: str, path: set[str], seen: frozenset[str] = frozenset()) -> list[str]:
    """Return the prerequisites of a tool, each after its own; a cycle ends where it began."""
    found: list[str] = []
    for link in _wanted(network, tool, path):
        if link.source not in seen and link.source != tool:
            found += [*_needs(network, link.source, path, seen | {tool}), link.source]
    return [one for one in dict.fromkeys(found) if one not in path]


def _wanted(network: ToolNetwork, tool: str, path: set[str]) -> list[Link]:
    """Return the links of stated needs, and the surest link for each required input that nothing else fills."""
    incoming = network.incoming.get(tool, ())
    wanted = [link for link in incoming if link.stated]
    sources = path | {link.source for link in wanted}
    filled = {fit.input for link in incoming if link.source in sources for fit in link.mappings}
    for name in (field.name for field in required_inputs(network.tools[tool]) if field.name not in filled):
        sure = (
            link
            for link in incoming
            if link.evidence == "schema" and any(fit.input == name and fit.confidence >= _SURE for fit in link.mappings)
        )
        wanted += islice(sure, 1)
    return wanted


def _bindings(links: Sequence[Link], numbers: Mapping[str, int]) -> tuple[Binding, ...]:
    """Return the binding of each input: the most confident output, on a tie that of the latest step."""
    bindings = (
        Binding(fit.input, numbers[link.source], fit.output, fit.confidence, fit.how, fit.converter)
        for link in links
        for fit in link.mappings
    )
    best_first = sorted(bindings, key=lambda one: (one.confidence, one.step), reverse=True)
    best = {binding.input: binding for binding in reversed(best_first)}
    return tuple(best[name] for name in sorted(best))
