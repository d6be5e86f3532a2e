"""The server: client, queries, catalogue, handles, leases, indexes, projections; and the embedded Neo4j."""
