"""Knowledge graphs on Neo4j: typed nodes and edges, traversal, search, file formats and pictures."""

from pipeline.knowledge.artifacts import Knowledge
from pipeline.knowledge.chunks import CallbackEdges, CosineEdges, EdgeOptions, ExplicitEdges, GraphChunk
from pipeline.knowledge.exchange import Format
from pipeline.knowledge.graph import KnowledgeGraph
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
from pipeline.knowledge.search import Mode
from pipeline.knowledge.traverse import Cost

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
