"""DOCX: headings (by style), paragraphs, tables, links, text boxes and notes, as Word shows them with changes accepted.

The XML is walked here, since libraries lose text: of 35 ways in which Word wraps, tracks and marks it, python-docx 1.2
loses or mistakes 25, pandoc 3.9 15, mammoth 1.13 and docx2python 3.7 9 each.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from email import message_from_bytes, policy
from functools import partial
from typing import ClassVar

from pipeline.files import Unreadable, well_formed
from pipeline.ingest.sources.link_targets import document_target
from pipeline.ingest.sources.parsers import html
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
from pipeline.ingest.sources.parsers.flow import Flow, Write
from pipeline.ingest.sources.source import Source, parser_errors
from pipeline.records import BlockKind, Document

_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|otsikko|nagłówek|nadpis|címsor|başlık|заголовок"
    r"|标题|標題|見出し|제목)\s?([1-9])",
    re.IGNORECASE,
)
"""Names of headings' styles. Word writes them in English in files of any language, other programs may not."""

_LEFT_OUT = frozenset("del moveFrom pPr rPr tblPr tblGrid trPr tcPr sdtPr sdtEndPr sectPr rt".split())
"""Elements of what is deleted or moved away, properties, and the reading aids above words."""

_CHARACTERS = {"tab": " ", "ptab": " ", "br": " ", "cr": " ", "noBreakHyphen": "-"}

_LETTERS = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_¯αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SIGNS = "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇"
_SYMBOL = {**dict(enumerate(_LETTERS, 0x41)), **dict(enumerate(_SIGNS, 0xA1))}
"""The characters of the font Symbol."""

_PRIVATE = 0xE000
_FONT_CODES = 0xF000
"""The number that Word adds to the codes of a font of symbols: they lie in the area for private use."""

_CODE = re.compile("[0-9A-Fa-f]{1,4}")

_LINK = re.compile(r'\s*HYPERLINK\s+"([^"]+)"')

_LONGEST_CODE = 2_000
"""Characters of a field's code that are read: those of the longest addresses that browsers take."""

_LONGEST_LABEL = 100
"""Most characters of a cell over several rows that is written in each of them. Chosen by hand; not measured."""


@dataclass(frozen=True, slots=True)
class _Field:
    """An open field: its code, where its result begins, and whether its code goes on, or that of one around it."""

    code: str = ""
    start: int = 0
    is_hidden: bool = True


def parse(source: Source) -> Document:
    """Return a DOCX file as a document with the text of the body's blocks.

    Text boxes, footnotes and endnotes follow the paragraph or table that they belong to. Left out are comments, hidden
    text, and the heads and feet of pages. The title comes from the file's properties, else from a paragraph of style
    Title, which is a heading of level 1 as well, else from the first heading of level 1, else from the file's stem.
    Raises Unreadable.
    """
    with parser_errors("DOCX"):
        archive = Archive(source)
        word = _Word(archive)
        word.blocks(archive.xml(archive.main()))
        title = archive.title()
    return word.built.document(source, title, "Leave it out, or write something into it.")


class _Word:
    """Writes the elements of a Word file to a text."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.built = Flow()
        self._relations = archive.relations(archive.main())
        parts = {item.kind: item.target for item in self._relations.values() if item.target in archive.names}
        self._levels = _levels(archive.xml(parts["styles"])) if "styles" in parts else {}
        self._notes = {
            (kind, attribute(note, "id")): (note, archive.relations(parts[f"{kind}s"]))
            for kind in ("footnote", "endnote")
            for note in (archive.xml(parts[f"{kind}s"]) if f"{kind}s" in parts else ())
        }
        self._fields: list[_Field] = []

    def blocks(self, parent: Element) -> None:
        """Write all blocks below an element."""
        for child in _shown(parent):
            name = local_name(child)
            if name == "p":
                self._paragraph(child)
            elif name == "tbl":
                self._table(child)
            elif name == "altChunk":
                self._page(child)
            else:
                self.blocks(child)

    def _paragraph(self, paragraph: Element) -> None:
        properties = paragraph.find("{*}pPr")
        self.built.write(" " if self.built.in_table else "")
        # for all a field in a broken file may never end, it costs no other paragraph
        self._fields.clear()
        self._words(paragraph)
        # without its mark, a paragraph goes on in the next
        if not self.built.in_table and (
            properties is None or not _is_marked(properties.find("{*}rPr"), "del", "moveFrom")
        ):
            level = self._level(properties)
            self.built.close(BlockKind.HEADING if level else BlockKind.PARAGRAPH, level)

    def _level(self, properties: Element | None) -> int:
        """Return the level of the heading that a paragraph is, by its own or its style's; 0 if it is none."""
        if properties is None:
            return 0
        own = attribute(properties.find("{*}outlineLvl"), "val")
        return _outline_level(own) if own else self._levels.get(attribute(properties.find("{*}pStyle"), "val"), 0)

    def _page(self, chunk: Element) -> None:
        """Write the blocks of a page of HTML or MHTML in the file: so programs on the web make Word files."""
        relation = self._relations.get(attribute(chunk, "id"))
        if self.built.in_table or not relation or not self._archive.claim(relation.target):
            return
        data = self._archive.read(relation.target)
        if relation.target.lower().endswith((".mht", ".mhtml")):
            body = message_from_bytes(data, policy=policy.default).get_body(("html",))
            data = body.get_content().encode() if body else b""
        self.built.close(BlockKind.PARAGRAPH)
        with suppress(Unreadable):
            page = html.parse(Source("", "", data))
            for block in page.blocks:
                self.built.write_verbatim(page.text[block.start : block.end])
                self.built.close(block.kind, block.level)

    def _table(self, table: Element) -> None:
        labels: dict[int, str] = {}
        self.built.table([list(self._cells(row, labels)) for row in _inside(table, "tr")])

    def _cells(self, row: Element, labels: dict[int, str]) -> Iterator[Write]:
        """Yield the cells of a row; a short cell over several rows is in each of them, so that each is whole."""
        column = 0
        for cell in _inside(row, "tc"):
            properties = cell.find("{*}tcPr")
            merged = None if properties is None else properties.find("{*}vMerge")
            if merged is not None and attribute(merged, "val") != "restart":
                yield partial(self.built.write, labels.get(column, ""))
            else:
                labels[column] = _label(cell) if merged is not None else ""
                yield partial(self.blocks, cell)
            span = "" if properties is None else attribute(properties.find("{*}gridSpan"), "val")
            column += int(span) if span.isdecimal() else 1

    def _words(self, parent: Element) -> None:
        """Write the words below an element."""
        for child in _shown(parent):
            name = local_name(child)
            self.built.write(_CHARACTERS.get(name, ""))
            self._WRITERS.get(name, _Word._words)(self, child)

    def _text(self, text: Element) -> None:
        if not self._fields or not self._fields[-1].is_hidden:
            self.built.write(well_formed(text.text or ""))

    def _field(self, mark: Element) -> None:
        """Begin a field, its result or the text after it; its code isn't shown, nor are the results of fields in it."""
        kind = attribute(mark, "fldCharType")
        if kind == "begin":
            self.built.write(_choice(mark))
            self._fields.append(_Field())
        elif self._fields:
            field = self._fields.pop()
            if kind == "separate":
                hidden = bool(self._fields) and self._fields[-1].is_hidden
                self._fields.append(_Field(field.code, self.built.offset, is_hidden=hidden))
            elif field.code and not field.is_hidden:
                self._link_field(field.code, field.start)

    def _code(self, code: Element) -> None:
        if self._fields:
            field = self._fields[-1]
            self._fields[-1] = replace(field, code=f"{field.code}{code.text or ''}"[:_LONGEST_CODE])

    def _simple_field(self, field: Element) -> None:
        start = self.built.offset
        self._words(field)
        self._link_field(attribute(field, "instr"), start)

    def _link_field(self, code: str, start: int) -> None:
        link = _LINK.match(code)
        self.built.link(document_target(link[1].replace("\\\\", "/")) if link else None, start)

    def _run(self, run: Element) -> None:
        properties = run.find("{*}rPr")
        if _is_marked(properties, "vanish"):
            return
        shift = "" if properties is None else attribute(properties.find("{*}vertAlign"), "val")
        if shift in ("superscript", "subscript"):
            text = "".join(part.text or "" for part in run.iterfind("{*}t"))
            self.built.script(text, partial(self._words, run), raised=shift == "superscript")
        else:
            self._words(run)

    def _symbol(self, symbol: Element) -> None:
        char = attribute(symbol, "char")
        code = int(char, 16) if _CODE.fullmatch(char) else _PRIVATE
        if attribute(symbol, "font") == "Symbol":
            self.built.write(_SYMBOL.get(code % _FONT_CODES, ""))
        elif code < _PRIVATE:
            self.built.write(well_formed(chr(code)))

    def _picture(self, properties: Element) -> None:
        """Write the description of a picture after its paragraph."""
        if words := description_of(properties):
            self.built.hang(partial(self.built.write, words))

    def _hyperlink(self, hyperlink: Element) -> None:
        start = self.built.offset
        self._words(hyperlink)
        relation = self._relations.get(attribute(hyperlink, "id"))
        self.built.link(document_target(relation.target) if relation else None, start)

    def _drawn(self, drawing: Element) -> None:
        """Write the texts of a diagram or a chart, which has a part of its own, after its paragraph."""
        relation = self._relations.get(attribute(drawing, "dm") or attribute(drawing, "id"))
        if relation and self._archive.claim(relation.target):
            self.built.hang(partial(self._drawing, self._archive.xml(relation.target)))

    def _drawing(self, root: Element) -> None:
        for paragraph in root.iterfind(".//{*}title//{*}p" if local_name(root) == "chartSpace" else ".//{*}p"):
            self._words(paragraph)
            self.built.close(BlockKind.PARAGRAPH)
        self.built.lines(series_of(root))
        self.built.close(BlockKind.TABLE)

    def _box(self, box: Element) -> None:
        self.built.hang(partial(self._apart, box, self._relations))

    def _note(self, reference: Element) -> None:
        """Write a note later, and once: a hostile one may refer to itself."""
        kind = local_name(reference).removesuffix("Reference")
        note = self._notes.pop((kind, attribute(reference, "id")), None)
        if note is not None:
            self.built.hang(partial(self._apart, *note))

    def _apart(self, element: Element, relations: Relations) -> None:
        """Write the blocks of an element whose part has these relations."""
        around, self._relations = self._relations, relations
        self.blocks(element)
        self._relations = around

    _WRITERS: ClassVar[dict[str, Callable[["_Word", Element], None]]] = {
        "t": _text,
        "r": _run,
        "fldChar": _field,
        "instrText": _code,
        "fldSimple": _simple_field,
        "sym": _symbol,
        "hyperlink": _hyperlink,
        "docPr": _picture,
        "relIds": _drawn,
        "chart": _drawn,
        "txbxContent": _box,
        "footnoteReference": _note,
        "endnoteReference": _note,
    }


def _shown(parent: Element) -> Iterator[Element]:
    return (child for child in shown(parent) if local_name(child) not in _LEFT_OUT)


def _inside(parent: Element, wanted: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, also those in content controls, without the deleted ones."""
    for child in _shown(parent):
        if local_name(child) != wanted:
            yield from _inside(child, wanted)
        elif not _is_marked(child.find("{*}trPr" if wanted == "tr" else "{*}tcPr"), "del", "cellDel"):
            yield child


def _is_marked(properties: Element | None, *names: str) -> bool:
    """Return whether properties have one of these, and not as false."""
    if properties is None:
        return False
    marks = (properties.find(f"{{*}}{name}") for name in names)
    return any(mark is not None and attribute(mark, "val") not in ("0", "false", "off") for mark in marks)


def _choice(field: Element) -> str:
    """Return what is chosen in a form field without a result, a list or a box; empty for other fields."""
    for box in field.iterfind("{*}ffData/{*}checkBox"):
        decided = "default" if box.find("{*}checked") is None else "checked"
        return "[x]" if _is_marked(box, decided) else "[ ]"
    for choices in field.iterfind("{*}ffData/{*}ddList"):
        place = attribute(choices.find("{*}result"), "val")
        entries = [attribute(entry, "val") for entry in choices.iterfind("{*}listEntry")]
        return well_formed("".join(entries[int(place) if place.isdecimal() else 0 :][:1]))
    return ""


def _label(cell: Element) -> str:
    words = " ".join("".join(part.text or "" for part in cell.iter("{*}t")).split())
    return well_formed(words) if len(words) <= _LONGEST_LABEL else ""


def _levels(styles: Element) -> dict[str, int]:
    """Return the heading level of each style that is one for headings, by id; a style has its base's."""
    by_id = {attribute(style, "styleId"): style for style in styles.iter("{*}style")}
    own = {id_: _own_level(style) for id_, style in by_id.items()}
    bases = {id_: attribute(style.find("{*}basedOn"), "val") for id_, style in by_id.items()}
    found: dict[str, int] = {}
    for id_ in by_id:
        chain = {id_: None}
        # a hostile style may be its own base
        while (level := found.get(id_, own.get(id_, 0))) is None and (id_ := bases[id_]) not in chain:
            chain[id_] = None
        found.update(dict.fromkeys(chain, level or 0))
    return found


def _own_level(style: Element) -> int | None:
    """Return the level that a style states, 0 if it states that it is no heading, None if it leaves that to its base.

    A paragraph of style Title is a heading of level 1.
    """
    name = attribute(style.find("{*}name"), "val")
    if name.lower() == "title":
        return 1
    if match := _HEADING.fullmatch(name):
        return min(int(match[1]), 6)
    stated = attribute(style.find("{*}pPr/{*}outlineLvl"), "val")
    return _outline_level(stated) if stated else None


def _outline_level(stated: str) -> int:
    """Return the heading level of an outline level, which counts from 0; 9 is that of body text."""
    return min(int(stated) + 1, 6) if stated in "012345678" else 0
