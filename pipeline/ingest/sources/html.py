"""HTML: title, headings, paragraphs, preformatted text, tables and links; scripts, styles and menus are dropped."""

import re
from collections.abc import Iterator, Set
from contextlib import suppress
from itertools import takewhile

from bs4 import BeautifulSoup
from bs4.dammit import EncodingDetector
from bs4.element import NavigableString, PageElement, PreformattedString, Tag

from pipeline.files import Unreadable, decode, well_formed
from pipeline.ingest.sources.link_targets import document_target
from pipeline.ingest.sources.source import Source, TextBuilder, parser_errors
from pipeline.records import BlockKind, Document

_DROPPED = frozenset("head script style nav template noscript svg iframe object select button".split())
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr html li main ol p pre section summary "
    "table tbody td tfoot th thead tr ul".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LAYOUT_CONTENT = frozenset((*_HEADINGS, "table", "pre", "ul", "ol", "section", "article"))
_DECLARATION = re.compile(r"\s*<\?xml[^<>]*>")


def parse(source: Source) -> Document:
    """Return a web page as a document with the text of its blocks. Raises Unreadable."""
    markup = _decoded(source.data)
    with parser_errors("HTML"):
        # html.parser takes minutes for some damaged pages, lxml doesn't; bs4 warns about an XML declaration, and about
        # a text so short that it could be a file's name
        soup = BeautifulSoup(_DECLARATION.sub("", markup, count=1) + "\n", "lxml")
        page = _Page(_layout_tables(soup))
        for element, entering in _walk(soup):
            page.take(element, entering)
        page.built.close(BlockKind.PARAGRAPH)
        title = " ".join(soup.title.get_text().split()) if soup.title else ""
    fix = "Save the page as it looks once its scripts have run, or leave it out."
    return page.built.document(source, title, fix)


def _decoded(data: bytes) -> str:
    """Return the text of ``data``: UTF-8 or UTF-16, else the encoding that the page declares."""
    try:
        return decode(data)
    except Unreadable:
        declared = EncodingDetector.find_declared_encoding(data, is_html=True)
        with suppress(LookupError, UnicodeDecodeError):
            return well_formed(data.decode(declared or "utf-8"))
        raise


def _walk(root: Tag) -> Iterator[tuple[PageElement, bool]]:
    """Yield each element below ``root`` in order, tags twice: (tag, True) before their content, (tag, False) after."""
    # an explicit stack: pages may be nested deeper than Python's recursion limit
    pending: list[tuple[PageElement, bool]] = [(child, True) for child in reversed(root.contents)]
    while pending:
        element, entering = pending.pop()
        if not isinstance(element, Tag):
            yield element, True
        elif element.name not in _DROPPED:
            yield element, entering
            if entering:
                pending.append((element, False))
                pending.extend((child, True) for child in reversed(element.contents))


def _layout_tables(root: Tag) -> set[int]:
    """Return the ids of the tables that arrange other blocks, in one pass: each may hold thousands of others."""
    found, around = set[int](), list[int]()
    for element, entering in _walk(root):
        if not isinstance(element, Tag) or element.name not in _LAYOUT_CONTENT:
            continue
        if entering:
            # Those around one that was found are found, too.
            found.update(takewhile(lambda table: table not in found, reversed(around)))
        if element.name == "table":
            around.append(id(element)) if entering else around.pop()
    return found


class _Page:
    """Writes elements to a text. The content of a heading, ``pre`` or data table becomes a single block."""

    def __init__(self, layout_tables: Set[int]) -> None:
        self.built = TextBuilder()
        self._layout_tables = layout_tables
        self._container: Tag | None = None
        self._anchors: list[int] = []
        self._cells = 0

    def take(self, element: PageElement, entering: bool) -> None:
        if isinstance(element, Tag):
            (self._enter if entering else self._leave)(element)
        elif isinstance(element, NavigableString) and not isinstance(element, PreformattedString):
            verbatim = self._container is not None and self._container.name == "pre"
            (self.built.write_verbatim if verbatim else self.built.write)(element)

    def _enter(self, tag: Tag) -> None:
        if self._container is not None:
            self._separate(tag)
        elif tag.name in _BLOCKS:
            self.built.close(BlockKind.PARAGRAPH)
            is_data = tag.name == "table" and id(tag) not in self._layout_tables
            if tag.name in _HEADINGS or tag.name == "pre" or is_data:
                self._container = tag
        if tag.name == "br":
            self.built.new_line()
        elif tag.name == "img":
            self.built.write(str(tag.get("alt", "")))
        elif tag.name == "a":
            self._anchors.append(self.built.offset)

    def _separate(self, tag: Tag) -> None:
        """Separate the words in ``tag`` from those before it in the container's block."""
        if tag.name == "tr":
            self.built.new_line()
            self._cells = 0
        elif tag.name in ("td", "th"):
            self.built.write(" | " if self._cells else "")
            self._cells += 1
        elif tag.name in _BLOCKS:
            self.built.write(" ")

    def _leave(self, tag: Tag) -> None:
        if tag.name == "a":
            start, target = self._anchors.pop(), document_target(str(tag.get("href", "")).strip())
            if target:
                self.built.link(target, start)
        if tag is self._container:
            self._container = None
            kind = {"pre": BlockKind.CODE, "table": BlockKind.TABLE}.get(tag.name, BlockKind.HEADING)
            self.built.close(kind, _HEADINGS.get(tag.name, 0))
        elif self._container is None and tag.name in _BLOCKS:
            self.built.close(BlockKind.PARAGRAPH)
