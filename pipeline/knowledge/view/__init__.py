"""Pictures of graphs as HTML pages.

Imports the records and the store protocol.
"""

from pipeline.knowledge.view.page import write_page

__all__ = ["write_page"]
