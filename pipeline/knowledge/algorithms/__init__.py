"""Algorithms on any store of nodes and edges: traversal, shortest paths, random walks, subgraphs."""
