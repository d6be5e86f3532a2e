"""HTML as a browser shows it: title, headings, paragraphs, preformatted text, tables and links, without menus."""

import posixpath
import re
from collections.abc import Container, Iterator, Set
from dataclasses import replace
from itertools import takewhile

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, PreformattedString, Tag

from pipeline.ingest.sources.front_matter import split_front_matter
from pipeline.ingest.sources.link_targets import document_target
from pipeline.ingest.sources.metadata import flat, scalar_title
from pipeline.ingest.sources.parsers.encodings import decoded_page
from pipeline.ingest.sources.parsers.flow import Flow
from pipeline.ingest.sources.source import Source, parser_errors
from pipeline.records import BlockKind, Document

_DROPPED = frozenset(
    "head script style nav noscript svg iframe object datalist audio video canvas noembed rp "
    "annotation annotation-xml".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu ol p pre search section summary "
    "table tbody td tfoot th thead tr ul".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TITLES = frozenset((*_HEADINGS, "dt", "legend", "summary", "th"))
"""Elements whose text may be that of a button, to open a section or sort by a column; other buttons are left out."""

_TYPED = frozenset("text search email url tel number date month week time datetime-local".split())
"""Fields that show their value."""

_LAYOUT_CONTENT = frozenset((*_HEADINGS, "table", "section", "article"))
_LIST_CONTENT = frozenset(("pre", "ul", "ol"))
_HEAD_CELLS = frozenset(("th", "thead", "caption"))
_DECLARATION = re.compile(r"\A\s*<\?xml[^<>]*>")
_STYLE = re.compile(r"(?:^|[;/])\s*(display|visibility)\s*:\s*([a-z-]+)", re.IGNORECASE)
_PERMALINKS = frozenset(("headerlink", "permalink", "hash-link", "anchorjs-link", "mw-editsection"))
"""Classes of links to a heading itself, by Sphinx, MkDocs, Docusaurus, AnchorJS and MediaWiki."""

_LINE_NUMBERS = frozenset(("linenos", "linenodiv"))
_MARKS = frozenset("¶#§🔗⚓∞↩↑^⇑⇧")
_SHORT = 16  # elements in which to look for the text of a mark; chosen by hand, not measured


def parse(source: Source) -> Document:
    """Return a web page as a document with the text of its blocks. Raises Unreadable."""
    front = split_front_matter(decoded_page(source.data))  # generators of pages read it there, too
    markup = front.text
    with parser_errors("HTML"):
        # html.parser takes minutes for some damaged pages, lxml doesn't; bs4 warns about an XML declaration, and about
        # a text so short that it could be a file's name
        soup = BeautifulSoup(_DECLARATION.sub("", markup, count=1) + "\n", "lxml")
        _open_frames(soup, markup)
        page = _Page(_layout_tables(soup), _base(soup))
        for element, entering in _walk(soup):
            page.take(element, entering)
        page.built.close(BlockKind.PARAGRAPH)
        title = _title(soup)
    fix = "Save the page as it looks once its scripts have run, or leave it out."
    given = scalar_title(front.mapping.pop("title", None))
    document = page.built.document(source, given or title, fix)
    return replace(document, metadata=flat(front.mapping), warnings=front.warnings) if front.lines else document


def _open_frames(soup: Tag, markup: str) -> None:
    """Put the pages that stand in attributes of frames in their places; the frames within these show no page."""
    for frame in soup.find_all("iframe", srcdoc=True) if "srcdoc" in markup else ():
        page = BeautifulSoup(f"{frame['srcdoc']}\n", "lxml").body
        frame.name = "div"
        frame.clear()
        frame.extend([*page.contents] if page else ())


def _title(soup: Tag) -> str:
    titles = (title for title in soup.find_all("title") if title.parent and title.parent.name != "svg")
    return next((" ".join(title.get_text().split()) for title in titles), "")


def _base(soup: Tag) -> str:
    """Return the address from which the links of a page count; empty: its own."""
    base = soup.find("base", href=True)
    return str(base["href"]).strip() if isinstance(base, Tag) else ""


def _walk(root: Tag) -> Iterator[tuple[PageElement, bool]]:
    """Yield each element below ``root`` that shows, in order, tags twice: (tag, True) before their content, then False.

    A tag with ``visibility: hidden`` is yielded, since a tag within may show nevertheless; its own text isn't.
    """
    # an explicit stack: pages may be nested deeper than Python's recursion limit
    pending: list[tuple[PageElement, bool, bool]] = [(child, True, True) for child in reversed(root.contents)]
    while pending:
        element, entering, visible = pending.pop()
        if not isinstance(element, Tag):
            if visible:
                yield element, True
        elif not entering:
            yield element, False
        elif not _is_dropped(element):
            within = _style(element).get("visibility", "visible" if visible else "hidden") == "visible"
            if within or element.name != "img":
                yield element, True
                pending.append((element, False, visible))
                pending.extend((child, True, within) for child in reversed(element.contents))


def _is_dropped(tag: Tag) -> bool:
    """Return whether a browser doesn't show a tag, or it is a menu, a control or a mark beside the text."""
    if tag.name in _DROPPED or _is_control(tag) or not tag.attrs:
        return tag.name in _DROPPED or _is_control(tag) or tag.name in ("template", "dialog")
    display = _style(tag).get("display", "")
    hidden = "hidden" in tag.attrs and str(tag["hidden"]).lower() != "until-found" and not display
    closed = tag.name == "dialog" and "open" not in tag.attrs and not display
    inert = tag.name == "template" and "shadowrootmode" not in tag.attrs
    return display == "none" or hidden or closed or inert or _is_mark(tag)


def _is_control(tag: Tag) -> bool:
    """Return whether a tag is a button beside the text, or a choice that isn't made."""
    if tag.name == "button":
        return not _is_in(tag, _TITLES)
    return tag.name == "option" and "selected" not in tag.attrs


def _is_in(tag: Tag, names: Container[str]) -> bool:
    """Return whether a tag stands in one of these, or in a tag in one of these."""
    above = (tag.parent, tag.parent and tag.parent.parent)
    return any(around is not None and around.name in names for around in above)


def _style(tag: Tag) -> dict[str, str]:
    """Return what a tag's own style says of ``display`` and ``visibility``, in small letters."""
    style = str(tag.attrs.get("style", "")) if tag.attrs else ""
    return {name.lower(): value.lower() for name, value in _STYLE.findall(style)}


def _is_mark(tag: Tag) -> bool:
    """Return whether a tag only points at the place where it stands, or is an ornament: ¶, #, an icon, line numbers."""
    classes = tag.get_attribute_list("class")
    if not _PERMALINKS.isdisjoint(classes) or not _LINE_NUMBERS.isdisjoint(classes):
        return True
    if tag.get("aria-hidden") == "true":
        # KaTeX writes a formula twice: as MathML, and in pieces that only show
        text = _short_text(tag)
        return "katex-html" in classes or (text is not None and not any(map(str.isalnum, text)))
    if tag.name != "a" or not str(tag.get("href", "")).startswith("#") or (text := _short_text(tag)) is None:
        return False
    return not any(map(str.isalnum, text)) if _is_in(tag, _HEADINGS) else bool(text) and _MARKS.issuperset(text)


def _short_text(tag: Tag) -> str | None:
    """Return the text in a tag without white space; None if it has too many elements to be a mark or a number."""
    pending, text = [*reversed(tag.contents[: _SHORT + 1])], ""
    for _ in range(_SHORT):
        if not pending:
            return "".join(text.split())
        element = pending.pop()
        if isinstance(element, Tag):
            pending.extend(reversed(element.contents[: _SHORT + 1]))
        elif isinstance(element, NavigableString) and not isinstance(element, PreformattedString):
            text += element[:_SHORT]
    return None


def _layout_tables(root: Tag) -> set[int]:
    """Return the ids of the tables that arrange other blocks, in one pass: each may hold thousands of others.

    A list in a cell is data if the table has heads or a caption.
    """
    found, headed, listed, around = set[int](), set[int](), set[int](), list[int]()
    for element, entering in _walk(root):
        if not isinstance(element, Tag) or not (entering or element.name == "table"):
            continue
        if not entering:
            around.pop()
            continue
        if element.name in _LAYOUT_CONTENT:
            # Those around one that was found are found, too.
            found.update(takewhile(lambda table: table not in found, reversed(around)))
        elif around and element.name in (_HEAD_CELLS | _LIST_CONTENT):
            (headed if element.name in _HEAD_CELLS else listed).add(around[-1])
        if element.name == "table":
            around.append(id(element))
            found.update(around[-1:] if element.get("role") in ("presentation", "none") else ())
    return found | (listed - headed)


def _value(field: Tag) -> str:
    """Return what a field shows as its value; empty for a box, a password, and what is no field."""
    shows = field.name == "input" and str(field.get("type", "text")).strip().lower() in _TYPED
    return str(field.get("value", "")) if shows else ""


class _Page:
    """Writes elements to a text. The content of a heading, ``pre`` or data table becomes a single block."""

    def __init__(self, layout_tables: Set[int], base: str) -> None:
        self.built = Flow()
        self._layout_tables = layout_tables
        self._base = base
        self._container: Tag | None = None
        self._anchors: list[int] = []
        self._cells = 0
        self._breaks = 0
        self._term = False
        self._script: Tag | None = None

    def take(self, element: PageElement, entering: bool) -> None:
        if isinstance(element, Tag):
            (self._enter if entering else self._leave)(element)
        elif isinstance(element, NavigableString) and not isinstance(element, PreformattedString):
            self._write(element)

    def _write(self, words: str) -> None:
        if self._is_verbatim():
            self.built.write_verbatim(words)
            return
        self.built.write(words)
        if not words.isspace():
            self._breaks, self._term = 0, False

    def _is_verbatim(self) -> bool:
        return self._container is not None and self._container.name == "pre"

    def _enter(self, tag: Tag) -> None:
        if self._container is not None:
            self._separate(tag)
        elif tag.name in _BLOCKS:
            self._begin(tag)
        if tag.name == "br":
            self._break()
        elif tag.name == "img":
            self._write(str(tag.get("alt", "")))
        elif tag.name in ("input", "option"):
            self._write(f" {_value(tag)}")
        elif tag.name == "a":
            self._anchors.append(self.built.offset)
        elif tag.name in ("sup", "sub") and self._script is None and not self._is_verbatim():
            # what is raised or lowered stays apart from its word
            is_script = self.built.begin_script(_short_text(tag) or "", raised=tag.name == "sup")
            self._script = tag if is_script else None

    def _begin(self, tag: Tag) -> None:
        """Begin a block, unless it goes on with the term that it defines."""
        joined = self._term or (tag.name == "dt" and tag.parent is not None and tag.parent.name == "dt")
        if joined and tag.name in ("dd", "dt", "p", "div"):
            if tag.name == "dd":
                self.built.write(": " if self.built.last.isalnum() or self.built.last in ")]»”\"'" else " ")
            elif tag.name == "dt":
                self.built.new_line()
            return
        self._close(BlockKind.PARAGRAPH)
        is_data = tag.name == "table" and id(tag) not in self._layout_tables
        if tag.name in _HEADINGS or tag.name == "pre" or is_data:
            self._container = tag

    def _close(self, kind: BlockKind, level: int = 0) -> None:
        self._term, self._breaks = False, 0
        self.built.close(kind, level)

    def _break(self) -> None:
        """End a line; the second time in a row the paragraph. A row of a table stays a line, and a heading too."""
        if self._container is not None:
            (self.built.write_verbatim if self._is_verbatim() else self.built.write)("\n")
            return
        self._breaks += 1
        if self._breaks > 1:
            self._close(BlockKind.PARAGRAPH)
        self.built.new_line()

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
            self.built.link(self._target(str(tag.get("href", "")).strip()), self._anchors.pop())
        if tag is self._script:
            self._script = None
            self.built.end_script()
        if tag.name in ("input", "option"):
            self.built.apart = True
        if tag is self._container:
            self._container = None
            kind = {"pre": BlockKind.CODE, "table": BlockKind.TABLE}.get(tag.name, BlockKind.HEADING)
            self._close(kind, _HEADINGS.get(tag.name, 0))
        elif self._container is None and tag.name == "dt" and self.built.last:
            self._term = True
        elif self._container is None and tag.name in _BLOCKS:
            self._close(BlockKind.PARAGRAPH)

    def _target(self, href: str) -> str | None:
        """Return the document that a link means, counted from the page's base, which may be on the web."""
        target = document_target(href)
        if not target or not self._base:
            return target
        base = document_target(self._base)
        return posixpath.join(posixpath.dirname(base), target) if base else None
