"""The server: client, named queries, catalogue of corpora, leases, indexes, projections; and the embedded Neo4j.

May import: errors, ids, records, registry, resources, settings, temporary.
"""
