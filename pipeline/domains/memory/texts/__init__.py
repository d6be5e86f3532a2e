"""Texts of a memory: documents of its corpus, nodes of its graph, and the entities that they mention."""
