"""What Word wraps, tracks and sets apart: each of its ways to hold text, in files made of a few parts of XML."""

from __future__ import annotations

import io
import zipfile

import pytest

from pipeline.files import Unreadable
from pipeline.ingest.sources.parsers.docx import parse
from pipeline.ingest.sources.source import Source
from pipeline.records import Document
from tests.ingest.sources.documents import links
from tests.ingest.sources.hostile import relations, zipped

SCHEMAS = "http://schemas.openxmlformats.org"
NAMESPACES = (
    f'xmlns:w="{SCHEMAS}/wordprocessingml/2006/main" xmlns:r="{SCHEMAS}/officeDocument/2006/relationships"'
    f' xmlns:m="{SCHEMAS}/officeDocument/2006/math" xmlns:mc="{SCHEMAS}/markup-compatibility/2006" xmlns:v="v"'
)
TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.{}+xml"
REVIEW = 'w:id="1" w:author="Ada"'


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def shifted(text: str, kind: str) -> str:
    return f'<w:r><w:rPr><w:vertAlign w:val="{kind}"/></w:rPr><w:t>{text}</w:t></w:r>'


def paragraph(content: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{content}</w:p>"


def word(
    body: str, *, styles: str = "", footnotes: str = "", endnotes: str = "", page: tuple[str, str] = ("", "")
) -> bytes:
    types = "".join(
        f'<Override PartName="/word/{part}.xml" ContentType="{TYPE.format(kind)}"/>'
        for part, kind in {"document": "document.main", "styles": "styles"}.items()
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{SCHEMAS}/package/2006/content-types"><Default Extension="rels"'
        f' ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml"'
        f' ContentType="application/xml"/>{types}</Types>',
        "_rels/.rels": relations(("officeDocument", "word/document.xml")),
        "word/document.xml": f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relations(
            ("hyperlink", "tides.docx"),
            *((kind, f"{kind}.xml") for kind in ("styles", "footnotes", "endnotes")),
            ("aFChunk", page[0]),
        ),
        "word/_rels/footnotes.xml.rels": relations(("hyperlink", "moon.docx")),
        "word/styles.xml": f"<w:styles {NAMESPACES}>{styles}</w:styles>",
        "word/footnotes.xml": f"<w:footnotes {NAMESPACES}>{footnotes}</w:footnotes>",
        "word/endnotes.xml": f"<w:endnotes {NAMESPACES}>{endnotes}</w:endnotes>",
    }
    return zipped(parts | ({f"word/{page[0]}": page[1]} if page[0] else {}))


def parsed(data: bytes) -> Document:
    return parse(Source("a.docx", "/root/a.docx", data))


def text(body: str) -> str:
    return parsed(word(body)).text


BEGIN, SEPARATE, END = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end"))
CODE = "<w:r><w:instrText>IF</w:instrText></w:r>"


def form(field: str) -> str:
    return BEGIN.replace("/></w:r>", f"><w:ffData>{field}</w:ffData></w:fldChar></w:r>") + CODE + END


LINE = "<w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr>"
WRAPPED = {
    "inserted": (paragraph(run("a ") + f"<w:ins {REVIEW}>{run('new')}</w:ins>" + run(" lamp")), "a new lamp"),
    "inserted as a whole": (f"<w:ins {REVIEW}>{paragraph(run('a'))}</w:ins>" + paragraph(run("b")), "a\n\nb"),
    "deleted": (
        paragraph(run("a") + f"<w:del {REVIEW}><w:r><w:delText>old</w:delText></w:r></w:del>" + run("b")),
        "ab",
    ),
    "moved": (
        paragraph(f"<w:moveFrom {REVIEW}>{run('buoy')}</w:moveFrom>" + run("a"))
        + paragraph(f"<w:moveTo {REVIEW}>{run('buoy')}</w:moveTo>"),
        "a\n\nbuoy",
    ),
    "a paragraph's end, deleted": (
        paragraph(run("one "), f"<w:rPr><w:del {REVIEW}/></w:rPr>") + paragraph(run("line")),
        "one line",
    ),
    "a row, deleted": (
        f"<w:tbl><w:tr><w:trPr><w:del {REVIEW}/></w:trPr><w:tc>{paragraph(run('old'))}</w:tc></w:tr>"
        + LINE.format(paragraph(run("a")), paragraph(run("b")))
        + "</w:tbl>",
        "a | b",
    ),
    "a control around a paragraph": (f"<w:sdt><w:sdtContent>{paragraph(run('a'))}</w:sdtContent></w:sdt>", "a"),
    "a control around words": (
        paragraph(run("by ") + f"<w:sdt><w:sdtContent>{run('Skerrow')}</w:sdtContent></w:sdt>" + run(" town")),
        "by Skerrow town",
    ),
    "a control around a row and a cell": (
        (
            f"<w:tbl><w:sdt><w:sdtContent><w:tr><w:sdt><w:sdtContent><w:tc>{paragraph(run('a'))}</w:tc></w:sdtContent>"
            f"</w:sdt><w:tc>{paragraph(run('b'))}</w:tc></w:tr></w:sdtContent></w:sdt></w:tbl>"
        ),
        "a | b",
    ),
    "tags in tags": (paragraph(f"<w:smartTag><w:customXml>{run('Oldwick')}</w:customXml></w:smartTag>"), "Oldwick"),
    "a field": (paragraph(f'<w:fldSimple w:instr="REF x">{run("4711")}</w:fldSimple>'), "4711"),
    "a field in the code of another": (
        paragraph(BEGIN + CODE + BEGIN + CODE + SEPARATE + run("x") + END + SEPARATE + run("12") + END + run(" miles")),
        "12 miles",
    ),
    "a field that never ends": (paragraph(run("a") + BEGIN + CODE) + paragraph(run("b")), "a\n\nb"),
    "choices in a form": (
        paragraph(
            run("by ")
            + form('<w:ddList><w:result w:val="1"/><w:listEntry w:val="sea"/><w:listEntry w:val="rail"/></w:ddList>')
            + form('<w:ddList><w:listEntry w:val=" only"/></w:ddList>')
            + form("<w:checkBox><w:default w:val='1'/></w:checkBox>")
            + form("<w:checkBox><w:default w:val='1'/><w:checked w:val='0'/></w:checkBox>")
        ),
        "by rail only[x][ ]",
    ),
    "directions": (paragraph(f"<w:bdo>{run('a')}</w:bdo><w:dir>{run('b')}</w:dir>"), "ab"),
    "reading aids": (
        paragraph(f"<w:r><w:ruby><w:rt>{run('c')}</w:rt><w:rubyBase>{run('b')}</w:rubyBase></w:ruby></w:r>"),
        "b",
    ),
    "a formula": (paragraph("<m:oMath><m:r><m:t>E=mc</m:t></m:r></m:oMath>"), "E=mc"),
    "hidden words": (
        paragraph(
            run("a")
            + "<w:r><w:rPr><w:vanish/></w:rPr><w:t>x</w:t></w:r>"
            + '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>b</w:t></w:r>'
        ),
        "ab",
    ),
    "characters": (
        paragraph(
            "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:noBreakHyphen/><w:t>c</w:t><w:softHyphen/><w:t>d</w:t></w:r>"
            '<w:r><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Wingdings" w:char="F0B7"/>'
            '<w:sym w:font="MS Gothic" w:char="2610"/><w:sym w:char="none"/></w:r>'
        ),
        "a b-cdα☐",
    ),
    "raised and lowered text": (
        paragraph(
            f"{run('m')}{shifted('2', 'superscript')}{run(' of CO')}{shifted('2', 'subscript')}{run(', the 5')}"
            f"{shifted('th', 'superscript')}{run(' word')}{shifted('note', 'superscript')}{run('goes on')}"
        ),
        "m² of CO₂, the 5th word note goes on",
    ),
    "a described picture": (
        paragraph(run("a") + '<w:r><w:drawing><wp:docPr descr="Two  boats" xmlns:wp="p"/></w:drawing></w:r>' + run("b"))
        + paragraph('<w:r><w:drawing><wp:docPr descr="boats.png" xmlns:wp="p"/></w:drawing></w:r>'),
        "ab\n\nTwo boats",
    ),
    "a table in a table": (
        "<w:tbl>"
        + LINE.format(
            paragraph(run("a")) + f"<w:tbl>{LINE.format(paragraph(run('b')), paragraph(run('c')))}</w:tbl><w:p/>",
            paragraph(run("d")),
        )
        + "</w:tbl>",
        "a\nb | c\n| d",
    ),
    "a frame of one cell": (
        f"<w:tbl><w:tr><w:tc>{paragraph(run('a'))}{paragraph(run('b'))}</w:tc></w:tr></w:tbl>",
        "a\n\nb",
    ),
    "a cell over rows": (
        "<w:tbl>"
        + LINE.format('<w:tcPr><w:vMerge w:val="restart"/></w:tcPr>' + paragraph(run("Zone")), paragraph(run("1")))
        + LINE.format("<w:tcPr><w:vMerge/></w:tcPr>" + paragraph(""), paragraph(run("2")))
        + "</w:tbl>",
        "Zone | 1\nZone | 2",
    ),
    "a box": (
        paragraph(
            run("a") + f"<w:r><w:pict><v:textbox><w:txbxContent>{paragraph(run('b'))}</w:txbxContent>"
            "</v:textbox></w:pict></w:r>" + run("c")
        ),
        "ac\n\nb",
    ),
    "a box in two ways": (
        paragraph(
            "<w:r><mc:AlternateContent>"
            f"<mc:Choice><w:txbxContent>{paragraph(run('b'))}</w:txbxContent></mc:Choice>"
            f"<mc:Fallback><w:txbxContent>{paragraph(run('b'))}</w:txbxContent></mc:Fallback>"
            "</mc:AlternateContent></w:r>"
        ),
        "b",
    ),
}


@pytest.mark.parametrize("kind", WRAPPED)
def test_text_is_read_as_word_shows_it_with_changes_accepted(kind: str) -> None:
    body, expected = WRAPPED[kind]

    assert text(body) == expected


NOTE = '<w:footnote w:id="{}">{}</w:footnote>'
REFERENCE = '<w:r><w:footnoteReference w:id="{}"/></w:r>'
LINK = '<w:hyperlink r:id="r1">{}</w:hyperlink>'


def test_notes_follow_their_paragraph_or_table_once_with_their_own_links() -> None:
    notes = NOTE.format(0, paragraph(run("unused"))) + NOTE.format(
        2, paragraph(run("see ") + LINK.format(run("moon")) + REFERENCE.format(2))
    )
    endnote = f'<w:endnote w:id="2">{paragraph(run("the end"))}</w:endnote>'
    cell = paragraph(run("b") + '<w:r><w:endnoteReference w:id="2"/></w:r>')
    body = (
        paragraph(run("high") + REFERENCE.format(2) + run(" water"))
        + f"<w:tbl>{LINE.format(paragraph(run('a')), cell)}</w:tbl>"
        + paragraph(LINK.format(run("last")))
    )

    found = parsed(word(body, footnotes=notes, endnotes=endnote))

    assert found.text == "high water\n\nsee moon\n\na | b\n\nthe end\n\nlast"
    assert links(found) == [
        ("moon.docx", "moon"),
        ("tides.docx", "last"),
    ]


DRAWING = 'xmlns:a="a" xmlns:c="c" xmlns:dgm="d"'
SERIES = (
    "<c:ser><c:tx><c:v>Fees</c:v></c:tx><c:xVal><c:v>1</c:v><c:v>2</c:v></c:xVal><c:yVal><c:v>40</c:v></c:yVal></c:ser>"
)


@pytest.mark.parametrize(
    ("place", "part", "expected"),
    [
        (
            '<dgm:relIds r:dm="r5"/>',
            "<dgm:dataModel {}><a:p><a:r><a:t>plan</a:t></a:r></a:p><a:p><a:t>sail</a:t></a:p></dgm:dataModel>",
            "a\n\nplan\n\nsail",
        ),
        (
            '<c:chart r:id="r5"/>',
            f"<c:chartSpace {{}}><c:title><a:p><a:r><a:t>By year</a:t></a:r></a:p></c:title>{SERIES}</c:chartSpace>",
            "a\n\nBy year\n\nFees: 1 40 | 2",
        ),
    ],
)
def test_diagrams_and_charts_follow_their_paragraph_once(place: str, part: str, expected: str) -> None:
    drawn = f"<w:r><w:drawing {DRAWING}>{place * 2}</w:drawing></w:r>"

    assert parsed(word(paragraph(drawn + run("a")), page=("drawn.xml", part.format(DRAWING)))).text == expected


def test_parts_whose_names_have_backslashes_are_read() -> None:
    with zipfile.ZipFile(io.BytesIO(word(paragraph(run("a"))))) as archive:
        parts = {name.replace("/", "\\"): archive.read(name) for name in archive.namelist()}

    assert parsed(zipped(parts)).text == "a"


def test_links_of_fields_are_links() -> None:
    code = '<w:r><w:instrText>HYPERLINK "moon{}.docx" \\o "tip"</w:instrText></w:r>'
    fields = BEGIN + code.format(1) + SEPARATE + run("near") + END + run(" ")
    fields += f'<w:fldSimple w:instr="HYPERLINK &quot;moon2.docx&quot;">{run("far")}</w:fldSimple>'

    found = parsed(word(paragraph(fields)))

    assert links(found) == [
        ("moon1.docx", "near"),
        ("moon2.docx", "far"),
    ]


PAGE = "<h2>Zones</h2><p>North is dear</p>"
MAIL = f"MIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n{PAGE}"


@pytest.mark.parametrize(("name", "content"), [("page.html", PAGE), ("page.mht", MAIL), ("page.html", " ")])
def test_a_page_in_the_file_is_read_as_html(name: str, content: str) -> None:
    chunk = '<w:altChunk r:id="r5"/>'
    found = parsed(word(paragraph(run("a")) + chunk + paragraph(run("b")), page=(name, content)))

    expected = "a\n\nb" if content == " " else "a\n\nZones\n\nNorth is dear\n\nb"
    assert found.text == expected


def style(id_: str, name: str, content: str = "") -> str:
    return f'<w:style w:type="paragraph" w:styleId="{id_}"><w:name w:val="{name}"/>{content}</w:style>'


STYLES = (
    style("berschrift1", "heading 1")
    + style("Own", "Our chapters", '<w:basedOn w:val="Base"/>')
    + style("Base", "Base", '<w:basedOn w:val="Two"/>')
    + style("Two", "Überschrift 2")
    + style("Outlined", "Band", '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>')
    + style("TOC", "TOC Heading", '<w:basedOn w:val="berschrift1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>')
    + style("Loop", "Loop", '<w:basedOn w:val="Pool"/>')
    + style("Pool", "Pool", '<w:basedOn w:val="Loop"/>')
)


@pytest.mark.parametrize(
    ("properties", "level"),
    [
        ('<w:pStyle w:val="berschrift1"/>', 1),
        ('<w:pStyle w:val="Own"/>', 2),
        ('<w:pStyle w:val="Outlined"/>', 3),
        ('<w:pStyle w:val="TOC"/>', 0),
        ('<w:pStyle w:val="Loop"/>', 0),
        ('<w:pStyle w:val="missing"/>', 0),
        ('<w:outlineLvl w:val="3"/>', 4),
        ('<w:pStyle w:val="Own"/><w:outlineLvl w:val="9"/>', 0),
        ("", 0),
    ],
)
def test_a_heading_is_known_by_its_style_its_base_or_its_outline(properties: str, level: int) -> None:
    (block,) = parsed(word(paragraph(run("a"), properties), styles=STYLES)).blocks

    assert block.level == level


def test_strict_open_xml_is_read_too() -> None:
    packed = io.BytesIO()
    made = word(paragraph(run("a") + LINK.format(run("b"))))
    with zipfile.ZipFile(io.BytesIO(made)) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            content = old.read(name).decode()
            for vocabulary in ("wordprocessingml", "officeDocument"):
                content = content.replace(f"{SCHEMAS}/{vocabulary}/2006/", f"http://purl.oclc.org/ooxml/{vocabulary}/")
            new.writestr(name, content)

    found = parsed(packed.getvalue())
    assert (found.text, [link.target for link in found.links]) == ("ab", ["tides.docx"])


def test_an_encrypted_file_is_called_so() -> None:
    with pytest.raises(Unreadable, match="is encrypted"):
        parsed(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
