"""Pictures of graphs, as pages of their own."""

from pipeline.knowledge.view.page import write_page

__all__ = ["write_page"]
