"""Pictures of graphs as HTML pages."""

from pipeline.knowledge.view.page import CYTOSCAPE, write_page

__all__ = ["CYTOSCAPE", "write_page"]
