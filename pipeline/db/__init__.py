"""The server: client, named queries, catalogue of corpora, leases, indexes, projections; and the embedded Neo4j.

Imports records, settings and errors; independent of documents, questions and knowledge graphs.
"""
