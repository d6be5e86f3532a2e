"""The edges of a tool graph, from schemas, stated needs, texts and meaning; and its concepts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from pipeline.domains.tools.catalogue import Catalogue, Need, Tool, node_id, words_of_name
from pipeline.domains.tools.order import Mention, closure, condition
from pipeline.domains.tools.schema import REGISTRY, SERVICE, TYPE, ToolEdge
from pipeline.domains.tools.types.datatypes import DataType
from pipeline.domains.tools.types.fields import inputs, outputs
from pipeline.domains.tools.types.flows import Flow
from pipeline.domains.tools.types.system import INHERITANCE, TypeSystem
from pipeline.grouping import grouped
from pipeline.ingest.links.similar import similar_pairs
from pipeline.knowledge import KnowledgeEdge, SupportedEdgeType
from pipeline.knowledge.store.analysis import local_communities
from pipeline.records import Vector
from pipeline.text.labels import labels, terms_of

_DIGITS = 4  # digits of a weight: so that rounding errors change no edge

_SUPPORTED = {
    ToolEdge.BELONGS_TO: SupportedEdgeType.STRUCTURAL,
    ToolEdge.TYPE_RELATION: SupportedEdgeType.STRUCTURAL,
    ToolEdge.SEMANTIC_SIMILARITY: SupportedEdgeType.SEMANTIC,
    ToolEdge.CONCEPT_RELATION: SupportedEdgeType.SEMANTIC,
}
"""The kind of each edge type; those that are left out are causal."""

_NAMED = 0.6
"""Weight of an order that a text names: above a flow inferred from texts (0.5 at most), below a stated need (1). Chosen
by hand; not measured."""

_RESOLUTION = 1.5
"""Of the clustering into concepts: a higher one makes more and smaller concepts. Chosen by hand."""

_REPEATED = 2  # calls in a row that make an order, since one may be chance; chosen by hand, not measured

Needs = Mapping[str, Sequence[tuple[str, Need]]]


def belonging(catalogue: Catalogue) -> Iterator[KnowledgeEdge]:
    """Yield the edges from each tool to its service, and from each service to its registry."""
    for tool in catalogue.tools:
        yield edge(tool.id, node_id(SERVICE, tool.service), ToolEdge.BELONGS_TO)
    for service in catalogue.services:
        if service.registry:
            yield edge(node_id(SERVICE, service.id), node_id(REGISTRY, service.registry), ToolEdge.BELONGS_TO)


def flow_edges(flows: Iterable[Flow]) -> Iterator[KnowledgeEdge]:
    """Yield an edge for each flow of data: ``transform`` if its best mapping needs a converter, else ``data_flow``."""
    for flow in flows:
        mappings = [
            {name: value for name, value in asdict(mapping).items() if value or name != "converter"}
            for mapping in flow.mappings
        ]
        kind = ToolEdge.TRANSFORM if flow.mappings[0].converter else ToolEdge.DATA_FLOW
        properties = {"mappings": mappings, "evidence": flow.evidence}
        yield edge(flow.source, flow.target, kind, flow.confidence, properties=properties)


def order_edges(
    needs: Needs, mentions: Iterable[Mention], transitions: Mapping[tuple[str, str], int]
) -> Iterator[KnowledgeEdge]:
    """Yield an edge for each pair of tools of which one runs before the other: by needs, by texts, by a log of calls.

    A pair has one edge at most: from a stated need (``conditional`` if it has a condition), else from a text, else from
    calls in a row, weighted by their share of the calls that followed the first tool.
    """
    found: dict[tuple[str, str], tuple[ToolEdge, float, dict[str, Any]]] = {}
    for tool, stated in needs.items():
        for place, (needed, need) in enumerate(stated):
            says = {"parameter": need.parameter, "reason": need.reason, "condition": condition(need)}
            properties = {"stated": True, "order": place} | {name: value for name, value in says.items() if value}
            kind = ToolEdge.CONDITIONAL if condition(need) else ToolEdge.SEQUENTIAL
            found[needed, tool] = kind, 1.0, properties
    for mention in mentions:
        ends = mention.before, mention.after
        if not {ends, ends[::-1]} & found.keys():
            found[ends] = ToolEdge.SEQUENTIAL, _NAMED, {"stated": False, "text": mention.text[:300]}
    followed = Counter[str]()
    for (before, _), count in transitions.items():
        followed[before] += count
    for ends, count in transitions.items():
        kind, weight, properties = found.get(ends, (ToolEdge.SEQUENTIAL, count / followed[ends[0]], {"stated": False}))
        if ends in found or count >= _REPEATED:
            found[ends] = kind, weight, {**properties, "calls": count}
    for (before, after), (kind, weight, properties) in sorted(found.items()):
        yield edge(before, after, kind, weight, properties=properties)


def parallel_edges(needs: Needs) -> Iterator[KnowledgeEdge]:
    """Yield an edge between two tools that a third one needs, if neither needs the other, directly or indirectly."""
    ids = {tool: [needed for needed, _ in stated] for tool, stated in needs.items()}
    all_needed = {tool: closure(tool, ids) for tool in needs}
    pairs = grouped(
        ((one, other), tool)
        for tool in sorted(needs)
        for one, other in combinations(sorted(ids[tool]), 2)
        if one not in all_needed[other] and other not in all_needed[one]
    )
    for ends, tools in sorted(pairs.items()):
        yield edge(*ends, ToolEdge.PARALLEL, properties={"for": tools[:10]}, directed=False)


def similar_tools(tools: Sequence[Tool], vectors: Vector, top_k: int, threshold: float) -> list[tuple[str, str, float]]:
    """Return the pairs of tools with similar texts, with their cosines; ``vectors`` has a row for each tool."""
    pairs = similar_pairs(np.asarray(vectors), top_k=top_k, threshold=threshold, degree_limit=max(1, len(tools)))
    return [(tools[pair.source].id, tools[pair.target].id, pair.score) for pair in pairs if pair.linked]


def type_edges(tools: Sequence[Tool], system: TypeSystem) -> Iterator[KnowledgeEdge]:
    """Yield the edges from tools to the types of their inputs and outputs, and from types to their parents."""
    types: dict[str, None] = {}
    for tool in tools:
        for role, fields in (("takes", inputs(tool)), ("returns", outputs(tool))):
            names = grouped((field.type.name, field.path) for field in fields if field.evidence == "schema")
            for name, paths in sorted(names.items()):
                types[name] = None
                properties, id_ = {"role": role, "fields": paths}, f"{tool.id} {role} {name}"
                yield edge(tool.id, node_id(TYPE, name), ToolEdge.TYPE_RELATION, properties=properties, id=id_)
    waiting = list(types)
    while waiting:
        name = waiting.pop()
        for parent in system.parents(system.types.get(name, DataType(name))):
            ends = node_id(TYPE, name), node_id(TYPE, parent.name)
            yield edge(*ends, ToolEdge.TYPE_RELATION, INHERITANCE, properties={"role": "is"})
            if parent.name not in types:
                types[parent.name] = None
                waiting.append(parent.name)


def concept_edges(concepts: Sequence[Concept], flows: Iterable[Flow]) -> Iterator[KnowledgeEdge]:
    """Yield the edges from tools to their concepts, and between concepts whose tools exchange data.

    The weight of an edge between concepts is the share of the flows of both that are between them.
    """
    of_tool = {tool: concept.id for concept in concepts for tool in concept.tools}
    for tool, concept in sorted(of_tool.items()):
        yield edge(tool, concept, ToolEdge.CONCEPT_RELATION)
    between: Counter[tuple[str, str]] = Counter()
    degrees: Counter[str] = Counter()
    for flow in flows:
        ends = sorted((of_tool.get(flow.source, ""), of_tool.get(flow.target, "")))
        if ends[0] and ends[0] != ends[1]:
            between[ends[0], ends[1]] += 1
            degrees.update(ends)
    for (first, second), count in sorted(between.items()):
        weight = 2 * count / (degrees[first] + degrees[second])
        properties = {"flows": count}
        yield edge(first, second, ToolEdge.CONCEPT_RELATION, weight, properties=properties, directed=False)


def edge(source: str, target: str, kind: ToolEdge, weight: float = 1.0, **more: Any) -> KnowledgeEdge:
    """Return an edge of the graph, with its weight rounded; ``more`` are further fields of it."""
    supported = _SUPPORTED.get(kind, SupportedEdgeType.CAUSAL)
    weight = round(weight, _DIGITS)
    return KnowledgeEdge(source, target, kind.value, supported_edge_type=supported, weight=weight, **more)


@dataclass(frozen=True, slots=True)
class Concept:
    """A cluster of similar tools: its label, and the ids of its tools in order."""

    name: str
    tools: tuple[str, ...]

    @property
    def id(self) -> str:
        """The id of its node, from its first tool: stable while other tools come and go."""
        return f"concept:{self.tools[0]}"


def find_concepts(tools: Sequence[Tool], similar: Sequence[tuple[str, str, float]]) -> list[Concept]:
    """Return the Louvain communities of two or more tools among ``similar`` pairs, the largest first.

    A label consists of the terms of the tools' names with the highest tf-idf.
    """
    by_id: Mapping[str, Tool] = {tool.id: tool for tool in tools}
    groups = [group for group in local_communities(by_id, similar, _RESOLUTION, seed=0) if len(group) > 1]
    names = labels([[terms_of(words_of_name(by_id[id_].name)) for id_ in group] for group in groups])
    return [Concept(name or group[0], tuple(group)) for name, group in zip(names, groups, strict=True)]
