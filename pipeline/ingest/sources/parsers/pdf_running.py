"""Running heads, running feet and page numbers of a PDF: what stands at the same edge of pages, page after page."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from pipeline.ingest.sources.parsers.pdf_layout import Line

_ROWS = 3  # at each edge of a page, and a quarter of all
_NEAR = 4  # pages before and after: heads alternate, and change with the chapter
_LEAST = 3  # pages with the same head, or 2 if it is apart from the text
_APART = 1.5  # usual distances of lines
_SENTENCE = 70  # characters
_LARGER = 1.15  # than the usual font: a heading; all six chosen by hand, not measured
_MOST_CELLS = 2  # a table's head, repeated on each page, has more
_PAGE = re.compile(r"(?:page|seite|p[áa]gina|pagina|p\.)\s*\d+(?:\s*(?:of|/|von|de|sur|di)\s*\d+)?", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,4}")
_ROMAN = re.compile(r"^\W*[ivxlc]+\b|\b[ivxlc]+\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row at the top (or bottom) edge of a page."""

    lines: tuple[Line, ...]
    is_top: bool
    is_apart: bool

    @property
    def text(self) -> str:
        return " ".join(line.text for line in sorted(self.lines, key=lambda line: line.left))

    @property
    def key(self) -> str:
        """The text without its numbers."""
        return _NUMBER.sub("#", _ROMAN.sub("#", self.text.casefold()))

    def is_level_with(self, other: "_Row") -> bool:
        return self.is_top == other.is_top and abs(self.lines[0].y - other.lines[0].y) <= self.lines[0].size / 2


def without_running(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """Return the lines of pages without running heads, running feet and page numbers.

    If nothing else is there on any page, these are the text, and stay. What is as long as a sentence stays once.
    """
    rows = [list(_edges(page)) for page in pages]
    kept = []
    seen: set[str] = set()
    for number, page in enumerate(pages):
        running = [row for row in rows[number] if _is_running(row, number, rows)]
        dropped = {line for row in running if len(row.key) < _SENTENCE or row.key in seen for line in row.lines}
        seen.update(row.key for row in running)
        kept.append([line for line in page if line not in dropped])
    return kept if any(kept) else [*pages]


def _edges(page: Sequence[Line]) -> Iterator[_Row]:
    """Yield the rows at both edges of a page that may be running, those at the top first."""
    if not page:
        return
    usual = median(line.size for line in page)
    rows = _rows(page)
    steps = [below[0].y - above[0].y for above, below in pairwise(rows)]
    # the usual one also of a page with a line or two
    step = sorted(steps)[(len(steps) - 1) // 3] if steps else 0.0
    deep = min(_ROWS, max(1, len(rows) // 4))
    for at in sorted({*range(deep), *range(len(rows) - deep, len(rows))}):
        row = rows[at]
        is_table = any(line.is_row and line.text.count(" | ") >= _MOST_CELLS for line in row)
        if is_table or max(line.size for line in row) > _LARGER * usual:
            continue
        if at < deep:
            yield _Row(row, True, at < len(steps) and steps[at] > _APART * step)
        if at >= len(rows) - deep:
            yield _Row(row, False, at > 0 and steps[at - 1] > _APART * step)


def _rows(page: Sequence[Line]) -> list[tuple[Line, ...]]:
    rows: list[list[Line]] = []
    for line in sorted(page, key=lambda line: line.y):
        if rows and line.y - rows[-1][0].y <= line.size / 3:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [tuple(row) for row in rows]


def _is_running(row: _Row, number: int, rows: Sequence[Sequence[_Row]]) -> bool:
    """Return whether a row of a page stands on pages near it too, but for its numbers, or counts the pages."""
    if _PAGE.fullmatch(row.text.strip(" -–—|")):
        return True
    is_bare = not any(map(str.isalpha, row.key))
    like = 0
    for page in range(max(0, number - _NEAR), min(len(rows), number + _NEAR + 1)):
        level = [other for other in rows[page] if other.is_level_with(row)]
        like += any(_is_like(row, number, other, page, numbered=is_bare or row.is_apart) for other in level)
    return like >= (2 if row.is_apart or is_bare or len(rows) == 2 else _LEAST)


def _is_like(row: _Row, page: int, other: _Row, other_page: int, *, numbered: bool) -> bool:
    """Return whether rows of two pages have the same text, or, ``numbered``, differ in numbers or count pages."""
    if row.text == other.text:
        return True
    return numbered and (row.key == other.key or bool(_offsets(row, page) & _offsets(other, other_page)))


def _offsets(row: _Row, page: int) -> set[int]:
    """Return what the numbers at either end of a row are more than the page's."""
    numbers = _NUMBER.findall(row.text)
    ends = {found for found in numbers[:1] if row.text.startswith(found)}
    ends |= {found for found in numbers[-1:] if row.text.endswith(found)}
    return {int(found) - page for found in ends}
