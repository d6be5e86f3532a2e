"""Build a tool graph: read -> embed -> types and flows -> concepts -> nodes and edges -> sync."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.domains.tools import link
from pipeline.domains.tools.catalogue import Built, Catalogue, Service, Tool, node_id, stored_catalogue, words_of_name
from pipeline.domains.tools.order import mentions, read_calls, resolved
from pipeline.domains.tools.schema import CONCEPT, REGISTRY, SCHEMA, SERVICE, TOOL, TYPE, ToolEdge
from pipeline.domains.tools.settings import ToolSettings
from pipeline.domains.tools.sources.paths import read, with_unique_ids
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

    One that has the id of another, of which another origin is known, gets a number: ``mail (2)``. See
    :func:`build_catalogue`.
    """
    return build_catalogue(open_graph, joined(catalogue, stored_catalogue(open_graph())), settings, progress)


def joined(catalogue: Catalogue, stored: Catalogue) -> Catalogue:
    """Return a stored catalogue with the services of another in place of its own of these ids; see :func:`add`."""
    catalogue = _told_apart(catalogue, stored)
    new = {service.id for service in catalogue.services} | {tool.service for tool in catalogue.tools}
    replaced = {tool.id for tool in stored.tools if tool.service in new}
    return Catalogue(
        {**stored.registries, **catalogue.registries},
        [*(service for service in stored.services if service.id not in new), *catalogue.services],
        list(with_unique_ids([*(tool for tool in stored.tools if tool.service not in new), *catalogue.tools])),
        catalogue.skipped,
        {ends: count for ends, count in stored.transitions.items() if not {*ends} & replaced},
    )


def _told_apart(catalogue: Catalogue, stored: Catalogue) -> Catalogue:
    """Return a catalogue in which no service has the id of a stored one with another origin."""
    origins = {service.id: service.origin for service in stored.services}

    def free(service: Service) -> str:
        ids = chain([service.id], (f"{service.id} ({number})" for number in count(2)))
        return next(id_ for id_ in ids if not service.origin or origins.get(id_, "") in ("", service.origin))

    renamed = {service.id: free(service) for service in catalogue.services}
    services = [service.renamed(renamed[service.id]) for service in catalogue.services]
    tools = [replace(tool, service=renamed.get(tool.service, tool.service)) for tool in catalogue.tools]
    return replace(catalogue, services=services, tools=tools)


def build_catalogue(
    open_graph: OpenGraph, catalogue: Catalogue, settings: ToolSettings, progress: Progress | None = None
) -> Built:
    """Make a graph hold exactly a catalogue's tools, their services, types and concepts, and the edges between them.

    Embeds only new texts and writes only differences; readers see the graph before or after all of them. Raises
    SourceError if the catalogue holds no tool.
    """
    if not catalogue.tools:
        raise SourceError("There is no tool to build a graph of.", "Give tools/list JSON, server.yaml or corpus.jsonl.")
    # the services and registries that are only named
    unknown = {tool.service for tool in catalogue.tools} - {service.id for service in catalogue.services}
    services = [*catalogue.services, *(Service(name, name) for name in sorted(unknown))]
    registries = {one.registry: one.registry for one in services if one.registry} | {**catalogue.registries}
    catalogue = replace(catalogue, services=services, registries=registries)
    progress, graph, texts = progress or Progress(), open_graph(), texts_of(catalogue)
    with progress.stage("embed texts", len(texts)) as done:
        embeddings = graph.embed(texts, done)
    with progress.stage("link"):
        vectors = np.array([embeddings.vectors[tool.id] for tool in catalogue.tools])
        nodes, edges = tool_graph(catalogue, vectors, settings)
    with progress.stage("write"):
        changes = graph.sync(nodes, edges, embeddings, schema=SCHEMA)
    return Built(
        dict(sorted(Counter(node.type for node in nodes).items())),
        dict(sorted(Counter(edge.type for edge in edges).items())),
        catalogue.skipped,
        [f"{tool.id}: {fault}" for tool in catalogue.tools for fault in tool.faults],
        embeddings.encoded,
        changes.count(),
    )


def texts_of(catalogue: Catalogue) -> dict[str, str]:
    """Return the texts of a catalogue's tools and services that are embedded, by the ids of their nodes."""
    tools = {tool.id: f"{words_of_name(tool.name)}: {tool.description.strip()}" for tool in catalogue.tools}
    services = {node_id(SERVICE, one.id): f"{one.name}: {one.description.strip()}" for one in catalogue.services}
    return tools | services


def tool_graph(
    catalogue: Catalogue, vectors: Vector, settings: ToolSettings
) -> tuple[list[KnowledgeNode], list[KnowledgeEdge]]:
    """Return the nodes, without embeddings, and edges of a catalogue; ``vectors`` has a row for each tool."""
    tools = catalogue.tools
    system = TypeSystem(settings.conversions)
    needs = resolved(tools)
    found = flows(tools, system, threshold=settings.flow)
    similar = link.similar_tools(tools, vectors, settings.neighbours, settings.similar)
    concepts = link.find_concepts(tools, similar)
    type_edges = list(link.type_edges(tools, system))
    types = {edge.target.removeprefix(node_id(TYPE)) for edge in type_edges}
    nodes = [
        *(_tool_node(tool, [other for other, _ in needs[tool.id]]) for tool in tools),
        *(
            _node(
                node_id(SERVICE, one.id),
                SERVICE,
                one.tags,
                name=one.name,
                description=one.description,
                category=one.category,
                origin=one.origin,
            )
            for one in catalogue.services
        ),
        *(_node(node_id(REGISTRY, id_), REGISTRY, name=name) for id_, name in sorted(catalogue.registries.items())),
        *(_node(node_id(TYPE, name), TYPE, name=name) for name in sorted(types)),
        *(_node(one.id, CONCEPT, name=one.name, tools=len(one.tools)) for one in concepts),
    ]
    edges = [
        *link.belonging(catalogue),
        *link.flow_edges(found),
        *link.order_edges(needs, mentions(tools), catalogue.transitions),
        *link.parallel_edges(needs),
        *(
            link.edge(one, other, ToolEdge.SEMANTIC_SIMILARITY, cosine, directed=False)
            for one, other, cosine in similar
        ),
        *type_edges,
        *link.concept_edges(concepts, found),
    ]
    return nodes, edges


def _tool_node(tool: Tool, needs: Sequence[str]) -> KnowledgeNode:
    return _node(
        tool.id,
        TOOL,
        name=tool.name,
        title=tool.title,
        description=tool.description,
        service=node_id(SERVICE, tool.service),
        input=_dumped(tool.input),
        output=_dumped(tool.output),
        parameters=[f"{field.name}: {field.description}".rstrip(": ") for field in inputs(tool)],
        needs=list(needs),
        stated=json.dumps([astuple(need) for need in tool.needs]) if tool.needs else "",
        annotations=_dumped(tool.annotations or None),
        faults=list(tool.faults),
    )


def _dumped(value: Mapping[str, Any] | None) -> str:
    """Return a JSON value as text: the names in a schema must not become properties of the node."""
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _node(id_: str, kind: str, labels: Sequence[str] = (), **properties: Any) -> KnowledgeNode:
    """Return a node without its empty properties."""
    return KnowledgeNode(
        id_, kind, labels=labels, properties={name: value for name, value in properties.items() if value}
    )
