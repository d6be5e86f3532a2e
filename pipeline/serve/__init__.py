"""Serving: an HTTP service with a page, an MCP server, and retrievers for frameworks."""
