"""The catalogue that a graph holds: what was read when it was built."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pipeline.domains.tools.records import Catalogue, Need, Service, Tool
from pipeline.domains.tools.schema import REGISTRY, SERVICE, TOOL, ToolEdge
from pipeline.knowledge import KnowledgeGraph, KnowledgeNode


def type_id(name: str) -> str:
    """Return the id of a type's node."""
    return f"type:{name}"


def registry_id(name: str) -> str:
    """Return the id of a registry's node."""
    return f"registry:{name}"


def service_id(name: str) -> str:
    """Return the id of a service's node."""
    return f"service:{name}"


def stored_catalogue(graph: KnowledgeGraph) -> Catalogue:
    """Return the registries, services and tools of a graph; the catalogue is empty if it holds none."""
    registry_of = {
        edge.source: edge.target.removeprefix(registry_id("")) for edge in graph.get_edges_by_type(ToolEdge.BELONGS_TO)
    }
    return Catalogue(
        registries={
            node.id.removeprefix(registry_id("")): str(node.properties["name"])
            for node in graph.find_nodes_by_type(REGISTRY)
        },
        services=[_service(node, registry_of) for node in graph.find_nodes_by_type(SERVICE)],
        tools=[tool_of(node) for node in graph.find_nodes_by_type(TOOL)],
        transitions={
            (edge.source, edge.target): int(str(edge.properties["calls"]))
            for kind in (ToolEdge.SEQUENTIAL, ToolEdge.CONDITIONAL)
            for edge in graph.get_edges_by_type(kind)
            if "calls" in edge.properties
        },
    )


def tool_of(node: KnowledgeNode) -> Tool:
    """Return the tool that a node of a graph holds."""
    values = node.properties
    needs = json.loads(str(values.get("stated", "[]")))
    faults = values.get("faults", [])
    return Tool(
        id=node.id,
        name=str(values.get("name", node.id)),
        service=str(values.get("service", "")).removeprefix(service_id("")),
        description=str(values.get("description", "")),
        title=str(values.get("title", "")),
        input=_loaded(values.get("input")),
        output=_loaded(values.get("output")),
        needs=tuple(Need(*need) for need in needs),
        annotations=_loaded(values.get("annotations")) or {},
        faults=tuple(map(str, faults)) if isinstance(faults, list) else (),
    )


def _service(node: KnowledgeNode, registry_of: Mapping[str, str]) -> Service:
    values = {name: str(node.properties.get(name, "")) for name in ("name", "description", "category")}
    return Service(
        node.id.removeprefix(service_id("")), **values, tags=tuple(node.labels), registry=registry_of.get(node.id, "")
    )


def _loaded(text: object) -> Mapping[str, Any] | None:
    value = json.loads(text) if isinstance(text, str) and text else None
    return value if isinstance(value, dict) else None
