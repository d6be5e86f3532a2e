"""The tools: functions of a call, and the table that names, describes and annotates them.

May import: db, errors, ingest, knowledge, registry, retrieve, serve, serve.mcp.models, serve.mcp.service,
serve.mcp.uris, settings.
"""
