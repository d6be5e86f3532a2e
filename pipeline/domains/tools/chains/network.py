"""The links between the tools of a graph, in memory: flows of data, and orders from needs, texts and calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pipeline.domains.tools.catalogue import Tool
from pipeline.domains.tools.schema import ToolEdge
from pipeline.domains.tools.types.fields import Field, containers, inputs, outputs, required_inputs, ways_to_fill
from pipeline.domains.tools.types.flows import FieldMapping
from pipeline.domains.tools.types.words import ACTING, HANDLES, split, stems, subject
from pipeline.grouping import grouped
from pipeline.knowledge import KnowledgeEdge

LINKS = (ToolEdge.DATA_FLOW, ToolEdge.TRANSFORM, ToolEdge.SEQUENTIAL, ToolEdge.CONDITIONAL)
"""The types of the edges that are links."""


@dataclass(frozen=True, slots=True)
class Link:
    """The tool ``source`` runs before the tool ``target``: data flows, or a need or a text demands it.

    ``stated`` marks a need that the target's author states; ``condition`` says when it applies.
    """

    source: str
    target: str
    confidence: float
    mappings: tuple[FieldMapping, ...] = ()
    evidence: str = ""
    stated: bool = False
    condition: str = ""


@dataclass(frozen=True)
class ToolNetwork:
    """The tools of a graph by id, the names of their services, and each tool's links, the most confident first."""

    tools: Mapping[str, Tool]
    services: Mapping[str, str]
    outgoing: Mapping[str, Sequence[Link]]
    incoming: Mapping[str, Sequence[Link]]

    @classmethod
    def of_edges(
        cls, tools: Sequence[Tool], services: Mapping[str, str], edges: Iterable[KnowledgeEdge]
    ) -> ToolNetwork:
        """Make a network of the edges of a graph; two tools with several edges have one link, of the evidence of all.

        Edges of other tools are left out: they were written since the tools were read.
        """
        ids = {tool.id for tool in tools}
        links: dict[tuple[str, str], Link] = {}
        for edge in edges:
            ends = edge.source, edge.target
            if ids.issuperset(ends):
                known, properties = links.get(ends, Link(*ends, 0.0)), edge.properties
                mappings: Any = properties.get("mappings", ())
                links[ends] = Link(
                    *ends,
                    max(known.confidence, min(1.0, edge.weight)),
                    known.mappings or tuple(FieldMapping(**mapping) for mapping in mappings),
                    known.evidence or str(properties.get("evidence", "")),
                    known.stated or properties.get("stated") is True,
                    known.condition or str(properties.get("condition", "")),
                )
        return cls.of(tools, services, links.values())

    @classmethod
    def of(cls, tools: Sequence[Tool], services: Mapping[str, str], links: Iterable[Link]) -> ToolNetwork:
        """Make a network of tools and links."""
        surest_first = sorted(links, key=lambda link: (-link.confidence, link.source, link.target))
        outgoing = grouped((link.source, link) for link in surest_first)
        incoming = grouped((link.target, link) for link in surest_first)
        return cls({tool.id: tool for tool in tools}, services, dict(outgoing), dict(incoming))

    @cached_property
    def takes(self) -> Mapping[str, Sequence[Field]]:
        """The input fields of each tool, by id; kept, since reading them from schemas takes longer than a search."""
        return {tool.id: inputs(tool) for tool in self.tools.values()}

    @cached_property
    def returns(self) -> Mapping[str, Sequence[Field]]:
        """The output fields of each tool, by id."""
        return {tool.id: outputs(tool) for tool in self.tools.values()}

    @cached_property
    def told(self) -> Mapping[str, frozenset[str]]:
        """The stems of the name and the description of each tool, by id."""
        return {tool.id: stems((*split(tool.name), *split(tool.description))) for tool in self.tools.values()}

    @cached_property
    def held(self) -> Mapping[str, frozenset[str]]:
        """The stems of the inputs and outputs of each tool, by id."""
        fields = ((id_, (*self.takes[id_], *self.returns[id_])) for id_ in self.tools)
        return {id_: frozenset[str]().union(*(each.words for each in own)) for id_, own in fields}

    @cached_property
    def _suppliers(self) -> Mapping[str, Mapping[str, Sequence[tuple[str, FieldMapping]]]]:
        found = {}
        for target, links in self.incoming.items():
            fits = ((link.source, fit) for link in links for fit in link.mappings)
            surest_first = sorted(fits, key=lambda pair: (-pair[1].confidence, pair[0]))
            found[target] = dict(grouped((fit.input, (source, fit)) for source, fit in surest_first))
        return found

    def suppliers(self, tool: str) -> Mapping[str, Sequence[tuple[str, FieldMapping]]]:
        """Return what fits each input of a tool, by the input's path: the tools, each with its output, surest first."""
        return self._suppliers.get(tool, {})

    def required(self, tool: str) -> list[str]:
        """Return the paths of the required inputs of a tool, without those inside objects."""
        return [each.path for each in required_inputs(self.takes[tool])]

    def needed(self, tool: str) -> set[str]:
        """Return the paths of the required inputs of a tool and of all that is inside them."""
        roots = tuple(self.required(tool))
        inside = tuple(f"{path}." for path in roots)
        return {each.path for each in self.takes[tool] if each.path in roots or each.path.startswith(inside)}

    def parts(self, tool: str, path: str) -> list[list[str]]:
        """Return the ways to fill an input that is an object by its parts: the paths of those of each."""
        return [[each.path for each in way] for way in ways_to_fill(self.takes[tool], path)]

    def acts(self, tool: str) -> bool:
        """Return whether a tool changes something: as its author says, else by the verb of its name."""
        own = self.tools[tool]
        reads = own.annotations.get("readOnlyHint")
        return not reads if isinstance(reads, bool) else subject(own.name, own.service).verb in ACTING

    def ends(self, tool: str, role: Literal["takes", "returns"]) -> list[Field]:
        """Return the fields at which a chain may begin or end: what a tool takes; or what it returns, echoes left out.

        Objects and lists that are returned are fields as a whole, too.
        """
        if role == "takes":
            return list(self.takes[tool])
        taken = {each.name for each in self.takes[tool] if each.required}
        own = [*self.returns[tool], *containers(self.tools[tool])]
        return [each for each in own if each.name not in taken or each.name in HANDLES] or own

    def link(self, source: str, target: str) -> Link | None:
        """Return the link between two tools, if there is one."""
        return next((link for link in self.outgoing.get(source, ()) if link.target == target), None)
