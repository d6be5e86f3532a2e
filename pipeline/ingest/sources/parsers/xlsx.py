"""Workbooks of Excel and LibreOffice: the visible sheets, a line for each row, each cell behind its column's name."""

import datetime
import io
from collections.abc import Iterable, Iterator
from dataclasses import replace

import python_calamine as calamine

from pipeline.files import Unreadable, well_formed
from pipeline.ingest.sources.parsers.archive import OLE, Archive, attribute
from pipeline.ingest.sources.parsers.rows import write_rows
from pipeline.ingest.sources.source import Source, TextBuilder, parser_errors
from pipeline.records import BlockKind, Document

_EXACT = 1e15
"""The digits of numbers that a cell shows."""


def parse(source: Source) -> Document:
    """Return a workbook as a document: a section for each visible sheet, with the values that its formulas had.

    The texts of boxes and the titles of charts follow the rows of their sheet.

    The title comes from the file's properties, else from the file's stem. Raises Unreadable.
    """
    with parser_errors("workbook"):
        archive = None if source.data.startswith(OLE) else Archive(source)
        try:
            workbook = calamine.load_workbook(io.BytesIO(source.data))
        except calamine.PasswordError:
            raise Unreadable("is encrypted", "Save it without a password, or leave it out.") from None
        drawings = _drawings(archive) if archive else {}
        built = TextBuilder()
        hidden = [
            sheet.name for sheet in workbook.sheets_metadata if sheet.visible != calamine.SheetVisibleEnum.Visible
        ]
        for name in workbook.sheet_names:
            rows = _rows(workbook.get_sheet_by_name(name)) if name not in hidden else []
            texts = list(_texts(archive, drawings.get(name, ()))) if archive and name not in hidden else []
            if rows or texts:
                built.write(well_formed(name))
                built.close(BlockKind.HEADING, 2)
                write_rows(built, rows)
            for text in texts:
                built.write(text)
                built.close(BlockKind.PARAGRAPH)
        title = archive.title() if archive else ""
    warnings = tuple(f"has the hidden sheet {name}, which isn't read" for name in hidden)
    document = built.document(source, title or source.stem, "Leave it out, or write something into it.")
    return replace(document, warnings=warnings)


def _drawings(archive: Archive) -> dict[str, list[str]]:
    """Return the parts with the drawings on each sheet, by its name, of workbooks in Open XML."""
    main = next((item.target for item in archive.relations("").values() if item.kind == "officeDocument"), "")
    if not main.endswith(".xml") or main not in archive.names:
        return {}
    parts = {id_: item.target for id_, item in archive.relations(main).items()}
    sheets = archive.xml(main).iterfind("{*}sheets/{*}sheet")
    return {
        attribute(sheet, "name"): [
            item.target
            for item in archive.relations(parts.get(attribute(sheet, "id"), "")).values()
            if item.kind == "drawing"
        ]
        for sheet in sheets
    }


def _texts(archive: Archive, drawings: Iterable[str]) -> Iterator[str]:
    """Yield the texts of boxes on a sheet, and the titles of charts, whose figures stand in cells."""
    for part in filter(archive.claim, drawings):
        charts = [item.target for item in archive.relations(part).values() if item.kind == "chart"]
        for name in (part, *filter(archive.claim, charts)):
            for paragraph in archive.xml(name).iter("{*}p"):
                yield well_formed("".join(run.text or "" for run in paragraph.iter("{*}t")))


def _rows(sheet: calamine.CalamineSheet) -> list[list[str]]:
    """Return the cells of a sheet as texts; the value of a cell over several rows stands in each of them."""
    rows = [[_text(cell) for cell in row] for row in sheet.to_python(skip_empty_area=True)]
    top, left = sheet.start or (0, 0)
    for (first, column), (last, _) in sheet.merged_cell_ranges or ():
        for row in rows[first - top + 1 : last - top + 1]:
            row[column - left] = rows[first - top][column - left]
    return rows


def _text(value: object) -> str:
    """Return a value as a cell shows it, as far as that is known without the cell's format."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _EXACT else f"{value:.15g}"
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ") if value.time() != datetime.time() else value.date().isoformat()
    return well_formed(str(value))
