"""Stores of nodes and edges: the protocol and its implementations on Neo4j, on a corpus and in memory.

May import: db, edges, embedding, errors, ids, knowledge.catalogue, knowledge.native, knowledge.records,
knowledge.visibility, retrieve.
"""
