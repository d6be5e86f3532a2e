"""Graphs, read-only: the knowledge graphs, and each corpus as a graph of documents, chunks and entities."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel

from pipeline.db.catalogue import NamedGraph, find_graph, list_graphs
from pipeline.edges import MOST_HOPS
from pipeline.errors import HopRankError
from pipeline.knowledge import KnowledgeGraph, KnowledgeNode, explore
from pipeline.knowledge.records import Direction
from pipeline.knowledge.schema import Schema
from pipeline.knowledge.store.codec import label_of, relationship_type_of
from pipeline.registry import registry
from pipeline.retrieve.question import remarks
from pipeline.serve.access import Grant
from pipeline.serve.http.state import Granted, Service, State

router = APIRouter(prefix="/v1", tags=["graphs"])

Name = Annotated[str, Path(description="Name of the graph, or of the corpus.")]
NodeId = Annotated[str, Query(min_length=1, description="Id of a node.")]
Id = Annotated[str, Query(alias="id", min_length=1, max_length=10_000, description="Id of a node.")]
Depth = Annotated[int | None, Query(ge=1, le=MOST_HOPS, description="The most edges; any number without it.")]
Drawn = Annotated[int, Query(ge=1, le=500, description="The most nodes.")]
Limit = Annotated[int, Query(ge=1, le=500, description="The most neighbours.")]

_Result = TypeVar("_Result")


class GraphModel(BaseModel):
    """A knowledge graph and its size; ``kind`` is the domain whose types of nodes and edges it has, null if none's."""

    name: str
    nodes: int
    edges: int
    kind: str | None = None


class NodeModel(BaseModel):
    """A node; ``properties`` are any JSON values."""

    id: str
    type: str
    labels: list[str]
    properties: dict[str, Any]


class EdgeModel(BaseModel):
    """An edge between two nodes of the answer."""

    id: str
    source: str
    target: str
    type: str
    weight: float
    directed: bool


class NeighboursResponse(BaseModel):
    """A node, its neighbours, and the edges between them; ``left_out`` counts the neighbours beyond the limit."""

    node: NodeModel
    nodes: list[NodeModel]
    edges: list[EdgeModel]
    left_out: int


class PathResponse(BaseModel):
    """The nodes of a shortest path in order, both ends included, and the edges between them; empty if there is none."""

    nodes: list[NodeModel]
    edges: list[EdgeModel]


class RankedNodeModel(BaseModel):
    """A node that a search found."""

    node: NodeModel
    score: float


class GraphSearchResponse(BaseModel):
    """The nodes that a search found, best first; ``warnings`` say that of a long question the beginning was used."""

    nodes: list[RankedNodeModel]
    warnings: list[str] = []


@router.get("/graphs")
async def graphs(service: Service, grant: Granted) -> list[GraphModel]:
    """List the knowledge graphs that the token opens, by name."""

    def call() -> list[GraphModel]:
        found = [graph for graph, _ in list_graphs(service.connection.client) if grant.opens(graph.name)]
        return [_size(service.connection.graph_of(graph), graph) for graph in found]

    return await service.gate.run(call)


@router.get("/graphs/{graph}")
async def graph_size(graph: Name, service: Service, grant: Granted) -> GraphModel:
    """Return the size of a knowledge graph."""
    return await _read(graph, service, grant, lambda it: _size(it, find_graph(service.connection.client, graph)))


@router.get("/graphs/{graph}/node", response_model=NodeModel)
async def node(graph: Name, node_id: Id, service: Service, grant: Granted) -> KnowledgeNode:
    """Return a node of a knowledge graph, by its id, or by its name if one node has it."""
    return await _read(graph, service, grant, lambda it: explore.find_node(it, node_id))


@router.get("/graphs/{graph}/neighbours", response_model=NeighboursResponse)
async def neighbours(
    graph: Name, node_id: Id, service: Service, grant: Granted, limit: Limit = 50
) -> dict[str, object]:
    """Return a node of a knowledge graph with its neighbours, the heaviest edges first."""
    return await _read(graph, service, grant, lambda opened: _neighbours(opened, node_id, limit))


@router.get("/graphs/{graph}/path", response_model=PathResponse)
async def path(
    graph: Name, source: NodeId, target: NodeId, service: Service, grant: Granted, depth: Depth = None
) -> explore.Path:
    """Return a shortest path between two nodes of a knowledge graph, whatever the direction of its edges."""
    return await _read(graph, service, grant, lambda it: explore.path(it, source, target, depth))


@router.get("/graphs/{graph}/search", response_model=GraphSearchResponse)
async def search_nodes(
    graph: Name,
    query: Annotated[str, Query(min_length=1)],
    service: Service,
    grant: Granted,
    top_k: Annotated[int, Query(ge=1)] = 10,
) -> dict[str, object]:
    """Return the nodes of a knowledge graph whose properties and embedding match a question best."""
    service.check_top_k(top_k)
    service.check_question(query)

    def search(opened: KnowledgeGraph) -> dict[str, object]:
        with remarks() as warnings:
            return {"nodes": opened.search(query, top_k=top_k), "warnings": warnings}

    return await _read(graph, service, grant, search)


@router.get("/graphs/{graph}/picture")
async def graph_picture(graph: Name, service: Service, grant: Granted, limit: Drawn = 150) -> dict[str, Any]:
    """Return the most important nodes of a knowledge graph with their edges, places and colours, to draw them."""
    return await _read(graph, service, grant, lambda opened: opened.picture(limit))


@router.get("/corpora/{corpus}/graph/picture")
async def corpus_picture(corpus: Name, service: Service, grant: Granted, limit: Drawn = 150) -> dict[str, Any]:
    """Return the most important documents and names of a corpus with their edges, places and colours, to draw them."""
    return await _read(corpus, service, grant, lambda opened: opened.picture(limit), is_corpus=True)


@router.get("/corpora/{corpus}/graph/neighbours", response_model=NeighboursResponse)
async def corpus_neighbours(
    corpus: Name, node_id: Id, service: Service, grant: Granted, limit: Limit = 50
) -> dict[str, object]:
    """Return a document, chunk or entity of a corpus with its neighbours, the heaviest edges first."""
    return await _read(corpus, service, grant, lambda opened: _neighbours(opened, node_id, limit), is_corpus=True)


@router.get("/corpora/{corpus}/graph/path", response_model=PathResponse)
async def corpus_path(
    corpus: Name, source: NodeId, target: NodeId, service: Service, grant: Granted, depth: Depth = None
) -> explore.Path:
    """Return a shortest path between two nodes of a corpus."""
    return await _read(corpus, service, grant, lambda it: explore.path(it, source, target, depth), is_corpus=True)


async def _read(
    name: str, service: State, grant: Grant, call: Callable[[KnowledgeGraph], _Result], *, is_corpus: bool = False
) -> _Result:
    grant.check(name)
    return await service.gate.run(service.connection.read_graph, name, call, corpus=is_corpus)


def _kind(graph: NamedGraph) -> str | None:
    """Return the domain that could have made a graph, by its types: one that has no edge could be anybody's."""
    fitting = (
        name
        for name, nodes, edges in _schemas()
        if graph.edge_types and graph.node_labels <= nodes and graph.edge_types <= edges
    )
    return next(fitting, None)


@cache
def _schemas() -> tuple[tuple[str, frozenset[str], frozenset[str]], ...]:
    """Return the labels and relationship types of each domain's graphs; those of installed packages may have none."""
    found = []
    for domain in registry().domains:
        with suppress(HopRankError, ImportError, AttributeError):
            schema: Schema = domain.load("schema:SCHEMA")
            nodes, edges = map(label_of, schema.nodes), map(relationship_type_of, schema.edges)
            found.append((domain.name, frozenset(nodes), frozenset(edges)))
    return tuple(found)


def _size(opened: KnowledgeGraph, graph: NamedGraph | None) -> GraphModel:
    size = opened.size()
    return GraphModel(name=opened.name, nodes=size.nodes, edges=size.edges, kind=_kind(graph) if graph else None)


def _neighbours(graph: KnowledgeGraph, node_id: str, limit: int) -> dict[str, object]:
    infos = graph.get_neighbor_info(node_id, direction=Direction.BOTH)
    ids = list(dict.fromkeys(info.id for info in infos))
    shown = ids[:limit]
    node, *nodes = graph.get_nodes([node_id, *shown])
    edges = graph.get_subgraph([node_id, *shown]).edges() if shown else []
    return {"node": node, "nodes": nodes, "edges": edges, "left_out": len(ids) - len(shown)}
