"""Hostile and damaged files, ten of each format whose parser is a library's: bombs, loops, and what nests too deep."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import docx
import pyarrow as pa
import pyarrow.parquet as pq

Files = dict[str, Callable[[], bytes]]


def pdf_of(*objects: bytes, root: int = 1) -> bytes:
    """Return a PDF of these objects, numbered from 1, with a correct table of their offsets."""
    data, offsets = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, root, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + trailer


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


CATALOG, PAGES = b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
FONT = b"/Resources << /Font << /F1 5 0 R >> >>"


def page(entries: bytes = b"") -> bytes:
    return b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R %s >>" % entries


def unpacking_pdf() -> bytes:
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(b"(a) Tj " * 1_000_000) for _ in range(60)) + packer.flush()
    return pdf_of(CATALOG, PAGES, page(), stream(packed, b"/Filter /FlateDecode"))


def wide_character_map() -> bytes:
    ranges = b"1 beginbfrange\n<00000000> <ffffffff> <0041>\nendbfrange\n"
    font = b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 6 0 R >>"
    return pdf_of(CATALOG, PAGES, page(FONT), stream(b"BT /F1 9 Tf (a) Tj ET"), font, stream(ranges))


PDFS: Files = {
    "unpacks to half a gigabyte": unpacking_pdf,
    "pages that hold themselves": lambda: pdf_of(CATALOG, b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"),
    "a page a million times": lambda: pdf_of(
        CATALOG, b"<< /Type /Pages /Count 1000000 /Kids [" + b"3 0 R " * 1_000_000 + b"] >>", page(), stream(b"")
    ),
    "a form that draws itself": lambda: pdf_of(
        CATALOG,
        PAGES,
        page(b"/Resources << /XObject << /X 5 0 R >> >>"),
        stream(b"/X Do"),
        stream(b"/X Do", b"/Type /XObject /Subtype /Form /Resources << /XObject << /X 5 0 R >> >>"),
    ),
    "arrays a million deep": lambda: pdf_of(CATALOG, PAGES, page(), stream(b"[" * 1_000_000)),
    "objects that nest in the catalogue": lambda: pdf_of(b"<< /Type /Catalog /Pages " + b"[" * 200_000),
    "tables that name each other": lambda: pdf_of(CATALOG, PAGES, page(), stream(b"")).replace(
        b"/Root", b"/Prev 9 /Root"
    ),
    "a map of four billion characters": wide_character_map,
    "a length beyond the file": lambda: pdf_of(
        CATALOG, PAGES, page(), b"<< /Length 99999999999999999999 >>\nstream\nx\nendstream"
    ),
    "nothing but a beginning": lambda: b"%PDF-1.7\n" + b"\0\xff(" * 100_000,
}


def word(body: str, *, extra: str = "", before: str = "") -> bytes:
    """Return a DOCX whose body is this XML."""
    whole = io.BytesIO()
    document = docx.Document()
    document.add_paragraph("kept")
    document.save(whole)
    made = io.BytesIO()
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.namelist():
            content = old.read(entry)
            if entry == "word/document.xml":
                text = content.decode().replace("<w:body>", f"<w:body>{body}", 1)
                content = text.replace("<w:document", f"{before}<w:document", 1).encode()
            new.writestr(entry, content)
        if extra:
            new.writestr(extra, "x")
    return made.getvalue()


@cache
def unpacking_word() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("word/document.xml", "w") as part:
        for _ in range(600):
            part.write(b"\0" * 1_000_000)
    return packed.getvalue()


def lying_word() -> bytes:
    """A part that says it unpacks to a byte."""
    data = bytearray(unpacking_word())
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = (1).to_bytes(4, "little")
    return bytes(data)


LAUGHS = "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10 if level else "ha"}">' for level in range(12))
PARAGRAPH = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
CELL = '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="{}"/></w:tcPr>' + PARAGRAPH.format("x") + "</w:tc></w:tr></w:tbl>"

WORDS: Files = {
    "unpacks to 600 megabytes": unpacking_word,
    "a part that lies about its size": lying_word,
    "entities that multiply": lambda: word(PARAGRAPH.format("&l11;"), before=f"<!DOCTYPE x [{LAUGHS}]>"),
    "an entity that reads a file": lambda: word(
        PARAGRAPH.format("&secret;"), before='<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>'
    ),
    "a cell a billion columns wide": lambda: word(CELL.format(1_000_000_000)),
    "tables in tables": lambda: word("<w:tbl><w:tr><w:tc>" * 50_000 + "</w:tc></w:tr></w:tbl>" * 50_000),
    "a million empty runs": lambda: word("<w:p>" + "<w:r/>" * 1_000_000 + "</w:p>"),
    "a part outside the archive": lambda: word("", extra="../../../tmp/hostile"),
    "no document": lambda: word("").replace(b"word/document.xml", b"word/dokument.xml"),
    "cut off": lambda: word("")[:900],
}

HTMLS: Files = {
    "a million elements deep": lambda: b"<div>" * 1_000_000 + b"text",
    "tables in tables": lambda: b"<table><tr><td>" * 20_000 + b"text",
    "a million unclosed tags": lambda: b"<a href=x " * 1_000_000 + b"<p>text",
    "formatting that is never closed": lambda: b"<b><i><font>" * 100_000 + b"<p>text</p>" * 1_000,
    "an attribute of ten megabytes": lambda: b'<p title="' + b"a" * 10_000_000 + b'">text</p>',
    "a million attributes": lambda: b"<p " + b" ".join(b"a%d=1" % number for number in range(1_000_000)) + b">text</p>",
    "entities that multiply": lambda: f"<!DOCTYPE x [{LAUGHS}]><p>&l11; text</p>".encode(),
    "characters that are none": lambda: b"<p>" + b"&#x110000;&#xD800;&#0;\0" * 100_000 + b"text</p>",
    "a comment that never ends": lambda: b"<p>text</p><!--" + b"-" * 5_000_000,
    "an encoding that is none": lambda: b'<meta charset="no-such-encoding"><p>\xff\xfe\xfa text \x80</p>' * 1_000,
}

NOTHING: Mapping[str, str] = MappingProxyType({})
ONE_SHEET: Mapping[str, str] = MappingProxyType({"Fees": "visible"})
KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def relations(*kinds_and_targets: tuple[str, str]) -> str:
    """Return a part of relations r1, r2 and so on; a link to a Word file is external."""
    listed = "".join(
        f'<Relationship Id="r{at}" Type="{KINDS}/{kind}" Target="{target}"'
        f' TargetMode="{"External" if target.endswith(".docx") else "Internal"}"/>'
        for at, (kind, target) in enumerate(kinds_and_targets, 1)
    )
    namespace = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{namespace}">{listed}</Relationships>'


def csvs(size: int) -> Files:
    """Return hostile CSV of a few times so many bytes: what has a text is embedded, which takes its time."""
    columns = size // 100
    return {
        "a cell that never ends": lambda: b'a,b\n"' + b"x,\n" * size,
        "columns without an end": lambda: b"a," * size + b"\n" + b"1," * size,
        "rows without an end": lambda: b"name,fee\n" + b"x,1\n" * size,
        "a name without an end": lambda: b"a" * 10 * size + b",b\n" + b"1,2\n" * (size // 10),
        "long names of many columns": lambda: (
            b",".join(b"a%098d" % at for at in range(columns)) + (b"\n" + b"1," * columns) * (columns // 100)
        ),
        "nothing but quotes": lambda: b'"' * 5 * size,
        "nothing but separators": lambda: b",;\t|" * size,
        "nothing but ends of lines": lambda: b"\r\n\r" * size,
        "tables of one row": lambda: b"a,b\n\n" * (size // 3),
        "rows that grow": lambda: b"\n".join(b"x," * at for at in range(int(2 * size**0.5))),
    }


CSVS = csvs(1_000_000)


def workbook(
    rows: str,
    *,
    before: str = "",
    strings: str = "",
    part: str = "xl/worksheets/sheet1.xml",
    sheets: Mapping[str, str] = ONE_SHEET,
) -> bytes:
    """Return an XLSX whose sheets, named with their states, all have these rows."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    named = "".join(
        f'<sheet name="{name}" sheetId="{at}" state="{state}" r:id="r1" xmlns:r="{KINDS}"/>'
        for at, (name, state) in enumerate(sheets.items(), 1)
    )
    parts = {
        "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f"<workbook {main}><sheets>{named}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            ("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml")
        ),
        "xl/sharedStrings.xml": f"<sst {main}>{strings}</sst>",
        part: f"{before}<worksheet {main}><sheetData>{rows}</sheetData></worksheet>",
    }
    return zipped(parts)


def far(*cells: str) -> str:
    return "".join(f'<row r="{cell.lstrip("ABCDEFX")}"><c r="{cell}"><v>1</v></c></row>' for cell in cells)


WORKBOOKS: Files = {
    "unpacks to 600 megabytes": unpacking_word,
    "a part that lies about its size": lying_word,
    "entities that multiply": lambda: workbook("<row><c><v>&l11;</v></c></row>", before=f"<!DOCTYPE x [{LAUGHS}]>"),
    "an entity that reads a file": lambda: workbook(
        '<row><c t="inlineStr"><is><t>&secret;</t></is></c></row>',
        before='<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>',
    ),
    "cells in far corners": lambda: workbook(far("A1", "XFD1048576")),
    "a row that is none": lambda: workbook(far("A99999999999999999999")),
    "strings that aren't there": lambda: workbook('<row r="1"><c r="A1" t="s"><v>99999999</v></c></row>'),
    "a string of a million pieces": lambda: workbook(
        '<row r="1"><c r="A1" t="s"><v>0</v></c></row>', strings=f"<si>{'<r><t>a</t></r>' * 1_000_000}</si>"
    ),
    "no sheet": lambda: workbook("", part="xl/worksheets/none.xml"),
    "cut off": lambda: workbook(far("A1"))[:600],
}


def slides(
    shapes: str, *, before: str = "", notes: str = "", listed: int = 1, extra: Mapping[str, str] = NOTHING
) -> bytes:
    """Return a PPTX with a slide of these shapes, listed so many times; its relation r2 is a link, r3 an extra part."""
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    drawing = "http://schemas.openxmlformats.org/drawingml/2006"
    names = f'xmlns:p="{main}" xmlns:r="{KINDS}" xmlns:a="{drawing}/main" xmlns:d="{drawing}/diagram"'
    names += f' xmlns:c="{drawing}/chart" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    tree = "<p:cSld><p:spTree>{}</p:spTree></p:cSld>"
    ids = '<p:sldId id="256" r:id="r1"/>' * listed
    parts = {
        "_rels/.rels": relations(("officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"<p:presentation {names}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(("slide", "slides/slide1.xml")),
        "ppt/slides/slide1.xml": f"{before}<p:sld {names}>{tree.format(shapes)}</p:sld>",
        "ppt/slides/_rels/slide1.xml.rels": relations(
            ("notesSlide", "../notes.xml"), ("hyperlink", "tides.docx"), ("extra", "../extra.xml")
        ),
        "ppt/notes.xml": f"<p:notes {names}>{tree.format(notes)}</p:notes>",
    }
    return zipped(parts | {name: content.replace("{names}", names) for name, content in extra.items()})


SHAPE = "<p:sp><p:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:txBody></p:sp>"

SLIDES: Files = {
    "unpacks to 600 megabytes": unpacking_word,
    "a part that lies about its size": lying_word,
    "entities that multiply": lambda: slides(SHAPE.format("&l11;"), before=f"<!DOCTYPE x [{LAUGHS}]>"),
    "an entity that reads a file": lambda: slides(
        SHAPE.format("&secret;"), before='<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>'
    ),
    "groups in groups": lambda: slides("<p:grpSp>" * 50_000 + "</p:grpSp>" * 50_000),
    "a slide a million times": lambda: slides(SHAPE.format("a"), listed=1_000_000),
    "a hundred thousand shapes": lambda: slides(SHAPE.format("a") * 100_000),
    "a million empty cells": lambda: slides(f"<a:tbl><a:tr>{'<a:tc/>' * 1_000_000}</a:tr></a:tbl>"),
    "no slide": lambda: slides("").replace(b"slides/slide1", b"slides/slide2"),
    "cut off": lambda: slides(SHAPE.format("a"))[:600],
}


def open_document(body: str, *, before: str = "", styles: str = "", parts: Mapping[str, str] = NOTHING) -> bytes:
    """Return an ODT or ODP whose body is this XML."""
    oasis = "urn:oasis:names:tc:opendocument:xmlns"
    names = " ".join(
        f'xmlns:{name}="{oasis}:{name}:1.0"' for name in ("office", "text", "table", "draw", "style", "presentation")
    )
    names += ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    content = (
        f"{before}<office:document-content {names}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body>{body}</office:body></office:document-content>"
    )
    return zipped({"content.xml": content, **parts})


ODTS: Files = {
    "unpacks to 600 megabytes": unpacking_word,
    "a part that lies about its size": lying_word,
    "entities that multiply": lambda: open_document("<text:p>&l11;</text:p>", before=f"<!DOCTYPE x [{LAUGHS}]>"),
    "an entity that reads a file": lambda: open_document(
        "<text:p>&secret;</text:p>", before='<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>'
    ),
    "spans in spans": lambda: open_document(
        "<text:p>" + "<text:span>" * 50_000 + "</text:span>" * 50_000 + "</text:p>"
    ),
    "a cell a billion columns wide": lambda: open_document(
        '<table:table><table:table-row><table:table-cell table:number-columns-repeated="1000000000"><text:p>a</text:p>'
        "</table:table-cell></table:table-row></table:table>"
    ),
    "a million empty paragraphs": lambda: open_document("<text:p/>" * 1_000_000),
    "a style made from itself": lambda: open_document(
        '<text:p text:style-name="a">a</text:p>', styles='<style:style style:name="a" style:parent-style-name="a"/>'
    ),
    "no content": lambda: zipped({"mimetype": "application/vnd.oasis.opendocument.text"}),
    "cut off": lambda: open_document("<text:p>a</text:p>")[:200],
}


def book(
    *chapters: str, before: str = "", times: int = 1, parts: Mapping[str, str] = NOTHING, title: str = ""
) -> bytes:
    """Return an EPUB of chapters, each listed so many times."""
    items = "".join(
        f'<item id="c{at}" href="text/c%20{at}.xhtml" media-type="application/xhtml+xml"/>'
        for at, _ in enumerate(chapters)
    )
    refs = "".join(f'<itemref idref="c{at}"/>' for at, _ in enumerate(chapters)) * times
    named = f'<metadata><t:title xmlns:t="http://purl.org/dc/elements/1.1/">{title}</t:title></metadata>'
    package = f"{before}<package>{named}<manifest>{items}</manifest><spine>{refs}</spine></package>"
    pages = {f"OPS/text/c {at}.xhtml": chapter for at, chapter in enumerate(chapters)}
    container = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    return zipped({"META-INF/container.xml": container, "OPS/book.opf": package, **pages, **parts})


PAGE = "<html><body>{}</body></html>"

BOOKS: Files = {
    "unpacks to 600 megabytes": unpacking_word,
    "a part that lies about its size": lying_word,
    "entities that multiply": lambda: book("<p>a</p>", before=f"<!DOCTYPE x [{LAUGHS}]>", title="&l11;"),
    "an entity that reads a file": lambda: book(
        "<p>a</p>", before='<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>', title="&secret;"
    ),
    "a chapter a million times": lambda: book(PAGE.format("<p>a</p>"), times=1_000_000),
    "a chapter outside the archive": lambda: book("<p>a</p>").replace(b"text/c%20", b"../../etc"),
    "elements too deep": lambda: book("<div>" * 200_000 + "a"),
    "ten thousand chapters": lambda: book(*["<p>a</p>"] * 10_000),
    "no package": lambda: zipped({"META-INF/container.xml": "<container/>"}),
    "cut off": lambda: book("<p>a</p>")[:300],
}


def mail(body: bytes, *, kind: bytes = b"text/plain", heads: bytes = b"") -> bytes:
    """Return a message."""
    return b"Subject: The moon\nFrom: ada@example.org\n%sContent-Type: %s\n\n%s" % (heads, kind, body)


def parts_in_parts(depth: int) -> bytes:
    opened = b"".join(b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (at, at) for at in range(depth))
    return b"Subject: The moon\n" + opened + b"\nThe moon raises the tides.\n"


PIECES = b'multipart/mixed; boundary="b"'

MAILS: Files = {
    "parts too deep": lambda: parts_in_parts(5_000),
    "messages in messages": lambda: b"Content-Type: message/rfc822\n\n" * 20_000 + b"\nThe moon.\n",
    "thirty thousand parts": lambda: mail(b"--b\n\na\n" * 30_000, kind=PIECES),
    "a hundred thousand headers": lambda: mail(b"a", heads=b"X: a\n" * 100_000),
    "a subject of encoded words": lambda: mail(b"a", heads=b"To:" + b" =?utf-8?q?a?=\n" * 100_000),
    "words that are never decoded": lambda: b"Subject: " + b"=?utf-8?b?" * 100_000 + b"\n\na",
    "a boundary that never comes": lambda: mail(b"--c\n" * 300_000, kind=PIECES),
    "an encoding of another kind": lambda: mail(b"eJw" * 100_000, kind=b"text/plain; charset=zlib"),
    "a file name of twenty thousand pieces": lambda: mail(
        b"a", kind=b"application/pdf; " + b"".join(b"name*%d=a; " % at for at in range(20_000))
    ),
    "nothing but zeros": lambda: b"\0" * 1_000_000,
}


def notebook(output: str, *, times: int = 1) -> bytes:
    """Return a notebook of a cell whose output, in JSON, stands there so many times."""
    cell = '{"cell_type": "code", "source": "a", "outputs": [' + ", ".join([output] * times) + "]}"
    return f'{{"nbformat": 4, "metadata": {{}}, "cells": [{cell}]}}'.encode()


SHOWN = '{{"output_type": "display_data", "data": {{"text/html": "{}"}}}}'

NOTEBOOKS: Files = {
    "output of a million elements": lambda: notebook(SHOWN.format("<div>" * 1_000_000)),
    "ten thousand outputs": lambda: notebook(SHOWN.format("<p>a</p>"), times=10_000),
    "tables in tables": lambda: notebook(SHOWN.format("<table><tr><td>" * 20_000)),
    "pages in pages": lambda: notebook(SHOWN.format("<iframe srcdoc='&lt;iframe srcdoc=" * 10_000)),
    "arrays a million deep": lambda: notebook("[" * 1_000_000),
    "a number of a million digits": lambda: notebook("9" * 1_000_000),
    "lines that never end": lambda: notebook('{"output_type": "stream", "text": "' + "a\\r" * 1_000_000 + '"}'),
    "an object that never ends": lambda: notebook(
        SHOWN.format("").replace("html", "plain").replace('""', '"' + "<" * 1_000_000 + '"')
    ),
    "no cells": lambda: b'{"nbformat": 4, "metadata": {}, "cells": 7}',
    "cut off": lambda: notebook(SHOWN.format("a"))[:90],
}


def table(columns: Mapping[str, object], **options: object) -> bytes:
    whole = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), whole, **options)
    return whole.getvalue()


def rows(**columns: object) -> bytes:
    return table({"id": ["x", "y"], "text": ["One.", "Two."], **columns})


def deep(levels: int) -> object:
    kind = pa.int8()
    for _ in range(levels):
        kind = pa.list_(kind)
    return pa.nulls(2, kind)


def without_utf_8() -> object:
    offsets, letters = pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"\xffa")
    return pa.StringArray.from_buffers(2, offsets, letters)


TABLES: Files = {
    "cut off": lambda: rows()[:200],
    "nothing but a beginning": lambda: b"PAR1" + b"\0\xff(" * 100_000,
    "a footer longer than the file": lambda: rows()[:-8] + b"\xf0\xff\xff\x7fPAR1",
    "rubbish for pages": lambda: rows()[:4] + b"\xff" * 40 + rows()[44:],
    "encrypted": lambda: rows()[:-4] + b"PARE",
    "five million rows in a few bytes": lambda: table(
        {"id": pa.repeat("x", 5_000_000), "text": pa.repeat("x", 5_000_000)}, compression="zstd"
    ),
    "a text of half a gigabyte": lambda: table({"id": ["x"], "text": ["a" * 500_000_000]}, compression="zstd"),
    "a long text in each of its rows": lambda: table(
        {"id": [*range(2_000)], "text": pa.repeat("a" * 300_000, 2_000)}, compression="zstd", column_encoding=None
    ),
    "lists in lists": lambda: rows(it=deep(300)),
    "texts that aren't UTF-8": lambda: rows(title=without_utf_8()),
    "a zone that there isn't": lambda: rows(at=pa.array([1, 2], pa.timestamp("us", "Nowhere/Else"))),
    "a schema that isn't": lambda: rows().replace(b"ARROW:schema", b"ARROW:schema").replace(b"/////", b"AAAAA"),
    "thirty thousand columns": lambda: table({f"c{number}": [1] for number in range(30_000)}),
}
"""Tables of Parquet, which hold many documents: they are read by rows, not by a parser of one."""

HOSTILE: dict[str, Files] = {
    "pdf": PDFS,
    "docx": WORDS,
    "html": HTMLS,
    "csv": CSVS,
    "xlsx": WORKBOOKS,
    "pptx": SLIDES,
    "odt": ODTS,
    "epub": BOOKS,
    "ipynb": NOTEBOOKS,
    "mail": MAILS,
}
