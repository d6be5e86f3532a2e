"""Tools that walk a graph: neighbors and path, in a corpus or a knowledge graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, Field

from pipeline.edges import MOST_HOPS
from pipeline.knowledge import KnowledgeGraph, KnowledgeNode, explore
from pipeline.knowledge.records import Direction
from pipeline.records import METADATA
from pipeline.serve.mcp.models import Corpus, Graph, GraphNode, Neighbor, NeighborResult, Node, PathResult
from pipeline.serve.mcp.service import Call
from pipeline.serve.mcp.uris import document_uri, is_document_uri, parse_document_uri

_OF_TEXTS = frozenset(("text", "heading"))
"""Properties of a corpus's nodes that tell clients something, beside the metadata of documents."""

_Result = TypeVar("_Result")
_LONGEST_VALUE = 500  # characters; chosen by hand, to spare the model's context


def neighbors(
    call: Call,
    node: Node,
    corpus: Corpus = "default",
    graph: Graph = None,
    edge_type: Annotated[str | None, Field(description="Only edges of this type, such as MENTIONS.")] = None,
    direction: Annotated[Direction, Field(description="The direction of directed edges.")] = Direction.BOTH,
    limit: Annotated[int, Field(ge=1, le=500, description="The most neighbors.")] = 25,
) -> NeighborResult:
    """Return the neighbors of a node, the heaviest edges first."""

    def read(opened: _Opened) -> NeighborResult:
        start = opened.node(node)
        infos = opened.graph.get_neighbor_info(start.id, edge_type, direction=direction)
        shown = infos[:limit]
        nodes = {found.id: found for found in opened.graph.get_nodes([info.id for info in shown])}
        found = [
            Neighbor(node=opened.view(nodes[info.id]), edge_type=info.edge_type, weight=info.weight)
            for info in shown
            if info.id in nodes
        ]
        return NeighborResult(node=opened.view(start), neighbors=found, left_out=len(infos) - len(shown))

    return _read(call, corpus, graph, read)


def path(
    call: Call,
    source: Node,
    target: Node,
    corpus: Corpus = "default",
    graph: Graph = None,
    depth: Annotated[
        int,
        Field(ge=1, le=MOST_HOPS, validation_alias=AliasChoices("depth", "max_depth"), description="The most edges."),
    ] = 6,
    direction: Annotated[Direction, Field(description="The direction of directed edges.")] = Direction.BOTH,
) -> PathResult:
    """Return a path with the fewest edges between two nodes."""

    def read(opened: _Opened) -> PathResult:
        ends = opened.node(source).id, opened.node(target).id
        found = explore.path(opened.graph, *ends, depth, direction=direction)
        nodes = [opened.view(node) for node in found.nodes]
        return PathResult(nodes=nodes, edges=[step[0].type for step in found.steps if step])

    return _read(call, corpus, graph, read)


def _read(call: Call, corpus: str, graph: str | None, read: Callable[[_Opened], _Result]) -> _Result:
    """Return what ``read`` returns of the graph that a call names, if its token opens it."""
    call.grant.check(graph or corpus)
    of = None if graph else corpus
    return call.hoprank.read_graph(graph or corpus, lambda opened: read(_Opened(of, opened)), corpus=not graph)


@dataclass(frozen=True, slots=True)
class _Opened:
    """The graph of a corpus, or with None a knowledge graph."""

    corpus: str | None
    graph: KnowledgeGraph

    def node(self, given: str) -> KnowledgeNode:
        """Return the node that an id, a document or a name stands for; raises UnknownNode."""
        in_corpus = self.corpus is not None and is_document_uri(given)
        return explore.find_node(self.graph, parse_document_uri(given)[1] if in_corpus else given)

    def view(self, node: KnowledgeNode) -> GraphNode:
        """Return a node as clients see it."""
        document = node.properties.get("key") if node.type == "document" else node.properties.get("document")
        return GraphNode(
            id=node.id,
            type=node.type,
            name=explore.name_of(node),
            url=document_uri(self.corpus, str(document)) if self.corpus and document else None,
            properties={key: _cut(value) for key, value in self._shown(node)},
        )

    def _shown(self, node: KnowledgeNode) -> Iterable[tuple[str, Any]]:
        if self.corpus is None:
            return node.properties.items()
        return (
            (key.removeprefix(METADATA), value)
            for key, value in node.properties.items()
            if key in _OF_TEXTS or key.startswith(METADATA)
        )


def _cut(value: Any) -> Any:
    return f"{value[:_LONGEST_VALUE]}..." if isinstance(value, str) and len(value) > _LONGEST_VALUE else value
