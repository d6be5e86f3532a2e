"""The MCP server: tools and resources for agents, over standard streams or streamable HTTP.

May import: api, db, errors, files, flows, ingest, knowledge, registry, retrieve, serve.access, serve.folders,
serve.gate, serve.listening, serve.rate, serve.signature, settings.
"""
