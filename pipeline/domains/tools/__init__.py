"""Graphs of MCP tools: the tools, which of them fit together, and chains of tools for a task."""

from pipeline.registry import Domain

DOMAIN = Domain(
    __name__,
    "tools",
    "MCP tools: build their graph, find the tools for a task, chain them.",
    settings="settings:ToolSettings",
    verbs="verbs:VERBS",
)
