"""The frame that the tables of an evaluation have: rules between rows and none around, a caption below."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text


def frame(title: str, caption: str = "", *, padding: int = 1) -> Table:
    """Return a table without columns; ``padding`` is how many blanks stand on both sides of a cell."""
    # Names of corpora may hold what rich takes for markup, so text goes in as Text.
    return Table(
        title=Text(title),
        caption=Text(caption),
        caption_justify="left",
        box=box.HORIZONTALS,
        show_edge=False,
        pad_edge=False,
        padding=(0, padding),
    )
