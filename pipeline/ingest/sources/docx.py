"""DOCX: headings (by style), paragraphs, tables and links."""

import io
import re
import zipfile
from itertools import groupby

import docx
from docx.table import Table
from docx.text.hyperlink import Hyperlink
from docx.text.paragraph import Paragraph

from pipeline.files import Unreadable, well_formed
from pipeline.files.limits import MEGABYTE
from pipeline.ingest.sources.link_targets import document_target
from pipeline.ingest.sources.source import Source, TextBuilder, parser_errors
from pipeline.records import BlockKind, Document

_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)


def parse(source: Source) -> Document:
    """Return a DOCX file as a document with the text of the body's blocks.

    The title comes from the file's properties, else from a paragraph of style Title, which is a heading of level 1 as
    well, else from the first heading of level 1, else from the file's stem. Raises Unreadable.
    """
    with parser_errors("DOCX"):
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > source.limits.bytes_unpacked:
            fix = "Split it, or raise sources.max_unpacked_megabytes."
            raise Unreadable(f"unpacks to {size / MEGABYTE:,.0f} MB", fix)
        word = docx.Document(io.BytesIO(source.data))
        built = TextBuilder()
        levels = {style.style_id: _level(style.name or "") for style in word.styles}
        for item in word.iter_inner_content():
            if isinstance(item, Table):
                _write_table(built, item)
                continue
            _write_paragraph(built, item)
            # the public way to a paragraph's style searches all styles each time: a millisecond per paragraph
            level = levels.get(item._p.style or "", 0)
            built.close(BlockKind.HEADING if level else BlockKind.PARAGRAPH, level)
        title = well_formed(" ".join((word.core_properties.title or "").split()))
    return built.document(source, title, "Leave it out, or write something into it.")


def _level(style: str) -> int:
    """Return a style's heading level, 0 if it isn't a heading; style names are English in files of any language."""
    match = _HEADING.fullmatch(style)
    return min(int(match[1]), 6) if match else int(style == "Title")


def _write_paragraph(built: TextBuilder, paragraph: Paragraph) -> None:
    for item in paragraph.iter_inner_content():
        start = built.offset
        built.write(well_formed(item.text))
        target = document_target(item.address) if isinstance(item, Hyperlink) else None
        if target:
            built.link(target, start)


def _write_table(built: TextBuilder, table: Table) -> None:
    """Write each row on a line; write merged cells once."""
    for row in table.rows:
        built.new_line()
        for column, (_, merged) in enumerate(groupby(row.cells, key=lambda cell: cell._tc)):
            built.write(" | " if column else "")
            for number, paragraph in enumerate(next(merged).paragraphs):
                built.write(" " if number else "")
                _write_paragraph(built, paragraph)
    built.close(BlockKind.TABLE)
