"""Responses of the service about graphs: nodes, edges, neighbours and paths."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class GraphModel(BaseModel):
    """A knowledge graph and its size."""

    name: str
    nodes: int
    edges: int


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
    """The nodes that a search found, best first."""

    nodes: list[RankedNodeModel]
