"""PDF: the text of the pages in the order in which people read it, and the offset of each page."""

import io
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, dropwhile, pairwise, takewhile
from statistics import median

import pypdfium2
from pypdfium2 import raw

from pipeline.files import Unreadable, well_formed
from pipeline.ingest.sources.parsers.pdf_layout import Line, lines_of
from pipeline.ingest.sources.parsers.pdf_page import words_of
from pipeline.ingest.sources.parsers.pdf_running import without_running
from pipeline.ingest.sources.source import Source, parser_errors
from pipeline.records import Block, BlockKind, Document
from pipeline.text.hyphens import mended
from pipeline.text.outline import paragraphs

_SEPARATOR = "\n\n"
_LONGEST_TITLE = 120  # characters
_SHORTEST_TITLE = 4  # letters; both chosen by hand, not measured
_APART = 1.35  # of the usual distance of lines: a new paragraph
_OTHER_SIZE = 1.12  # a heading or a footnote by its font's height; both chosen by hand, not measured
_SOLID = 1.1  # font's heights between lines of a heading, at most
_OTHER_LEVEL = 1.06  # the height of a heading of the next level, by this
_LONGEST_HEADING, _MOST_LINES, _DEEPEST = 200, 3, 6  # characters; lines; levels
_LEADER = " ... "  # of a table of contents
_FULL = 0.85  # of the usual width: a line that isn't the last of its paragraph
_MOST_NAMED = 5  # ranges of pages in a warning
_NO_TITLE = re.compile(
    r"\(?(?:untitled|anonymous|unspecified|"
    r"unknown|unnamed|title|(?:no|document) title|(?:new |word |my )?document|presentation|slide|none|null)"
    r"[\s\d()_.-]*|microsoft (?:word|powerpoint|excel|office)\b.*|(?:power ?point|slide) .*|scan(?:ned)?[\W_\d].*"
    r"|(?:[a-z]:|\.{0,2}/|~/|file:|https?:).*|.*\\.*|\S+\.[a-z]\w{1,4}|.+\.(?:docx?|pdf|dvi|tex|rtf|odt|pptx?|xlsx?|indd"
    r"|qxd|pmd|txt|html?|ps|eps|fm|wpd|pages|key|md)|[\W\d_]*",
    re.IGNORECASE,
)
"""Titles that programs write when nobody has given one: their own name, the file's, a path."""

_SENTENCE_END = re.compile(r"[.!?:…。！？؟][\"'”’»)\]]*$")


def parse(source: Source) -> Document:
    """Return a PDF as a document with the text of its pages in order, separated by blank lines.

    Columns follow each other, rows of tables stand on a line, values of form fields in their places. Words broken at
    the end of lines are whole, ligatures are letters; running heads, running feet and page numbers are left out. A
    sentence that goes on on the next page isn't separated by a blank line. What is set in a larger font is a heading.

    The title comes from the file's properties, unless it is a program's, else from the largest text of the first page
    if that can be a title, else from the file's stem. Warnings name pages that show something but have no text, and
    damaged pages. Raises Unreadable if the file is damaged, needs a password, or holds no text (scans without OCR).
    """
    with parser_errors("PDF"), closing(_opened(source.data)) as file:
        if len(file) > source.limits.pages:
            raise Unreadable(f"has {len(file):,} pages", "Split it, or raise sources.max_pages.")
        file.init_forms()
        read = [_lines(file, number) for number in range(len(file))]
        title = " ".join(well_formed(file.get_metadata_value("Title")).split())
    pages = _mended(_flowing(without_running([page.lines for page in read])))
    if not any(pages):
        raise _unreadable(read)
    text, starts, firsts = _text(pages)
    return Document(
        key=source.key,
        title=(title if not _NO_TITLE.fullmatch(title) else "") or _largest(pages) or source.stem,
        text=text,
        blocks=tuple(_blocks(text, firsts, _levels(pages))),
        path=source.path,
        page_starts=tuple(starts),
        warnings=tuple(_warnings(read)),
    )


def _opened(data: bytes) -> pypdfium2.PdfDocument:
    try:
        # an empty password is tried, as of many files that only forbid printing
        return pypdfium2.PdfDocument(io.BytesIO(data), password="")
    except pypdfium2.PdfiumError as error:
        if error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise Unreadable("is encrypted", "Save it without a password, or leave it out.") from None
        raise


@dataclass(frozen=True, slots=True)
class _Page:
    """The lines of a page in order, whether it shows anything, and whether it is damaged."""

    lines: list[Line]
    shows: bool = False
    is_damaged: bool = False


def _lines(file: pypdfium2.PdfDocument, number: int) -> _Page:
    try:
        page = file[number]
    except pypdfium2.PdfiumError:
        return _Page([], is_damaged=True)
    with closing(page):
        turned = words_of(page)
        shows = bool(raw.FPDFPage_CountObjects(page))
    fullest_first = sorted(turned.values(), key=len, reverse=True)
    return _Page([line for words in fullest_first for line in lines_of(words)], shows)


def _flowing(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """Return the lines of pages, the footnotes before the last paragraph of a page that goes on on the next page."""
    flowing = [*pages]
    for number, (page, following) in enumerate(pairwise(pages)):
        at = next((place for place, line in enumerate(page) if line.is_note), 0)
        if at and following and _goes_on(page[at - 1], following[0], _usual_width(page[:at])):
            body, step = page[:at], _usual_step(page[:at])
            begin = at - 1
            while begin and _is_one(body[begin - 1], body[begin], step):
                begin -= 1
            flowing[number] = [*body[:begin], *page[at:], *body[begin:]]
    return flowing


def _mended(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """Return the lines with their words whole, also those that are broken over columns and pages."""
    texts = iter(mended([line.text for page in pages for line in page]))
    whole = [[line._replace(text=next(texts)) for line in page] for page in pages]
    return [[line for line in page if line.text] for page in whole]


def _levels(pages: Sequence[Sequence[Line]]) -> dict[float, int]:
    """Return the levels of headings by the heights of their fonts: those that are larger than the usual one."""
    letters = Counter[float]()
    for line in chain(*pages):
        letters[line.size] += len(line.text)
    usual = letters.most_common(1)[0][0]
    levels: dict[float, int] = {}
    level, last = 0, math.inf
    for size in sorted((size for size in letters if size > _OTHER_SIZE * usual), reverse=True):
        level += size * _OTHER_LEVEL < last
        last = last if size * _OTHER_LEVEL >= last else size
        levels[size] = min(level, _DEEPEST)
    return levels


def _blocks(text: str, firsts: Mapping[int, Line], levels: Mapping[float, int]) -> Iterator[Block]:
    """Yield the blocks of a text, given the first line of each paragraph, table and heading by its offset."""
    for block in paragraphs(text):
        first = firsts.get(block.start)
        words = text[block.start : block.end]
        is_short = len(words) <= _LONGEST_HEADING and words.count("\n") < _MOST_LINES and _LEADER not in words
        if first and first.is_row:
            yield replace(block, kind=BlockKind.TABLE)
        elif first and first.size in levels and is_short and sum(map(str.isalpha, words)) >= _SHORTEST_TITLE:
            yield replace(block, kind=BlockKind.HEADING, level=levels[first.size])
        else:
            yield block


def _text(pages: Sequence[list[Line]]) -> tuple[str, list[int], dict[int, Line]]:
    """Return the text of pages, the offsets of the pages, and the first lines of paragraphs by their offsets."""
    parts: list[str] = []
    starts, firsts, length = list[int](), dict[int, Line](), 0
    last, above = None, 0.0
    for page in pages:
        step, width = _usual_step(page), _usual_width(page)
        for place, line in enumerate(page or [None]):
            together = last and line and (_is_one(last, line, step) if place else _goes_on(last, line, above))
            separator = ("\n" if together else _SEPARATOR) if parts else ""
            parts += [separator, line.text if line else ""]
            length += len(separator)
            if not place:
                starts.append(length)
            if line and not together:
                firsts[length] = line
            length += len(parts[-1])
            last = line
        above = width
    return "".join(parts), starts, firsts


def _usual_step(page: Sequence[Line]) -> float:
    """Return the usual distance of a line from the one before."""
    steps = [below.y - above.y for above, below in pairwise(page) if below.y > above.y]
    return median(steps) if steps else 0.0


def _usual_width(page: Sequence[Line]) -> float:
    return median(line.right - line.left for line in page) if page else 0.0


def _is_one(above: Line, line: Line, step: float) -> bool:
    """Return whether a line belongs to the paragraph, or the table, of the one before."""
    if (above.is_row, above.is_note) != (line.is_row, line.is_note):
        return False
    down = line.y - above.y
    if down < 0:
        return _goes_on(above, line)
    sizes = sorted((above.size, line.size))
    return down <= _APART * max(step, _SOLID * line.size) and (line.is_row or sizes[1] <= _OTHER_SIZE * sizes[0])


def _goes_on(above: Line, line: Line, width: float = 0.0) -> bool:
    """Return whether a sentence goes on in a line at the top of the next column or page, after a line that is full."""
    if above.is_row or line.is_row or _SENTENCE_END.search(above.text):
        return False
    return line.text[:1].islower() and above.right - above.left >= _FULL * width


def _largest(pages: Sequence[Sequence[Line]]) -> str:
    """Return the largest text of the first page that has any, if it can be a title: no number, no whole paragraph."""
    page = next(filter(None, pages))
    largest = max(line.size for line in page)
    lines = list(dropwhile(lambda line: line.size * _OTHER_SIZE < largest, page))
    is_heading = largest > _OTHER_SIZE * median(line.size for line in page)
    taken = takewhile(lambda line: is_heading and line.size * _OTHER_SIZE >= largest, lines[1:])
    title = "" if lines[0].is_row else " ".join(line.text for line in (lines[0], *taken))
    return title if len(title) <= _LONGEST_TITLE and sum(map(str.isalpha, title)) >= _SHORTEST_TITLE else ""


def _unreadable(read: Sequence[_Page]) -> Unreadable:
    if any(page.is_damaged for page in read):
        return Unreadable("isn't well-formed PDF (its pages are damaged)", "Open and save it again, or leave it out.")
    return Unreadable("has no text", "Run character recognition (OCR) over it first, or leave it out.")


def _warnings(read: Sequence[_Page]) -> Iterator[str]:
    """Yield warnings that name the pages whose text is missing."""
    silent = [number for number, page in enumerate(read, 1) if page.shows and not page.lines]
    if silent:
        yield f"has {_named(silent)} without text, as scans are: run character recognition (OCR) over it"
    damaged = [number for number, page in enumerate(read, 1) if page.is_damaged]
    if damaged:
        yield f"has {_named(damaged)} that can't be read: open and save it again"


def _named(pages: Sequence[int]) -> str:
    """Return a phrase for pages: ``3 pages (2, 5-6)``."""
    ranges: list[list[int]] = []
    for page in pages:
        if ranges and page == ranges[-1][-1] + 1:
            ranges[-1][1:] = [page]
        else:
            ranges.append([page])
    named = ", ".join("-".join(map(str, found)) for found in ranges[:_MOST_NAMED])
    more = ", ..." if len(ranges) > _MOST_NAMED else ""
    return f"a page ({named})" if len(pages) == 1 else f"{len(pages)} pages ({named}{more})"
