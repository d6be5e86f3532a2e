"""Knowledge graphs on Neo4j: typed nodes and edges, traversal, retrieval, exchange and pictures."""

from pipeline.knowledge.artifacts import Knowledge
from pipeline.knowledge.cheapest import Cost
from pipeline.knowledge.chunks import CallbackEdges, CosineEdges, EdgeOptions, ExplicitEdges, GraphChunk
from pipeline.knowledge.exchange import Format
from pipeline.knowledge.graph import KnowledgeGraph
from pipeline.knowledge.rank import Mode
from pipeline.knowledge.records import (
    Direction,
    GraphSize,
    KnowledgeEdge,
    KnowledgeNode,
    NeighborInfo,
    RankedNode,
    Reached,
    SupportedEdgeType,
)

__all__ = [
    "CallbackEdges",
    "CosineEdges",
    "Cost",
    "Direction",
    "EdgeOptions",
    "ExplicitEdges",
    "Format",
    "GraphChunk",
    "GraphSize",
    "Knowledge",
    "KnowledgeEdge",
    "KnowledgeGraph",
    "KnowledgeNode",
    "Mode",
    "NeighborInfo",
    "RankedNode",
    "Reached",
    "SupportedEdgeType",
]
