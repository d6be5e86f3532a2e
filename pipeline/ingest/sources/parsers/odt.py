"""ODT and ODP, of LibreOffice and others: headings, paragraphs, tables, links, boxes and notes; slides as sections.

The XML is walked here: odfpy and odfdo give texts without the places of headings, tables and links.
"""

import posixpath
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import ClassVar

from pipeline.files import Unreadable, well_formed
from pipeline.ingest.sources.link_targets import document_target
from pipeline.ingest.sources.parsers.archive import TITLE, Archive, Element, attribute, local_name, title_in
from pipeline.ingest.sources.parsers.flow import Flow
from pipeline.ingest.sources.source import Source, parser_errors
from pipeline.records import BlockKind, Document

_LEFT_OUT = frozenset(
    "tracked-changes annotation note-citation ruby-text page-thumbnail page-number date-time footer header "
    "sequence-decls variable-decls user-field-decls forms title".split()
)
"""Deleted text, comments, marks of notes, reading aids, what stands on every slide, and declarations."""

_CHARACTERS = {"s": " ", "tab": " ", "line-break": " "}


def parse(source: Source) -> Document:
    """Return a text or a presentation in OpenDocument as a document; tracked changes are accepted.

    Text boxes and notes follow the paragraph or table that they belong to. The title comes from the file's properties,
    else from the first heading of level 1, or a paragraph of style Title, which is one, else from the file's stem.
    Raises Unreadable.
    """
    with parser_errors("OpenDocument"):
        archive = Archive(source)
        manifest = "META-INF/manifest.xml"
        if manifest in archive.names and b"encryption-data" in archive.read(manifest):
            raise Unreadable("is encrypted", "Save it without a password, or leave it out.")
        content = archive.xml("content.xml")
        styles = [content, *(archive.xml(name) for name in ("styles.xml",) if name in archive.names)]
        text = _Text(archive, {attribute(style, "name"): style for part in styles for style in part.iter("{*}style")})
        for body in content.iterfind("{*}body"):
            text.blocks(body)
        text.built.close(BlockKind.PARAGRAPH)
        title = title_in(archive.xml("meta.xml"), f".//{TITLE}") if "meta.xml" in archive.names else ""
    return text.built.document(source, title, "Leave it out, or write something into it.")


class _Text:
    """Writes the elements of an OpenDocument file to a text."""

    def __init__(self, archive: Archive, styles: Mapping[str, Element]) -> None:
        self.built = Flow()
        self._archive = archive
        self._styles = styles
        self._title = False

    def blocks(self, parent: Element) -> None:
        """Write all blocks below an element."""
        for child in _shown(parent):
            self._BLOCKS.get(local_name(child), _Text.blocks)(self, child)

    def _paragraph(self, paragraph: Element) -> None:
        self.built.write(" " if self.built.in_table else "")
        self._words(paragraph)
        if not self.built.in_table:
            level = self._level(paragraph)
            self.built.close(BlockKind.HEADING if level else BlockKind.PARAGRAPH, level)

    def _level(self, paragraph: Element) -> int:
        if local_name(paragraph) == "h":
            stated = attribute(paragraph, "outline-level")
            return min(int(stated), 6) if stated.isdecimal() and int(stated) else 1
        return int(self._title or self._is_title(attribute(paragraph, "style-name")))

    def _is_title(self, name: str) -> bool:
        """Return whether a style is Title, or made from it for a single paragraph."""
        parent = attribute(self._styles.get(name), "parent-style-name")
        return "Title" in (name, parent)

    def _frame(self, frame: Element) -> None:
        """Write a frame on a slide, or the content of another."""
        self._title = attribute(frame, "class") == "title"
        self.blocks(frame)
        self._title = False

    def _table(self, table: Element) -> None:
        rows = [
            [partial(self.blocks, cell) for cell in _inside(row, "table-cell")] for row in _inside(table, "table-row")
        ]
        self.built.table([row for row in rows if row])

    def _words(self, parent: Element) -> None:
        """Write the words in an element, which stand before and after its children."""
        self.built.write(well_formed(parent.text or ""))
        for child in parent:
            name = local_name(child)
            if name and name not in _LEFT_OUT:
                self.built.write(_CHARACTERS.get(name, ""))
                self._WORDS.get(name, _Text._words)(self, child)
            self.built.write(well_formed(child.tail or ""))

    def _link(self, link: Element) -> None:
        start = self.built.offset
        self._words(link)
        # a file is a folder of its parts to its links: ../ leads to its neighbours
        self.built.link(document_target(attribute(link, "href").removeprefix("../")), start)

    def _span(self, span: Element) -> None:
        style = self._styles.get(attribute(span, "style-name"))
        shift = "" if style is None else attribute(style.find("{*}text-properties"), "text-position")
        if shift and not shift.startswith("0%"):
            raised = not shift.startswith(("sub", "-"))
            self.built.script("".join(span.itertext()), partial(self._words, span), raised=raised)
        else:
            self._words(span)

    def _formula(self, item: Element) -> None:
        """Write the words of a formula, which has a part of its own."""
        name = posixpath.normpath(attribute(item, "href")) + "/content.xml"
        if self._archive.claim(name) and local_name(root := self._archive.xml(name)) == "math":
            words = (leaf.text or "" for leaf in root.iter("{*}mi", "{*}mn", "{*}mo", "{*}mtext"))
            self.built.write(well_formed(" ".join(words)))

    def _description(self, description: Element) -> None:
        """Write the description of a picture after its paragraph."""
        self.built.hang(partial(self._words, description))

    def _later(self, box: Element) -> None:
        self.built.hang(partial(self.blocks, box))

    _BLOCKS: ClassVar[dict[str, Callable[["_Text", Element], None]]] = {
        "p": _paragraph,
        "h": _paragraph,
        "table": _table,
        "frame": _frame,
        "desc": _paragraph,
    }
    _WORDS: ClassVar[dict[str, Callable[["_Text", Element], None]]] = {
        "a": _link,
        "span": _span,
        "object": _formula,
        "desc": _description,
        "text-box": _later,
        "note-body": _later,
    }


def _shown(parent: Element) -> Iterator[Element]:
    return (child for child in parent if local_name(child) and local_name(child) not in _LEFT_OUT)


def _inside(parent: Element, wanted: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, also those in groups."""
    for child in _shown(parent):
        if local_name(child) == wanted:
            yield child
        else:
            yield from _inside(child, wanted)
