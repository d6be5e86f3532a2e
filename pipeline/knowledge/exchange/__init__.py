"""File formats of graphs: JSON, JSON Lines, GraphML and node-link JSON."""

from pipeline.knowledge.exchange.files import Content, Format, read_graph, write_graph

__all__ = ["Content", "Format", "read_graph", "write_graph"]
