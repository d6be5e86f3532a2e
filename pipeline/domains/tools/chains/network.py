"""The links between the tools of a graph, in memory: flows of data, and orders from needs, texts and calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipeline.domains.tools.catalogue import Tool
from pipeline.domains.tools.schema import ToolEdge
from pipeline.domains.tools.types.fields import Field, inputs, outputs
from pipeline.domains.tools.types.flows import FieldMapping
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

    def link(self, source: str, target: str) -> Link | None:
        """Return the link between two tools, if there is one."""
        return next((link for link in self.outgoing.get(source, ()) if link.target == target), None)
