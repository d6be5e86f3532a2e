"""The reading order of a PDF's page, from the places of its words: columns, rows of tables, footnotes.

A page is cut into bands between which a horizontal line can be drawn. Consecutive bands with a common gutter are
columns, read one after the other, or a table, read row by row; each column is read in the same way. Lengths count in
the median height of the words' font, an em.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from statistics import mean, median
from typing import NamedTuple
from unicodedata import bidirectional

_INFINITE = float("inf")
_HALF = 0.22  # half of a small letter's height in em; lines set solid are then still apart
_GUTTER = 0.9
"""The least width of a gutter, in em: LaTeX sets columns 1 em apart, and two lines of justified text seldom leave as
much in the same place. Found on the manuals and papers of Debian packages."""

_TALL = 1.2  # em between the lines of a band that holds several; chosen by hand, not measured
_ROW_GAP = 1.3  # of the least distance of two bands: rows whose cells wrap are further apart than lines
_LONGEST_CELL = 150  # characters, on average; the others chosen by hand, not measured
_FEWEST_ROWS = 2  # with words on both sides of a gutter
_SHORTEST_LINE = 5  # em of prose, on average
_MOST_LOWER = 0.25  # of the cells of a table begin with a small letter, as do most lines of prose
_FULL = 0.75  # of a column's width: lines of prose without case, on average
_NOTE = 0.92  # the size of footnotes, at most, by that of the column
_INDENT = 2.0  # em, at most
_MOST_LINES = 4  # of a cell, on average
_APART = 1.6  # distances of lines before a heading
_TOUCH = 0.05  # em between words that are one
_MOST_GAPS = 100  # of a page's line; they are compared with each other
_INITIAL, _MOST_INITIALS = 1.8, 10  # em; of a page
_DEEPEST = 20  # columns in columns
_MARKER = re.compile(r"\W{1,2}|[(\[]?\w{1,4}[.):\]]|[(\[]\w{1,4}[)\]]\.?")
_NOTE_MARK = re.compile(r"[\d*†‡§¶]{1,3}(?!\.\d)\W*\w")
_LEFT_TO_RIGHT = re.compile(r"\w+(?:[.,:/'’-]\w+)*|\W")
"""Words that run to the right in a line that runs to the left, as it is seen: a full stop stands before its number."""

_LEADER = re.compile(r"(?:\s*[.·…_]){5,}\s*")  # the dots before the page in a table of contents
_SEPARATOR = " | "


class Word(NamedTuple):
    """A word: its text, its left and right end, the middle of its small letters (downwards), its font's height."""

    text: str
    left: float
    right: float
    y: float
    size: float


class Line(NamedTuple):
    """A line of a column or of a footnote, or a row of a table."""

    text: str
    left: float
    right: float
    y: float
    size: float
    is_row: bool = False
    is_note: bool = False


Gap = tuple[float, float]


@dataclass(slots=True)
class _Run:
    """Consecutive bands, and the white space that they have in common: margins, which are infinite, and gutters."""

    bands: list[list[Word]]
    gaps: list[Gap]

    @property
    def gutters(self) -> list[Gap]:
        return _gutters(self.gaps)


def lines_of(words: Sequence[Word]) -> list[Line]:
    """Return the lines of a page in the order in which people read them."""
    if not words:
        return []
    to_left = 2 * sum(map(_is_to_left, (word.text for word in words))) > len(words)
    em = median(word.size for word in words)
    body, notes = _split_notes(_Reader(em, to_left).read(_with_initials(words, em)))
    return [*body, *(line._replace(is_note=True) for line in notes)]


def _with_initials(words: Sequence[Word], em: float) -> list[Word]:
    """Return the words, those that begin with an initial several lines high with it, in their line."""
    initials = [word for word in words if len(word.text) == 1 and word.text.isupper() and word.size > _INITIAL * em]
    whole = list(words)
    for initial in initials[:_MOST_INITIALS]:
        beside = [word for word in whole if abs(word.left - initial.right) < em and word.size < _INITIAL * em]
        first = min((word for word in beside if abs(word.y - initial.y) < initial.size / 2), key=_height, default=None)
        if first:
            whole.remove(initial)
            whole[whole.index(first)] = first._replace(text=initial.text + first.text, left=initial.left)
    return whole


def _height(word: Word) -> float:
    return word.y


class _Reader:
    """Reads the words of a page; ``em`` is the height of its font, ``to_left`` the direction of its script."""

    def __init__(self, em: float, to_left: bool) -> None:
        self._em = em or 1.0
        self._to_left = to_left

    def read(self, words: Sequence[Word], depth: int = 0) -> list[Line]:
        if depth > _DEEPEST:
            return [line for band in _bands(words) for line in self._lines(band)]
        return [line for run in self._runs(_bands(words)) for line in self._read_run(run, depth)]

    def _read_run(self, run: _Run, depth: int) -> Iterator[Line]:
        tall = any(map(self._is_tall, run.bands)) or _alternates(run)
        if not tall and sum(len(_columns(band, run.gutters)) > 1 for band in run.bands) < _FEWEST_ROWS:
            yield from (line for band in run.bands for line in self._lines(band))
            return
        rows = [] if tall else self._rows(run)
        if self._is_table(rows):
            yield from (_line(_SEPARATOR.join(map(self._text, row)), chain(*row), is_row=True) for row in rows)
            return
        columns = [self.read(column, depth + 1) for column in _columns(chain(*run.bands), run.gutters)]
        split = [_split_notes(column) for column in (reversed(columns) if self._to_left else columns)]
        yield from (line for body, _ in split for line in body)
        yield from (line for _, notes in split for line in notes)

    def _runs(self, bands: Iterable[list[Word]]) -> Iterator[_Run]:
        """Yield runs of bands: of columns, of a table, or of lines without a gutter."""
        run: _Run | None = None
        measured = [(band, self._gaps(band)) for band in bands]
        for (band, gaps), (_, following) in pairwise([*measured, ([], [])]):
            if run and self._belongs(run, _Run([band], gaps), following):
                run.bands.append(band)
                run.gaps = _common(run.gaps, gaps, self._least)
                continue
            heading = self._heading_below(run) if run else []
            if run and run.bands:
                yield run
            if heading:
                yield _Run(heading, [])
            run = _Run([band], gaps)
        if run:
            yield run

    def _belongs(self, run: _Run, band: _Run, following: Sequence[Gap]) -> bool:
        """Return whether a band goes on with a run, given the gaps of the band after it."""
        if not run.gutters:
            return not band.gutters
        common = _gutters(_common(run.gaps, band.gaps, self._least))
        if len(common) < max(1, len(run.gutters) - 1):
            return False
        ahead = _gutters(_common(band.gaps, following, self._least))
        if not ahead or len(_columns(band.bands[0], common)) == 1:
            return True
        if len(ahead) > len(run.gutters) and _divides_each(ahead, common):
            return False
        return any(self._is_same(gap, gutter) for gap in band.gutters for gutter in run.gutters)

    def _is_same(self, gap: Gap, gutter: Gap) -> bool:
        """Return whether the lines after two gaps begin at one place, give or take an indent."""
        side = 0 if self._to_left else 1
        return abs(gap[side] - gutter[side]) <= _INDENT * self._em

    def _heading_below(self, run: _Run) -> list[list[Word]]:
        """Take from the end of columns, and return, the lines of a heading that stands below all of them."""
        if len(run.bands) < 3 or not run.gutters:
            return []
        steps = [below[0].y - above[0].y for above, below in pairwise(run.bands)]
        for at in (len(run.bands) - 1, len(run.bands) - 2):
            is_apart = steps[at - 1] > _APART * max(self._em, median(steps))
            if is_apart and all(max(word.right for word in band) <= run.gutters[0][0] for band in run.bands[at:]):
                heading = run.bands[at:]
                del run.bands[at:]
                return heading
        return []

    def _gaps(self, band: Sequence[Word]) -> list[Gap]:
        """Return the margins and gutters of a band; the space after a bullet or number is none."""
        gaps, start, reach = [], -_INFINITE, -_INFINITE
        piece: list[str] = []
        for word in sorted(band, key=lambda word: word.left):
            if not piece or word.left - reach >= self._least:
                if not (len(piece) == 1 and _MARKER.fullmatch(piece[0])):
                    gaps.append((start, word.left))
                piece = []
            piece.append(word.text)
            start = reach = max(reach, word.right)
        gaps.append((start, _INFINITE))
        return gaps if len(gaps) <= _MOST_GAPS else [gaps[0], gaps[-1]]

    @property
    def _least(self) -> float:
        return _GUTTER * self._em

    def _is_tall(self, band: Sequence[Word]) -> bool:
        heights = [word.y for word in band]
        return max(heights) - min(heights) > _TALL * self._em

    def _rows(self, run: _Run) -> list[list[list[Word]]]:
        """Return the rows of a run as a table, each with its cells.

        Cells that wrap make a row of several bands, which are closer than rows, or lack the first cell.
        """
        steps = [below[0].y - above[0].y for above, below in pairwise(run.bands)]
        least = min(_ROW_GAP * min(steps), _APART * self._em)
        rows = [[*run.bands[0]]]
        for step, band in zip(steps, run.bands[1:], strict=True):
            lacks_first = all(_column(word, run.gutters) for word in band)
            if step <= least and (least < max(steps) or lacks_first):
                rows[-1] += band
            else:
                rows.append([*band])
        return [_columns(row, run.gutters) for row in rows]

    def _is_table(self, rows: Sequence[Sequence[Sequence[Word]]]) -> bool:
        """Return whether rows of cells are a table rather than columns of prose."""
        rows = [row for row in rows if len(row) > 1]
        cells = [self._text(cell) for row in rows for cell in row]
        if not cells or _is_text_beside_text(rows):
            return False
        length = mean(map(len, cells))
        cased = [text for text in cells if text[:1].lower() != text[:1].upper()]
        if length > _LONGEST_CELL or mean(_width(cell) for row in rows for cell in row) < _SHORTEST_LINE * self._em:
            return length <= _LONGEST_CELL
        if 2 * len(cased) >= len(cells) or any(map(str.isdecimal, "".join(text[:1] for text in cells))):
            return sum(text[:1].islower() for text in cased) <= _MOST_LOWER * len(cells)
        return not self._is_filled(rows)

    def _is_filled(self, rows: Sequence[Sequence[Sequence[Word]]]) -> bool:
        widths = [[_width(cell) for cell in row] for row in rows]
        widest = max(map(max, widths))
        return mean(chain(*widths)) >= _FULL * widest

    def _lines(self, band: Sequence[Word]) -> Iterator[Line]:
        """Yield the lines of a band that is read as a whole."""
        if not self._is_tall(band):
            yield _line(self._text(band), band)
            return
        line: list[Word] = []
        for word in sorted(band, key=_height):
            if line and word.y - line[0].y > self._em / 2:
                yield _line(self._text(line), line)
                line = []
            line.append(word)
        yield _line(self._text(line), line)

    def _text(self, words: Iterable[Word]) -> str:
        """Return words as a text, line by line, each in the direction of its script."""
        lines = _bands(words)
        text = " ".join(chain(*(_directed(line, self._to_left) for line in lines)))
        return _LEADER.sub(" ... ", text).strip()


def _bands(words: Iterable[Word]) -> list[list[Word]]:
    """Return the words in bands between which a horizontal line can be drawn, from above."""
    bands: list[list[Word]] = []
    reach = -_INFINITE
    for word in sorted(words, key=lambda word: word.y - _HALF * word.size):
        if word.y - _HALF * word.size > reach:
            bands.append([])
        bands[-1].append(word)
        reach = max(reach, word.y + _HALF * word.size)
    return bands


def _column(word: Word, gutters: Sequence[Gap]) -> int:
    return bisect_left(gutters, word.left + word.right, key=sum)


def _alternates(run: _Run) -> bool:
    """Return whether the bands are the lines of columns in turn, since these aren't level."""
    columns = [_columns(band, run.gutters) for band in run.bands]
    alone = [_column(parts[0][0], run.gutters) for parts in columns if len(parts) == 1]
    turns = sum(one != other for one, other in pairwise(alone))
    return turns > _FEWEST_ROWS and 2 * len(alone) > len(run.bands)


def _is_text_beside_text(rows: Sequence[Sequence[Sequence[Word]]]) -> bool:
    """Return whether rows have cells of many lines in each column; in a table that wraps, the first are shorter."""
    heights = [[len(_bands(cell)) for cell in row] for row in rows]
    return mean(map(max, heights)) > _MOST_LINES and mean(map(min, heights)) > _MOST_LINES / 2


def _gutters(gaps: Iterable[Gap]) -> list[Gap]:
    """Return the gaps without the margins."""
    return [gap for gap in gaps if gap[0] > -_INFINITE and gap[1] < _INFINITE]


def _common(one: Sequence[Gap], other: Sequence[Gap], least: float) -> list[Gap]:
    """Return the white space that two bands have in common, where it is wide enough."""
    common: list[Gap] = []
    left, right = iter(one), iter(other)
    a, b = next(left, None), next(right, None)
    while a and b:
        start, end = max(a[0], b[0]), min(a[1], b[1])
        if end - start >= least:
            common.append((start, end))
        if a[1] < b[1]:
            a = next(left, None)
        else:
            b = next(right, None)
    return common


def _divides_each(ahead: Sequence[Gap], gutters: Sequence[Gap]) -> bool:
    """Return whether there is one of the gaps ``ahead`` in each of the columns that ``gutters`` make."""
    edges = [(-_INFINITE, -_INFINITE), *gutters, (_INFINITE, _INFINITE)]
    return all(any(a[1] < gap[0] and gap[1] < b[0] for gap in ahead) for a, b in pairwise(edges))


def _columns(words: Iterable[Word], gutters: Sequence[Gap]) -> list[list[Word]]:
    """Return the words between gutters, without empty columns."""
    columns: list[list[Word]] = [[] for _ in range(len(gutters) + 1)]
    for word in words:
        columns[_column(word, gutters)].append(word)
    return [column for column in columns if column]


def _split_notes(lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """Return a column without the footnotes at its end, and the footnotes."""
    if not lines:
        return [], []
    size = _NOTE * median(line.size for line in lines)
    at = len(lines)
    while at and lines[at - 1].size <= size and not lines[at - 1].is_row:
        at -= 1
    starts = [number for number in range(at, len(lines)) if _NOTE_MARK.match(lines[number].text)]
    cut = starts[0] if starts else len(lines)
    return lines[:cut], lines[cut:]


def _line(text: str, words: Iterable[Word], *, is_row: bool = False) -> Line:
    held = list(words)
    left, right = min(word.left for word in held), max(word.right for word in held)
    return Line(text, left, right, median(word.y for word in held), median(word.size for word in held), is_row)


def _width(words: Sequence[Word]) -> float:
    return max(word.right for word in words) - min(word.left for word in words)


def _directed(words: Sequence[Word], to_left: bool) -> list[str]:
    """Return the words of a line in the order of its script, by default the page's; foreign words keep theirs."""
    ordered = sorted(words, key=lambda word: word.left)
    letters = [word.text for word in ordered if _is_letters(word.text)]
    if not (2 * sum(map(_is_to_left, letters)) >= len(letters) if letters else to_left):
        return [word.text for word in ordered]
    parts = groupby(reversed(_touching(ordered)), key=lambda text: _is_letters(text) and not _is_to_left(text))
    turned = [text for is_right, part in parts for text in (reversed([*part]) if is_right else part)]
    return [text if _is_to_left(text) else "".join(reversed(_LEFT_TO_RIGHT.findall(text))) for text in turned]


def _touching(words: Iterable[Word]) -> list[str]:
    """Return the texts of words; PDFium takes "Neo4j" apart amid a script that runs to the left."""
    texts: list[str] = []
    reach = _INFINITE
    for word in words:
        if abs(word.left - reach) < _TOUCH * word.size and not _is_to_left(texts[-1] + word.text):
            texts[-1] += word.text
        else:
            texts.append(word.text)
        reach = word.right
    return texts


def _is_to_left(text: str) -> bool:
    return not text.isascii() and any(bidirectional(character) in ("R", "AL") for character in text)


def _is_letters(text: str) -> bool:
    return any(map(str.isalpha, text))
