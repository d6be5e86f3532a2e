"""Graphs to files and back: JSON, JSON Lines, GraphML, node-link JSON."""

from pipeline.knowledge.exchange.files import Content, Format, read_graph, write_graph

__all__ = ["Content", "Format", "read_graph", "write_graph"]
