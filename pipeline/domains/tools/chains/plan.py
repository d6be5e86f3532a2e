"""Plan a path of tools as executable steps: which field fills each input, what is missing, what may run in parallel."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pipeline.domains.tools.chains.complete import SURE, Draft, before
from pipeline.domains.tools.chains.network import Link, ToolNetwork
from pipeline.domains.tools.types.fields import missing_inputs
from pipeline.domains.tools.types.flows import FieldMapping

UNLINKED = 0.2
"""Confidence of a step that only the order of the task supports: below that of any link, which is 0.3 (the setting
``tools.flow``) or more. Chosen by hand; not measured."""


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

    ``given`` are the inputs that what the caller has fills, ``missing`` the required inputs that nothing fills: the
    caller supplies them, too. ``after`` are the numbers of the steps that must run before it, with or without data for
    it; ``condition`` says when the step is needed.
    """

    tool: str
    name: str
    service: str
    level: int
    bindings: tuple[Binding, ...]
    missing: tuple[str, ...]
    after: tuple[int, ...]
    condition: str = ""
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps in the order of execution.

    ``confidence`` is the product of the confidences of all bindings, of the orders that have none, and of ``UNLINKED``
    for each step that only the order of the task joins with the others. ``relevance`` is how well the tools fit the
    task; 1 if there is no task.
    """

    steps: tuple[Step, ...]
    confidence: float
    relevance: float = 1.0

    @property
    def tools(self) -> tuple[str, ...]:
        """The ids of the tools, in order."""
        return tuple(step.tool for step in self.steps)


def plan(network: ToolNetwork, draft: Draft) -> Chain:
    """Return a draft as a chain: its tools in order, each input bound to the output that fits it best.

    A target that nothing joins with the targets before it runs after them.
    """
    tools, targets = ordered(draft), draft.targets
    numbers = {tool: number for number, tool in enumerate(tools, 1)}
    steps: list[Step] = []
    confidence, joined, led = 1.0, set[str](), dict[str, set[str]]()
    for tool in tools:
        bindings, after = _join(network, draft, tool, numbers)
        led[tool] = {tool}.union(*(led[tools[number - 1]] for number in after))
        confidence *= math.prod(one.confidence for one in bindings)
        if after and not bindings:
            links = (network.link(tools[number - 1], tool) for number in after)
            confidence *= max(link.confidence if link else 1.0 for link in links)
        if tool in targets:
            if joined and joined.isdisjoint(led[tool]):
                confidence *= UNLINKED
                after = after or {numbers[targets[targets.index(tool) - 1]]}
            joined |= led[tool]
        given = tuple(path for one, path in draft.given if one == tool)
        steps.append(_step(network, tools, steps, bindings, after, given))
    return Chain(tuple(steps), confidence)


def ordered(draft: Draft) -> list[str]:
    """Return the tools of a draft, each after those that it needs, and the targets in their order."""
    found: dict[str, None] = {}

    def visit(tool: str) -> None:
        for one in before(draft, tool):
            if one not in found:
                visit(one)
        found[tool] = None

    for target in draft.targets:
        if target not in found:
            visit(target)
    return list(found)


def _join(
    network: ToolNetwork, draft: Draft, tool: str, numbers: Mapping[str, int]
) -> tuple[tuple[Binding, ...], set[int]]:
    """Return the bindings of a step's inputs, and the numbers of the steps that it must follow.

    Required inputs take what fits best of all earlier steps. The others take what fits surely of the steps that feed
    it anyway; those of a target that nothing feeds, what its surest link brings.
    """
    links = [link for link in network.incoming.get(tool, ()) if numbers.get(link.source, numbers[tool]) < numbers[tool]]
    fills = [fill for fill in draft.fills if fill.tool == tool]
    required, taken = network.needed(tool), {fill.path for fill in fills}
    fits = [(link, fit) for link in links for fit in link.mappings if fit.input in required | taken]
    feeding = {fill.source for fill in fills} | {link.source for link, _ in fits}
    if not feeding and tool in draft.targets[1:]:
        feeding = {link.source for link in links[:1]}
        taken |= {fit.input for link in links[:1] for fit in link.mappings}
    fits += [
        (link, fit)
        for link in links
        for fit in link.mappings
        if link.source in feeding and fit.input not in required and (fit.confidence >= SURE or fit.input in taken)
    ]
    bindings = _bindings(fits, numbers, frozenset(path for one, path in draft.given if one == tool))
    stated = {link.source for link in links if link.stated or (link.source in feeding and not link.mappings)}
    return bindings, {one.step for one in bindings} | {numbers[source] for source in stated}


def _bindings(
    fits: Sequence[tuple[Link, FieldMapping]], numbers: Mapping[str, int], given: frozenset[str]
) -> tuple[Binding, ...]:
    """Return the binding of each input that isn't given: the most confident output, on a tie that of the latest step.

    An object is bound by its parts if that is surer, or if one of them is given; else as a whole.
    """
    bindings = (
        Binding(fit.input, numbers[link.source], fit.output, fit.confidence, fit.how, fit.converter)
        for link, fit in fits
    )
    best_first = sorted(bindings, key=lambda one: (one.confidence, one.step), reverse=True)
    best = {binding.input: binding for binding in reversed(best_first) if binding.input not in given}
    for path in sorted(best):
        parts = [name for name in (*best, *given) if name.startswith(f"{path}.")]
        sure = min((best[name].confidence if name in best else 1.0 for name in parts), default=0.0)
        if best[path].confidence < sure or not given.isdisjoint(parts):
            del best[path]
    kept = [name for name in best if not any(name.startswith(f"{whole}.") for whole in (*best, *given))]
    return tuple(best[name] for name in sorted(kept))


def _step(
    network: ToolNetwork,
    tools: Sequence[str],
    steps: Sequence[Step],
    bindings: tuple[Binding, ...],
    after: Collection[int],
    given: tuple[str, ...],
) -> Step:
    """Return the next step after ``steps``."""
    tool = network.tools[tools[len(steps)]]
    filled = {*given, *(binding.input for binding in bindings)}
    # a step has no condition if the tools of the chain that need it state several
    conditions = {link.condition for link in network.outgoing.get(tool.id, ()) if link.target in tools}
    return Step(
        tool.id,
        tool.name,
        network.services.get(tool.service, tool.service),
        1 + max((steps[number - 1].level for number in after), default=0),
        bindings,
        tuple(each.path if "." in each.path else each.name for each in missing_inputs(network.takes[tool.id], filled)),
        tuple(sorted(after)),
        conditions.pop() if len(conditions) == 1 else "",
        given,
    )
