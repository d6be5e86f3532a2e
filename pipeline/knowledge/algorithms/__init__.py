"""Algorithms on any store of nodes and edges: traversal, shortest paths, random walks, subgraphs.

Imports the records and the protocol of stores.
"""
