"""Algorithms on any store of nodes and edges: traversal, shortest paths, random walks, subgraphs.

Imports the records, the store protocol and the memory store.
"""
