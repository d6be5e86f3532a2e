"""The kinds of table that views share.

Names of corpora, files and skills may hold rich's markup, so views add them as ``Text`` where a table here doesn't.
"""

import re
from collections.abc import Iterable, Mapping
from operator import itemgetter

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from pipeline.text.prose import one_line

_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?%?")
_COMMIT = re.compile(r"\b([0-9a-f]{10})[0-9a-f]{30}\b")  # of SHA-1; ten digits of it name it as well
_NARROWEST = 20  # characters that a column of texts keeps while others can shrink; chosen by hand
_GAP = 3  # between two columns of a plain table


class Brief:
    """A text that is cut between words to the one line that it has room for."""

    def __init__(self, text: str) -> None:
        self._text = one_line(text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(one_line(self._text, options.max_width), no_wrap=True, overflow="ellipsis")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_NARROWEST, max(len(self._text), 1)).clamp(max_width=options.max_width)


class _Plain(Table):
    """A table in which texts with spaces are folded first, and columns of ids and numbers only without other room.

    ``whole`` has the width of each of the latter, by its place.
    """

    whole: Mapping[int, int]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        count = len(self.columns)
        room = options.max_width - _GAP * (count - 1) - _NARROWEST * (count - len(self.whole))
        for place, width in sorted(self.whole.items(), key=itemgetter(1)):
            room -= width
            self.columns[place].no_wrap = room >= 0
        yield from super().__rich_console__(console, options)


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


def plain_table(*headings: str, rows: Iterable[Iterable[str | Text | Brief]], named: bool = False) -> Table:
    """Return a table of rows of plain text: a rule below its headings, no frame; long cells are folded, ids last.

    Columns of numbers stand at the right, a column without any text is left out, and the commits in texts are short.
    ``named``: each row begins with a name, in bold.
    """
    table, whole = _Plain(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False), {}
    columns = list(zip(*rows, strict=True)) or [()] * len(headings)
    kept = [(heading, cells) for heading, cells in zip(headings, columns, strict=True) if any(cells) or not cells]
    for place, (heading, cells) in enumerate(kept):
        texts = [shortened(str(cell)) for cell in cells if not isinstance(cell, Brief)]
        if texts and not any(" " in text or "\n" in text for text in texts):
            whole[place] = max(map(len, (heading, *texts)))
        texts = list(filter(None, texts))
        is_number = bool(texts) and all(map(_NUMBER.fullmatch, texts))
        table.add_column(heading, overflow="fold", justify="right" if is_number else "left")
    for row in zip(*(cells for _, cells in kept), strict=True):
        shown = [Text(shortened(cell)) if isinstance(cell, str) else cell for cell in row]
        if named and isinstance(shown[0], Text):
            shown[0].style = "bold"
        table.add_row(*shown)
    table.whole = whole
    return table


def captioned(table: Table, caption: str) -> Group:
    """Return a table with a text below it, which may be wider than the table."""
    return Group(table, Text(caption))


def shortened(text: str) -> str:
    """Return a text with the commits in it by their first ten digits."""
    return _COMMIT.sub(r"\1", text)


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
    """Return names in bold, each beside its value, which is folded, not cut, if it is longer than a line."""
    grid = Table.grid("", Column(overflow="fold"), padding=(0, 2))
    for name, value in rows:
        grid.add_row(Text(name, style="bold"), Text(value))
    return grid
