"""File formats of graphs: JSON, JSON Lines, GraphML and node-link JSON.

May import: errors, files, ids, knowledge.records, knowledge.store, temporary, text.
"""

from pipeline.knowledge.exchange.files import Content, Format, read_graph, write_graph

__all__ = ["Content", "Format", "read_graph", "write_graph"]
