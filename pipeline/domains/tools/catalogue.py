"""Tools and services: their records, their texts, and the catalogue that a graph holds."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

from pipeline.domains.tools.schema import REGISTRY, SERVICE, TOOL, ToolEdge
from pipeline.knowledge import KnowledgeGraph, KnowledgeNode
from pipeline.records import Skipped

JsonSchema: TypeAlias = Mapping[str, Any]
"""A JSON Schema, as parsed from JSON; nothing in it is trusted."""


@dataclass(frozen=True, slots=True)
class Service:
    """An MCP service (server). ``registry`` is the id of the registry that lists it, empty if none does.

    ``origin`` tells servers of the same name apart, as far as it is known: the digest of the address or the command of
    a live one.
    """

    id: str
    name: str
    description: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    registry: str = ""
    origin: str = field(default="", compare=False)

    def renamed(self, id_: str) -> Self:
        """Return the service with another id that begins with its own; its name ends as the id does."""
        return replace(self, id=id_, name=self.name + id_.removeprefix(self.id))


@dataclass(frozen=True, slots=True)
class Need:
    """A stated dependency: the name or id of the needed tool, the parameter that it fills, and the reason."""

    tool: str
    parameter: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of a service. ``id`` is unique in its graph.

    ``input`` and ``output`` are JSON Schemas; None if missing or invalid, as ``faults`` explains. ``needs`` are the
    dependencies that its author states, ``annotations`` the hints of MCP (``readOnlyHint`` ...).
    """

    id: str
    name: str
    service: str
    description: str = ""
    title: str = ""
    input: JsonSchema | None = None
    output: JsonSchema | None = None
    needs: tuple[Need, ...] = ()
    annotations: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Registries (names by id), services and tools, and the files and tools that were skipped.

    ``transitions`` counts how often the second of two tools, by their ids, was called right after the first.
    """

    registries: Mapping[str, str] = field(default_factory=dict)
    services: Sequence[Service] = ()
    tools: Sequence[Tool] = ()
    skipped: Sequence[Skipped] = ()
    transitions: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Built:
    """Counts of a built graph by type of node and edge, and what was skipped.

    ``embedded`` counts texts, ``written`` the nodes and edges added, changed or removed. ``faults`` are the schemas
    that couldn't be used, as ``tool: reason``.
    """

    nodes: Mapping[str, int]
    edges: Mapping[str, int]
    skipped: Sequence[Skipped]
    faults: Sequence[str]
    embedded: int
    written: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two catalogues: tools by id, what was skipped, and faults as :class:`Built` has them."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    skipped: Sequence[Skipped]
    faults: tuple[str, ...]

    @classmethod
    def between(cls, before: Catalogue, after: Catalogue) -> Self:
        """Return what makes one catalogue of another."""
        old, new = ({tool.id: tool for tool in one.tools} for one in (before, after))
        return cls(
            tuple(id_ for id_ in new if id_ not in old),
            tuple(id_ for id_, tool in new.items() if id_ in old and old[id_] != tool),
            tuple(id_ for id_ in old if id_ not in new),
            after.skipped,
            tuple(f"{id_}: {fault}" for id_, tool in new.items() if old.get(id_) != tool for fault in tool.faults),
        )


_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


def words_of_name(name: str) -> str:
    """Return the words of a name in camelCase, snake_case or kebab-case, with spaces between them."""
    return " ".join(_PARTS.findall(name)) or name


def node_id(kind: str, name: str = "") -> str:
    """Return the id of the node of a service, registry or type."""
    return f"{kind}:{name}"


def stored_catalogue(graph: KnowledgeGraph) -> Catalogue:
    """Return the registries, services and tools of a graph; the catalogue is empty if it holds none."""
    prefix, listed = node_id(REGISTRY), graph.get_edges_by_type(ToolEdge.BELONGS_TO)
    registry_of = {edge.source: edge.target.removeprefix(prefix) for edge in listed}
    registries = graph.find_nodes_by_type(REGISTRY)
    return Catalogue(
        registries={node.id.removeprefix(prefix): str(node.properties["name"]) for node in registries},
        services=[_service(node, registry_of.get(node.id, "")) for node in graph.find_nodes_by_type(SERVICE)],
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
    faults = values.get("faults", [])
    return Tool(
        id=node.id,
        name=str(values.get("name", node.id)),
        service=str(values.get("service", "")).removeprefix(node_id(SERVICE)),
        description=str(values.get("description", "")),
        title=str(values.get("title", "")),
        input=_loaded(values.get("input")),
        output=_loaded(values.get("output")),
        needs=tuple(Need(*need) for need in json.loads(str(values.get("stated", "[]")))),
        annotations=_loaded(values.get("annotations")) or {},
        faults=tuple(map(str, faults)) if isinstance(faults, list) else (),
    )


def _service(node: KnowledgeNode, registry: str) -> Service:
    values = {name: str(node.properties.get(name, "")) for name in ("name", "description", "category", "origin")}
    return Service(node.id.removeprefix(node_id(SERVICE)), **values, tags=tuple(node.labels), registry=registry)


def _loaded(text: object) -> Mapping[str, Any] | None:
    value = json.loads(text) if isinstance(text, str) and text else None
    return value if isinstance(value, dict) else None
