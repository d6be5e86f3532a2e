"""The links between the tools of a graph, in memory: flows of data, and the order that needs and texts ask for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipeline.domains.tools.catalogue import Tool, service_id, tool_of
from pipeline.domains.tools.schema import SERVICE, TOOL, ToolEdge
from pipeline.domains.tools.types.fields import Field, inputs, outputs
from pipeline.domains.tools.types.flows import FieldMapping
from pipeline.knowledge import KnowledgeGraph

_LINKS = (ToolEdge.DATA_FLOW, ToolEdge.TRANSFORM, ToolEdge.SEQUENTIAL, ToolEdge.CONDITIONAL)


@dataclass(frozen=True, slots=True)
class Link:
    """The tool ``source`` runs before the tool ``target``: data flows, or a need or a text asks for it.

    ``stated`` marks a need that the target's author states, ``condition`` when it holds.
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
    """The tools of a graph by id, the names of their services, and the links from and to each tool, best first."""

    tools: Mapping[str, Tool]
    services: Mapping[str, str]
    outgoing: Mapping[str, Sequence[Link]]
    incoming: Mapping[str, Sequence[Link]]

    @classmethod
    def read(cls, graph: KnowledgeGraph) -> ToolNetwork:
        """Read the tools and links of a graph; two tools with several edges have one link."""
        nodes = graph.find_nodes_by_type(TOOL)
        services = {
            node.id.removeprefix(service_id("")): str(node.properties.get("name", node.id))
            for node in graph.find_nodes_by_type(SERVICE)
        }
        edges = [edge for kind in _LINKS for edge in graph.get_edges_by_type(kind.value)]
        links: dict[tuple[str, str], Link] = {}
        for edge in edges:
            link = _link(edge.source, edge.target, edge.weight, edge.properties)
            known = links.get((edge.source, edge.target))
            links[edge.source, edge.target] = _joined(known, link) if known else link
        return cls.of([tool_of(node) for node in nodes], services, links.values())

    @classmethod
    def of(cls, tools: Sequence[Tool], services: Mapping[str, str], links: Iterable[Link]) -> ToolNetwork:
        """Make a network of tools and links."""
        outgoing: dict[str, list[Link]] = defaultdict(list)
        incoming: dict[str, list[Link]] = defaultdict(list)
        for link in sorted(links, key=lambda link: (-link.confidence, link.source, link.target)):
            outgoing[link.source].append(link)
            incoming[link.target].append(link)
        return cls({tool.id: tool for tool in tools}, services, dict(outgoing), dict(incoming))

    @cached_property
    def takes(self) -> Mapping[str, Sequence[Field]]:
        """The fields that each tool takes, by id: reading them from schemas costs more than a search of chains."""
        return {tool.id: inputs(tool) for tool in self.tools.values()}

    @cached_property
    def returns(self) -> Mapping[str, Sequence[Field]]:
        """The fields that each tool returns, by id."""
        return {tool.id: outputs(tool) for tool in self.tools.values()}

    def link(self, source: str, target: str) -> Link | None:
        """Return the link between two tools, if there is one."""
        return next((link for link in self.outgoing.get(source, ()) if link.target == target), None)


def _link(source: str, target: str, weight: float, properties: Mapping[str, Any]) -> Link:
    mappings = tuple(FieldMapping(**mapping) for mapping in properties.get("mappings", ()))
    return Link(
        source,
        target,
        min(1.0, weight),
        mappings,
        str(properties.get("evidence", "")),
        properties.get("stated") is True,
        str(properties.get("condition", "")),
    )


def _joined(first: Link, second: Link) -> Link:
    """Return one link for two between the same tools: the higher confidence, and what either knows."""
    return Link(
        first.source,
        first.target,
        max(first.confidence, second.confidence),
        first.mappings or second.mappings,
        first.evidence or second.evidence,
        first.stated or second.stated,
        first.condition or second.condition,
    )
