"""The server: client, named queries, catalogue of corpora, leases, indexes, projections; and the embedded Neo4j.

Imports records, settings and errors; knows nothing of documents, questions or graphs above it.
"""
