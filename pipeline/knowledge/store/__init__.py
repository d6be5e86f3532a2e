"""Stores of nodes and edges: the protocol and its implementations on Neo4j, on a corpus and in memory."""
