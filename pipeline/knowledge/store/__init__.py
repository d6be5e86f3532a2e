"""Stores of nodes and edges: the protocol, and its three kinds: Neo4j, a corpus, memory.

Imports db and the records.
"""
