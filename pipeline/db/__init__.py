"""The server: client, queries, catalogue and handles of corpora, leases, indexes, projections; and the embedded Neo4j.

May import: edges, errors, ids, records, registry, resources, settings, temporary.
"""
