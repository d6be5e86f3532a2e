"""Build a tool graph: read -> embed -> types and flows -> concepts -> nodes and edges -> sync."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.domains.tools import link
from pipeline.domains.tools.catalogue import (
    Built,
    Catalogue,
    Service,
    Tool,
    registry_id,
    service_id,
    service_text,
    stored_catalogue,
    tool_text,
    type_id,
)
from pipeline.domains.tools.link import Concept, find_concepts
from pipeline.domains.tools.order import mentions, read_calls, resolved
from pipeline.domains.tools.schema import CONCEPT, REGISTRY, SCHEMA, SERVICE, TOOL, TYPE
from pipeline.domains.tools.settings import ToolSettings
from pipeline.domains.tools.sources.paths import read
from pipeline.domains.tools.types.fields import inputs
from pipeline.domains.tools.types.flows import flows
from pipeline.domains.tools.types.system import TypeSystem
from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS, Limits
from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.progress import Progress
from pipeline.records import Vector

OpenGraph = Callable[[], KnowledgeGraph]
"""A function that opens or creates the graph; called once all sources are read."""


def build(
    open_graph: OpenGraph,
    paths: Sequence[Path],
    settings: ToolSettings,
    progress: Progress | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    log: Path | None = None,
) -> Built:
    """Make a graph hold exactly the tools of files and folders; see :func:`build_catalogue`.

    ``log`` is a log of calls; see :func:`pipeline.domains.tools.order.read_calls`. Raises SourceError if the paths hold
    no readable tool, or if the log can't be read.
    """
    progress = progress or Progress()
    with progress.stage("read"):
        catalogue = read(paths, limits)
        if log:
            catalogue = replace(catalogue, transitions=read_calls(log, catalogue.tools, limits))
    return build_catalogue(open_graph, catalogue, settings, progress)


def add(open_graph: OpenGraph, catalogue: Catalogue, settings: ToolSettings, progress: Progress | None = None) -> Built:
    """Add the services of a catalogue with their tools to a graph, replacing those already there.

    See :func:`build_catalogue`.
    """
    stored = stored_catalogue(open_graph())
    new = {service.id for service in catalogue.services} | {tool.service for tool in catalogue.tools}
    replaced = {tool.id for tool in stored.tools if tool.service in new}
    both = Catalogue(
        {**stored.registries, **catalogue.registries},
        [*(service for service in stored.services if service.id not in new), *catalogue.services],
        [*(tool for tool in stored.tools if tool.service not in new), *catalogue.tools],
        catalogue.skipped,
        {ends: count for ends, count in stored.transitions.items() if not {*ends} & replaced},
    )
    return build_catalogue(open_graph, both, settings, progress)


def build_catalogue(
    open_graph: OpenGraph, catalogue: Catalogue, settings: ToolSettings, progress: Progress | None = None
) -> Built:
    """Make a graph hold exactly a catalogue's tools, their services, types and concepts, and the edges between them.

    Embeds only new texts and writes only differences; readers see the graph before or after all of them. Raises
    SourceError if the catalogue holds no tool.
    """
    if not catalogue.tools:
        raise SourceError("There is no tool to build a graph of.", "Give tools/list JSON, server.yaml or corpus.jsonl.")
    progress, catalogue = progress or Progress(), _with_services(catalogue)
    graph = open_graph()
    texts = {tool.id: tool_text(tool) for tool in catalogue.tools}
    texts |= {service_id(service.id): service_text(service) for service in catalogue.services}
    with progress.stage("embed", len(texts)) as done:
        embeddings = graph.embed(texts, done)
    with progress.stage("link"):
        vectors = np.array([embeddings.vectors[tool.id] for tool in catalogue.tools])
        nodes, edges = tool_graph(catalogue, vectors, settings)
        SCHEMA.check(nodes, edges)
    with progress.stage("write"):
        changes = graph.sync(nodes, edges, embeddings)
    return Built(
        dict(sorted(Counter(node.type for node in nodes).items())),
        dict(sorted(Counter(edge.type for edge in edges).items())),
        catalogue.skipped,
        [f"{tool.id}: {fault}" for tool in catalogue.tools for fault in tool.faults],
        embeddings.encoded,
        changes.count(),
    )


def _with_services(catalogue: Catalogue) -> Catalogue:
    """Add the services and registries that tools and services name and the catalogue lacks."""
    known = {service.id for service in catalogue.services}
    unknown = sorted({tool.service for tool in catalogue.tools} - known)
    services = [*catalogue.services, *(Service(name, name) for name in unknown)]
    listed = {service.registry: service.registry for service in services if service.registry}
    return replace(catalogue, services=services, registries={**listed, **catalogue.registries})


def tool_graph(
    catalogue: Catalogue, vectors: Vector, settings: ToolSettings
) -> tuple[list[KnowledgeNode], list[KnowledgeEdge]]:
    """Return the nodes, without embeddings, and edges of a catalogue; ``vectors`` has a row for each tool."""
    tools = catalogue.tools
    system = TypeSystem(settings.conversions)
    needs = resolved(tools)
    found = flows(tools, system, threshold=settings.flow, sources=settings.sources)
    similar = link.similar_tools(tools, vectors, settings.neighbours, settings.similar)
    concepts = find_concepts(tools, similar, settings.resolution)
    type_edges = list(link.type_edges(tools, system))
    nodes = [
        *(_tool_node(tool, [other for other, _ in needs[tool.id]]) for tool in tools),
        *(_service_node(service) for service in catalogue.services),
        *_registry_nodes(catalogue.registries),
        *_type_nodes(type_edges),
        *_concept_nodes(concepts),
    ]
    edges = [
        *link.belonging(catalogue),
        *link.flow_edges(found),
        *link.order_edges(needs, mentions(tools), catalogue.transitions),
        *link.parallel_edges(needs),
        *link.similarity_edges(similar),
        *type_edges,
        *link.concept_edges(concepts, found),
    ]
    return nodes, edges


def _tool_node(tool: Tool, needs: Sequence[str]) -> KnowledgeNode:
    properties: dict[str, Any] = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "service": service_id(tool.service),
        "input": _dumped(tool.input),
        "output": _dumped(tool.output),
        "parameters": [f"{field.name}: {field.description}".rstrip(": ") for field in inputs(tool)],
        "needs": list(needs),
        "stated": json.dumps([astuple(need) for need in tool.needs]) if tool.needs else "",
        "annotations": _dumped(tool.annotations or None),
        "faults": list(tool.faults),
    }
    return KnowledgeNode(tool.id, TOOL, properties={name: value for name, value in properties.items() if value})


def _dumped(value: Mapping[str, Any] | None) -> str:
    """Return a JSON value as text: the names in a schema must not become properties of the node."""
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _service_node(service: Service) -> KnowledgeNode:
    properties: dict[str, Any] = {
        "name": service.name,
        "description": service.description,
        "category": service.category,
    }
    given = {name: value for name, value in properties.items() if value}
    return KnowledgeNode(service_id(service.id), SERVICE, labels=service.tags, properties=given)


def _registry_nodes(registries: Mapping[str, str]) -> Iterator[KnowledgeNode]:
    for registry, name in sorted(registries.items()):
        yield KnowledgeNode(registry_id(registry), REGISTRY, properties={"name": name})


def _type_nodes(edges: Iterable[KnowledgeEdge]) -> Iterator[KnowledgeNode]:
    prefix = type_id("")
    ends = {end for edge in edges for end in (edge.source, edge.target) if end.startswith(prefix)}
    for end in sorted(ends):
        yield KnowledgeNode(end, TYPE, properties={"name": end.removeprefix(prefix)})


def _concept_nodes(concepts: Iterable[Concept]) -> Iterator[KnowledgeNode]:
    for concept in concepts:
        yield KnowledgeNode(concept.id, CONCEPT, properties={"name": concept.name, "tools": len(concept.tools)})
