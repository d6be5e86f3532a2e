"""The kinds of table that views share.

Names of corpora, files and skills may hold rich's markup, so views add them as ``Text`` where a table here doesn't.
"""

from collections.abc import Iterable, Mapping

from rich import box
from rich.table import Table
from rich.text import Text


def ruled_table(title: str = "", caption: str = "", *, padding: int = 1) -> Table:
    """Return a table without columns: rules between its sections, no frame; ``padding`` blanks beside each cell."""
    return Table(
        title=Text(title),
        caption=Text(caption),
        caption_justify="left",
        box=box.HORIZONTALS,
        show_edge=False,
        pad_edge=False,
        padding=(0, padding),
    )


def add_numbers(table: Table, *headings: str) -> None:
    """Add columns of numbers, which stand at the right and are never wrapped."""
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)


def plain_table(*headings: str, rows: Iterable[Iterable[str | Text]], named: bool = False, caption: str = "") -> Table:
    """Return a table of rows of plain text: a rule below its headings, no frame; long cells are folded.

    ``named``: each row begins with a name, in bold.
    """
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        cells = [cell if isinstance(cell, Text) else Text(cell) for cell in row]
        if named:
            cells[0].style = "bold"
        table.add_row(*cells)
    if caption:
        table.caption, table.caption_justify = Text(caption), "left"
    return table


def measures_table(
    metrics: Mapping[str, Mapping[str, float]], headings: Mapping[str, str] | None = None, names: Mapping[str, str] = {}
) -> Table:
    """Return a row a ranking with its measures in percent: those of ``headings``, by measure, or all by their names.

    ``names`` holds what rankings are called in place of their names.
    """
    headings = headings or {name: name for name in next(iter(metrics.values()))}
    rows = (
        (names.get(ranking, ranking), *(f"{100 * measures[name]:.1f}" for name in headings))
        for ranking, measures in metrics.items()
    )
    return plain_table("ranking", *headings.values(), rows=rows, named=True)


def property_grid(rows: Iterable[tuple[str, str]]) -> Table:
    """Return names in bold, each beside its value."""
    grid = Table.grid(padding=(0, 2))
    for name, value in rows:
        grid.add_row(Text(name, style="bold"), Text(value))
    return grid
