"""Rows of a sheet as lines that are understood alone: each cell behind the name of its column."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, repeat
from typing import NamedTuple

from pipeline.ingest.sources.source import TextBuilder
from pipeline.records import BlockKind

Row = Sequence[str]

_LONGEST_NAME = 100
"""Most characters of a column's name, which is written again in each row. Chosen by hand; not measured."""

_NAMES_PER_CHARACTER = 4
_FREE_CHARACTERS = 1_000_000
"""Characters that the names in all rows may take: so many for each of the cells, or so many in all if that is more.

Beyond that a text would be mostly names, fifty times its file. Chosen by hand; not measured.
"""

_NUMBER = re.compile(r"[-+]?[.,\s]*\d[\d.,\s]*%?|\d{1,4}[-./]\d{1,2}[-./]\d{1,4}.*")
_YEAR = re.compile(r"(?:19|20)\d\d")
"""A number that is the name of a column as often as a value."""


class _Table(NamedTuple):
    """Rows between empty ones: the title above a table, its header if it has one of its own, and its body.

    ``names`` are those of the columns, by its own header or the last one above.
    """

    title: Sequence[Row]
    header: Row
    names: Row
    body: Sequence[Row]


def write_rows(built: TextBuilder, rows: Iterable[Row]) -> None:
    """Write the rows of a sheet as blocks: a table for those under one header, a paragraph for a title above it.

    Empty rows part tables. A row below the header is ``name: value | name: value``, without its empty cells; without a
    header it is ``value | value``. Long names are shortened, to no less than eight characters, where those of all rows
    together take far more than the cells.
    """
    tables = list(_tables(rows))
    longest = _longest_name(tables, _FREE_CHARACTERS - built.offset)
    names: Row = ()
    for table in tables:
        for row in table.title:
            _write_line(built, row)
            built.close(BlockKind.PARAGRAPH)
        if table.header:
            _write_line(built, table.header)
            names = [name[:longest].strip() for name in table.header]
        for row in table.body:
            _write_line(built, row, names)
        built.close(BlockKind.TABLE)


def _tables(rows: Iterable[Row]) -> Iterator[_Table]:
    names: Row = ()
    for part in _parts(rows):
        title, header, body = _divided(part, goes_on=bool(names))
        names = header or names
        yield _Table(title, header, names, body)


def _longest_name(tables: Iterable[_Table], free: int) -> int:
    """Return how long names may be, so that those in all rows take no more than ``free`` or a multiple of the cells."""
    taken = named = size = 0
    for table in tables:
        for row in table.body:
            for name, cell in zip(chain(table.names, repeat("")), row, strict=False):
                if not _is_empty(cell):
                    taken += min(len(name), _LONGEST_NAME)
                    named += bool(name)
                    size += len(cell) + 1
    most = max(free, _NAMES_PER_CHARACTER * size)
    return _LONGEST_NAME if taken <= most else most // named


def _parts(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the runs of rows that aren't empty."""
    for filled, part in groupby(rows, key=lambda row: any(map(str.strip, row))):
        if filled:
            yield list(part)


def _divided(rows: Sequence[Row], *, goes_on: bool) -> tuple[Sequence[Row], Row, Sequence[Row]]:
    """Return the title above a table, its header and its body; the header is empty if it has none of its own.

    After an empty row a table may go on, so there a row is a header only if the next one has numbers.
    """
    width = max(map(_filled, rows))
    wide = (place for place, row in enumerate(rows) if _filled(row) * 2 >= width)
    at = next(place for place in wide if goes_on or not _is_alone(rows[place]) or width == 1)
    first, body = rows[at], rows[at + 1 :]
    if width == 1 or not body:
        return (rows, (), ()) if width == 1 and not goes_on else ((), (), rows)
    is_form = any(cell.rstrip().endswith(":") for cell in first)  # a label before its value
    is_header = all(map(_is_name, first)) and not is_form and not (goes_on and all(map(_is_name, body[0])))
    return (rows[:at], first, body) if is_header else (rows[:at], (), rows[at:])


def _is_alone(row: Row) -> bool:
    """Return whether only the first cell of a row is filled, as that of a title above two columns."""
    return _filled(row) == 1 and not _is_empty(row[0])


def _filled(row: Row) -> int:
    return sum(1 for cell in row if not _is_empty(cell))


def _is_name(cell: str) -> bool:
    return not _NUMBER.fullmatch(cell.strip()) or _YEAR.fullmatch(cell.strip()) is not None


def _write_line(built: TextBuilder, row: Row, header: Row = ()) -> None:
    names = chain((f"{name}: " if name else "" for name in header), repeat(""))
    built.new_line()
    built.write(
        " | ".join(f"{name}{cell.strip()}" for name, cell in zip(names, row, strict=False) if not _is_empty(cell))
    )


def _is_empty(cell: str) -> bool:
    return not cell or cell.isspace()
