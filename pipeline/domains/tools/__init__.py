"""Graphs of MCP tools: what there is, what fits together, and chains of tools for a task.

May import: api, cli, db, embedding, errors, evaluate, files, flows, ingest, knowledge, progress, records, registry,
retrieve, settings, text.
"""

from pipeline.registry import Domain

DOMAIN = Domain(
    __name__,
    "tools",
    "MCP tools: build their graph, find the tools for a task, chain them.",
    settings="settings:ToolSettings",
    verbs="api:VERBS",
)
