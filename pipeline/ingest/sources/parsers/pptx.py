"""PPTX: a section for each slide with its title, texts, tables, diagrams, figures of charts, links and notes.

The XML is walked here: python-pptx passes over alternatives, diagrams and strict Open XML.
"""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from pipeline.files import well_formed
from pipeline.ingest.sources.link_targets import document_target
from pipeline.ingest.sources.parsers.archive import (
    Archive,
    Element,
    Relations,
    attribute,
    description_of,
    local_name,
    series_of,
    shown,
)
from pipeline.ingest.sources.parsers.flow import Flow
from pipeline.ingest.sources.source import Source, parser_errors
from pipeline.records import BlockKind, Document

_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_TITLES = frozenset({"title", "ctrTitle"})
_RUNNING = frozenset({"sldNum", "dt", "ftr", "hdr"})
"""Placeholders of what stands on every slide: number, date, foot and head."""

_UNTITLED = "PowerPoint"
"""How the title begins that PowerPoint gives to all files, in any language."""


def parse(source: Source) -> Document:
    """Return a presentation as a document with the texts of its slides in order, hidden ones too.

    The title comes from the file's properties, else from the first slide with a title, else from the file's stem.
    Raises Unreadable.
    """
    with parser_errors("PPTX"):
        archive = Archive(source)
        main = archive.main()
        relations = archive.relations(main)
        listed = (relations[slide.get(_ID)] for slide in archive.xml(main).iterfind("{*}sldIdLst/{*}sldId"))
        built = Flow()
        # a hostile file may list a slide a million times
        for part in dict.fromkeys(slide.target for slide in listed):
            _Slide(archive, part, built).write()
        title = archive.title()
    fix = "Leave it out, or write something onto a slide."
    return built.document(source, "" if title.startswith(_UNTITLED) else title, fix)


class _Slide:
    """Writes a slide to a text."""

    def __init__(self, archive: Archive, part: str, built: Flow) -> None:
        self._archive = archive
        self._part = part
        self._built = built
        self._relations: Relations = archive.relations(part)
        self._level = 1

    def write(self) -> None:
        """Write the title, all other shapes in the order of the file, and the notes."""
        shapes = list(self._archive.xml(self._part).iterfind("{*}cSld/{*}spTree"))
        for shape in (shape for tree in shapes for shape in tree.iter("{*}sp") if _placeholder(shape) in _TITLES):
            self._title(shape)
        for tree in shapes:
            self._shapes(tree)
        for notes in [item.target for item in self._relations.values() if item.kind == "notesSlide"]:
            self._relations = self._archive.relations(notes)
            for shape in self._archive.xml(notes).iter("{*}sp") if self._archive.claim(notes) else ():
                if _placeholder(shape) == "body":
                    self._shapes(shape)

    def _title(self, shape: Element) -> None:
        for paragraph in shape.iter("{*}p"):
            self._built.write(" ")
            self._words(paragraph)
        self._built.close(BlockKind.HEADING, self._level)
        self._level = 0 if self._built.blocks else self._level

    def _close(self, kind: BlockKind) -> None:
        """End a block; the first one of a slide without a title begins a section, too."""
        before = len(self._built.blocks)
        self._built.close(kind, self._level)
        if len(self._built.blocks) > before:
            self._level = 0

    def _shapes(self, parent: Element) -> None:
        for child in shown(parent):
            self._WRITERS.get(local_name(child), _Slide._shapes)(self, child)

    def _shape(self, shape: Element) -> None:
        if _placeholder(shape) not in _TITLES | _RUNNING:
            self._shapes(shape)

    def _paragraph(self, paragraph: Element) -> None:
        self._words(paragraph)
        self._close(BlockKind.PARAGRAPH)

    def _table(self, table: Element) -> None:
        for row in table.iterfind("{*}tr"):
            self._built.new_line()
            for column, cell in enumerate(row.iterfind("{*}tc")):
                self._built.write(" | " if column else "")
                for paragraph in cell.iter("{*}p"):
                    self._built.write(" ")
                    self._words(paragraph)
        self._close(BlockKind.TABLE)

    def _words(self, paragraph: Element) -> None:
        for run in shown(paragraph):
            if attribute(run, "type").startswith(("slidenum", "datetime")):
                continue
            start = self._built.offset
            pieces = run.iter("{*}t", "{*}br")
            text = well_formed("".join(" " if local_name(piece) == "br" else piece.text or "" for piece in pieces))
            shift = attribute(run.find("{*}rPr"), "baseline") or "0"
            if shift == "0":
                self._built.write(text)
            else:
                self._built.script(text, partial(self._built.write, text), raised=not shift.startswith("-"))
            link = run.find("{*}rPr/{*}hlinkClick")
            relation = self._relations.get(attribute(link, "id"))
            if relation and relation.kind == "hyperlink":
                self._built.link(document_target(relation.target), start)

    def _root(self, id_: str) -> Element | None:
        relation = self._relations.get(id_)
        is_new = relation is not None and self._archive.claim(relation.target)
        return self._archive.xml(relation.target) if relation and is_new else None

    def _diagram(self, ids: Element) -> None:
        """Write the texts of a diagram, which has a part of its own."""
        root = self._root(attribute(ids, "dm"))
        for paragraph in () if root is None else root.iter("{*}p"):
            self._paragraph(paragraph)

    def _chart(self, chart: Element) -> None:
        """Write the titles of a chart and its axes, and a line for each series."""
        root = self._root(attribute(chart, "id"))
        if root is None:
            return
        for paragraph in root.iterfind(".//{*}title//{*}p"):
            self._paragraph(paragraph)
        self._built.lines(series_of(root))
        self._close(BlockKind.TABLE)

    def _picture(self, properties: Element) -> None:
        if words := description_of(properties):
            self._built.write(words)
            self._close(BlockKind.PARAGRAPH)

    _WRITERS: ClassVar[dict[str, Callable[["_Slide", Element], None]]] = {
        "sp": _shape,
        "p": _paragraph,
        "tbl": _table,
        "relIds": _diagram,
        "chart": _chart,
        "cNvPr": _picture,
    }


def _placeholder(shape: Element) -> str:
    """Return the type of the placeholder that a shape is, empty if it is none."""
    return attribute(next(shape.iterfind("{*}nvSpPr/{*}nvPr/{*}ph"), None), "type")
