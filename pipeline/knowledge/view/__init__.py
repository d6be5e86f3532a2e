"""Pictures of graphs as HTML pages.

May import: errors, knowledge.records, knowledge.store, temporary.
"""

from pipeline.knowledge.view.page import CYTOSCAPE, write_page

__all__ = ["CYTOSCAPE", "write_page"]
