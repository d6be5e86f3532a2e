"""The graph: the driver, the named queries, the schema and the embedded server."""
