"""Serving: an HTTP service with a page, an MCP server, and retrievers for frameworks.

May import: api, async_api, bounded, db, edges, errors, files, flows, ingest, knowledge, progress, registry, resources,
retrieve, settings.
"""
