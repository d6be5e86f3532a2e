"""Complete tools to a whole plan: fill each required input by what is given, by another tool of it, or by a new one."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from typing import NamedTuple, TypeAlias

from pipeline.domains.tools.chains.network import ToolNetwork
from pipeline.domains.tools.types.flows import FieldMapping

SURE = 0.7
"""Least confidence of a flow that is worth a tool of its own: that of a rule's conversion, below inheritance (0.8) and
above what texts alone say (0.5). Chosen by hand; not measured."""

# Factors of the score by which plans are ranked. Chosen by hand, so that the orders that their comments say hold.

STEP = 0.9  # for a further tool: of two equally sure ways the shorter wins
ASKED = 0.3  # for an input that the caller is left to supply: below a sure flow through a further tool (0.9 * 0.7)
_OWN = 0.7  # for one of a tool that was asked for itself, if no tool can supply it: whoever wants the tool has to
STATED = 0.8  # for one that the task speaks of, and probably states: above any flow through a further tool
_UNSURE = 0.5  # for a flow below SURE through a further tool (0.7 * 0.9 * 0.5): to ask for the input comes before it
_ACTING = 0.4  # for a further tool that changes something, which nobody asked for: 0.9 * 0.4 is still above ASKED

Stated: TypeAlias = Callable[[str, str], bool]
"""A function that tells whether the caller's task speaks of an input, by the id of its tool and its path."""

_MOST_ADDED = 4
"""Tools added at most, besides two for each tool asked for: a plan stays readable. Chosen by hand."""

_MOST_EXPANDED = 5_000
"""Drafts extended before a search ends with what it has, which bounds its time. Chosen by hand; not measured."""


@dataclass(frozen=True)
class Given:
    """The data that the caller has: the confidence that they fit the inputs of each tool, by path.

    A plan must use them, in one input at least. They fill each input that they fit by ``sure`` or more, before any tool
    does. ``tool`` is the id of a tool that has run instead.
    """

    fits: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    sure: float = SURE
    tool: str = ""


class Fill(NamedTuple):
    """An input of a tool that an output of ``source`` fills; without a path only their order is known."""

    tool: str
    path: str
    source: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan in the making: its tools with their depths, the inputs still to fill, and what fills the others.

    ``confidence`` is the product of those of its flows, ``ease`` that of the other factors.
    """

    targets: tuple[str, ...]
    ease: float
    tools: Mapping[str, int]
    confidence: float = 1.0
    open: tuple[tuple[str, str], ...] = ()
    fills: tuple[Fill, ...] = ()
    given: tuple[tuple[str, str], ...] = ()
    started: bool = True

    @property
    def has_room(self) -> bool:
        """True if a tool may be added."""
        return len(self.tools) < _MOST_ADDED + 3 * len(self.targets)


def completed(
    network: ToolNetwork,
    targets: Mapping[tuple[str, ...], float],
    *,
    longest: int,
    limit: int,
    given: Given | None = None,
    stated: Stated | None = None,
) -> Iterator[Draft]:
    """Yield the ``limit`` best plans that hold the tools of any of ``targets``, best first; no two have the same tools.

    ``targets`` map tools in their order to the factor of their plans. ``stated`` tells whether the caller's task speaks
    of an input of a tool. Tools come before those that they feed, at most ``longest`` in a row besides the targets.
    """
    search = _Completion(network, longest, given, stated)
    heap: list[tuple[float, int, Draft]] = []
    ticks = count()  # of equal scores the first found comes first

    def push(drafts: Iterator[Draft]) -> None:
        for one in drafts:
            if bound := one.ease * one.confidence * search.bound(one):
                heapq.heappush(heap, (-bound, next(ticks), one))

    push(search.first(*one) for one in targets.items())
    found: set[frozenset[str]] = set()
    for _ in range(_MOST_EXPANDED):
        if not heap or len(found) >= limit:
            return
        draft = heapq.heappop(heap)[2]
        if draft.open or not draft.started:
            push(search.extended(draft))
        elif (tools := frozenset(draft.tools)) not in found:
            found.add(tools)
            yield draft


class _Completion:
    def __init__(self, network: ToolNetwork, longest: int, given: Given | None, stated: Stated | None) -> None:
        self._network, self._longest, self._stated = network, longest, stated
        self._given, self._free = given or Given(), given is None
        self._reach = _reach(network, self._given)
        # asked for again by each of many drafts
        self._asked, self._inputs, self._alone = (
            cache(self._find_asked),
            cache(self._find_inputs),
            cache(self._find_alone),
        )

    def first(self, targets: tuple[str, ...], ease: float) -> Draft:
        """Return the draft that holds the targets alone, and the tools that they need as their authors state."""
        draft = Draft(targets, ease, {}, started=self._free)
        for target in targets:
            draft = self._with(draft, target, 1) if target not in draft.tools else draft
        return draft

    def bound(self, draft: Draft) -> float:
        """Return the most by which the score can still be multiplied."""
        best = 1.0
        for tool, path in draft.open:
            best *= max(self._alone(tool, path, tool in draft.targets), self._within(draft, tool, path))
        if draft.started:
            return best
        return best and max((self._into(tool) for tool in draft.tools), default=0.0)

    def extended(self, draft: Draft) -> Iterator[Draft]:
        """Yield the drafts in which the next open input is filled, asked for, or replaced by its parts."""
        if not draft.open:
            yield from self._started(draft)
            return
        (tool, path), rest = draft.open[0], draft.open[1:]
        draft = replace(draft, open=rest)
        ways = self._network.parts(tool, path)
        for way in ways:
            if unfilled := self._unfilled(draft, tool, way):
                yield replace(draft, open=(*unfilled, *rest))
            else:
                yield draft
        if (fit := self._fit(tool, path)) > 0:
            yield replace(draft, ease=draft.ease * fit, given=(*draft.given, (tool, path)), started=True)
        asked = self._asked(tool, path, tool in draft.targets)
        yield replace(draft, ease=draft.ease * asked)
        for source, mapping in self._network.suppliers(tool).get(path, ()):
            leads = not draft.started and source in self._reach
            if source in draft.tools or leads or self._new(source, mapping) > asked:
                yield from self._supplied(draft, Fill(tool, path, source), mapping)

    def _supplied(self, draft: Draft, fill: Fill, mapping: FieldMapping) -> Iterator[Draft]:
        """Yield the draft in which a tool of it, or a new one, fills an input, if no circle arises."""
        draft = replace(draft, confidence=draft.confidence * mapping.confidence, fills=(*draft.fills, fill))
        if fill.source in draft.tools:
            if not self._feeds(draft, fill.tool, fill.source):
                yield draft
        elif (depth := draft.tools[fill.tool] + 1) <= self._longest and draft.has_room:
            ease = draft.ease * self._step(fill.source, mapping)
            yield self._with(replace(draft, ease=ease), fill.source, depth)

    def _started(self, draft: Draft) -> Iterator[Draft]:
        """Yield the drafts in which a further input of a tool is filled so that what is given may be used."""
        filled = {(fill.tool, fill.path) for fill in draft.fills} | {*draft.given}
        for tool, depth in draft.tools.items():
            for path, fit in self._given.fits.get(tool, {}).items():
                if (tool, path) not in filled:
                    yield replace(draft, ease=draft.ease * fit, given=(*draft.given, (tool, path)), started=True)
            for link in self._network.incoming.get(tool, ()):
                if link.source in draft.tools or not self._reach.get(link.source) or depth >= self._longest:
                    continue
                for mapping in link.mappings:
                    if (tool, mapping.input) not in filled:
                        yield from self._supplied(draft, Fill(tool, mapping.input, link.source), mapping)
                if not link.mappings:
                    ordered = replace(draft, ease=draft.ease * STEP, confidence=draft.confidence * link.confidence)
                    fills = (*draft.fills, Fill(tool, "", link.source))
                    yield self._with(replace(ordered, fills=fills), link.source, depth + 1)

    def _with(self, draft: Draft, tool: str, depth: int) -> Draft:
        """Return the draft with a new tool, and the tools that it needs as its author states."""
        network, tools = self._network, {**draft.tools, tool: depth}
        given = tuple((tool, path) for path in self._given.fits.get(tool, ()) if self._binds(tool, path))
        started = draft.started or bool(given) or (tool == self._given.tool)
        draft = replace(draft, tools=tools, given=(*draft.given, *given), started=started)
        if tool != self._given.tool:
            paths = self._unfilled(draft, tool, network.required(tool))
            draft = replace(draft, open=(*draft.open, *paths))
        for link in network.incoming.get(tool, ()):
            if link.stated and (link.source in draft.tools or draft.has_room):
                if self._feeds(draft, tool, link.source):
                    continue
                draft = replace(draft, fills=(*draft.fills, Fill(tool, "", link.source)))
                if link.source not in draft.tools:
                    draft = self._with(draft, link.source, depth)
        return draft

    def _unfilled(self, draft: Draft, tool: str, paths: Sequence[str]) -> tuple[tuple[str, str], ...]:
        return tuple((tool, path) for path in paths if (tool, path) not in draft.given)

    def _feeds(self, draft: Draft, source: str, target: str) -> bool:
        """Return whether a tool comes before another one, since it feeds it, directly or not, or by the targets."""
        waiting = [target]
        for tool in waiting:  # it grows meanwhile
            if tool == source:
                return True
            waiting += [one for one in before(draft, tool) if one not in waiting]
        return False

    def _fit(self, tool: str, path: str) -> float:
        return self._given.fits.get(tool, {}).get(path, 0.0)

    def _binds(self, tool: str, path: str) -> bool:
        return self._fit(tool, path) >= self._given.sure

    def _find_asked(self, tool: str, path: str, is_target: bool = False) -> float:
        """Return the factor of leaving an input to the caller."""
        if self._stated and self._stated(tool, path):
            return STATED
        return _OWN if is_target and not self._network.suppliers(tool).get(path) else ASKED

    def _step(self, source: str, mapping: FieldMapping) -> float:
        """Return the factor of a new tool that fills an input."""
        sure = mapping.confidence >= SURE and mapping.evidence == "schema"
        return STEP * (_ACTING if self._network.acts(source) else 1.0) * (1.0 if sure else _UNSURE)

    def _new(self, source: str, mapping: FieldMapping) -> float:
        """Return the highest factor of filling an input by a new tool, whose own inputs then have to be filled."""
        return mapping.confidence * self._step(source, mapping) * self._inputs(source)

    def _find_inputs(self, tool: str) -> float:
        """Return the highest factor that the inputs of a tool can have."""
        if tool == self._given.tool:
            return 1.0
        return math.prod(self._filled(tool, path) for path in self._network.required(tool))

    def _filled(self, tool: str, path: str) -> float:
        """Return the highest factor of filling an input, if every tool was there."""
        confidences = (mapping.confidence for _, mapping in self._network.suppliers(tool).get(path, ()))
        ways = (math.prod(self._filled(tool, part) for part in way) for way in self._network.parts(tool, path))
        fit = 1.0 if self._binds(tool, path) else self._fit(tool, path)
        return max([self._asked(tool, path), fit, *confidences, *ways])

    def _find_alone(self, tool: str, path: str, is_target: bool) -> float:
        """Return the highest factor of filling an input by other tools than those of a draft."""
        new = (self._new(*supply) for supply in self._network.suppliers(tool).get(path, ()))
        ways = (math.prod(self._filled(tool, part) for part in way) for way in self._network.parts(tool, path))
        return max([self._asked(tool, path, is_target), self._fit(tool, path), *new, *ways])

    def _within(self, draft: Draft, tool: str, path: str) -> float:
        """Return the highest factor of filling an input by a tool of a draft."""
        supplies = self._network.suppliers(tool).get(path, ())
        return max((mapping.confidence for source, mapping in supplies if source in draft.tools), default=0.0)

    def _into(self, tool: str) -> float:
        """Return the highest factor that leads from what is given into a tool."""
        direct = max(self._given.fits.get(tool, {}).values(), default=0.0)
        links = self._network.incoming.get(tool, ())
        return max([direct, *(link.confidence * STEP * self._reach.get(link.source, 0.0) for link in links)])


def before(draft: Draft, tool: str) -> list[str]:
    """Return the tools that come right before a tool: those that feed it, and the target before it."""
    place = draft.targets.index(tool) if tool in draft.targets else 0
    return [*draft.targets[max(place - 1, 0) : place], *(fill.source for fill in draft.fills if fill.tool == tool)]


def _reach(network: ToolNetwork, given: Given) -> dict[str, float]:
    """Return the highest factor of a way from what is given to each tool that it reaches."""
    starts = {tool: max(fits.values()) for tool, fits in given.fits.items() if fits}
    starts |= {given.tool: 1.0} if given.tool else {}
    heap = [(-value, tool) for tool, value in starts.items()]
    heapq.heapify(heap)
    reach: dict[str, float] = {}
    while heap:
        value, tool = heapq.heappop(heap)
        if tool not in reach:
            reach[tool] = -value
            for link in network.outgoing.get(tool, ()):
                heapq.heappush(heap, (value * link.confidence * STEP, link.target))
    return reach
