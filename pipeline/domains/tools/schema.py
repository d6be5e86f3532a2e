"""The schema of a graph of tools: its node types and its edge types."""

from enum import StrEnum

from pipeline.knowledge.schema import EdgeType, Schema

SERVICE, TOOL, TYPE, CONCEPT, REGISTRY = "service", "tool", "type", "concept", "registry"


class ToolEdge(StrEnum):
    """The edge types of a tool graph; ``SCHEMA`` describes them."""

    DATA_FLOW = "data_flow"
    SEMANTIC_SIMILARITY = "semantic_similarity"
    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"
    CONDITIONAL = "conditional"
    TRANSFORM = "transform"
    BELONGS_TO = "belongs_to"
    TYPE_RELATION = "type_relation"
    CONCEPT_RELATION = "concept_relation"


SCHEMA = Schema(
    nodes={
        SERVICE: "an MCP service: a server with tools",
        TOOL: "a tool of a service",
        TYPE: "a type of data that tools take or return",
        CONCEPT: "a cluster of tools that are for the same kind of thing",
        REGISTRY: "a registry that lists services",
    },
    edges={
        ToolEdge.DATA_FLOW: EdgeType(TOOL, TOOL, "an output of the first fits an input of the second"),
        ToolEdge.TRANSFORM: EdgeType(TOOL, TOOL, "as data_flow, through a converter that a rule names"),
        ToolEdge.SEQUENTIAL: EdgeType(TOOL, TOOL, "the first runs before the second: stated as a need, or in its text"),
        ToolEdge.CONDITIONAL: EdgeType(TOOL, TOOL, "the first runs before the second if a condition holds"),
        ToolEdge.PARALLEL: EdgeType(TOOL, TOOL, "a third tool needs both, and neither needs the other"),
        ToolEdge.SEMANTIC_SIMILARITY: EdgeType(TOOL, TOOL, "their descriptions are near in meaning"),
        ToolEdge.BELONGS_TO: EdgeType((TOOL, SERVICE), (SERVICE, REGISTRY), "the tool of a service, or its registry"),
        ToolEdge.TYPE_RELATION: EdgeType(
            (TOOL, TYPE), TYPE, "a tool takes or returns the type, or a type is one of it"
        ),
        ToolEdge.CONCEPT_RELATION: EdgeType((TOOL, CONCEPT), CONCEPT, "the tool is of the concept, or concepts meet"),
    },
)
