"""Texts and slides in OpenDocument: structure, changes, what hangs from a paragraph, links and titles."""

from __future__ import annotations

import pytest

from pipeline.files import Unreadable
from pipeline.ingest.sources.parsers.odt import parse
from pipeline.ingest.sources.source import Source
from pipeline.records import Document
from tests.ingest.sources.documents import blocks, links
from tests.ingest.sources.hostile import open_document

TITLED = '<style:style style:name="P1" style:parent-style-name="Title"/>'
META = '<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Stated</dc:title></m>'


def parsed(data: bytes) -> Document:
    return parse(Source("harbour-fees.odt", "/root/harbour-fees.odt", data))


def p(text: str) -> str:
    return f"<text:p>{text}</text:p>"


def test_a_text_gives_headings_lists_tables_and_links() -> None:
    cell = "<table:table-cell>{}</table:table-cell>"
    row = f"<table:table-row>{cell}{cell}</table:table-row>"
    inner = f"<table:table>{row.format(p('1'), p('2'))}</table:table>"
    body = (
        '<text:p text:style-name="P1">Harbour fees</text:p>'
        '<text:h text:outline-level="2">Zones</text:h>'
        + p(
            'North<text:s text:c="3"/>is <text:span>dear</text:span>,<text:line-break/>see'
            ' <text:a xlink:href="../more%20fees.odt#x">more</text:a> or <text:a xlink:href="https://x.org">web</text:a>'
        )
        + f"<text:list><text:list-item>{p('one')}<text:list><text:list-item>{p('two')}</text:list-item></text:list>"
        "</text:list-item></text:list>"
        "<table:table><table:table-header-rows>"
        + row.format(p("Zone"), p("Fee"))
        + "</table:table-header-rows>"
        + row.format(p("North") + p("or east"), p("40") + inner)
        + "</table:table>"
    )

    found = parsed(open_document(body, styles=TITLED))

    assert found.title == "Harbour fees"
    assert blocks(found) == [
        ("heading", 1, "Harbour fees"),
        ("heading", 2, "Zones"),
        ("paragraph", 0, "North is dear, see more or web"),
        ("paragraph", 0, "one"),
        ("paragraph", 0, "two"),
        ("table", 0, "Zone | Fee\nNorth or east | 40\n1 | 2"),
    ]
    assert links(found) == [("more fees.odt", "more")]


def test_changes_are_accepted_and_comments_left_out() -> None:
    deleted = f"<text:tracked-changes><text:changed-region><text:deletion>{p('old')}</text:deletion>"
    body = (
        deleted
        + "</text:changed-region></text:tracked-changes>"
        + p("a <text:change-start/>new<text:change-end/> lamp<office:annotation><text:p>?</text:p></office:annotation>")
    )

    assert parsed(open_document(body)).text == "a new lamp"


def test_notes_and_boxes_follow_their_paragraph() -> None:
    body = f"<text:note-body>{p('a note')}</text:note-body>"
    note = f"<text:note><text:note-citation>1</text:note-citation>{body}</text:note>"
    box = f"<draw:frame><draw:text-box>{p('in a box')}</draw:text-box></draw:frame>"

    assert (
        parsed(open_document(p(f"high{note} water{box}") + p("low"))).text == "high water\n\na note\n\nin a box\n\nlow"
    )


def test_formulas_descriptions_and_raised_text_are_read() -> None:
    raised = '<style:style style:name="T1"><style:text-properties style:text-position="super 58%"/></style:style>'
    frame = (
        '<draw:frame><draw:object xlink:href="./Object 1"/><svg:desc xmlns:svg="s">A tide table</svg:desc></draw:frame>'
    )
    formula = "<math><mi>E</mi><mo>=</mo><mn>4</mn><annotation>E = 4</annotation></math>"

    body = p(f'10 m<text:span text:style-name="T1">2</text:span> or {frame} at most')
    found = parsed(open_document(body, styles=raised, parts={"Object 1/content.xml": formula}))

    assert found.text == "10 m² or E = 4 at most\n\nA tide table"


def test_slides_have_their_titles_as_headings() -> None:
    page = (
        '<draw:page><draw:frame presentation:class="title"><draw:text-box>{}</draw:text-box></draw:frame>{}</draw:page>'
    )
    frame = f"<draw:frame><draw:text-box>{p('North is dear')}</draw:text-box></draw:frame>"
    notes = f"<presentation:notes>{frame.replace('North is dear', 'Say it slowly.')}</presentation:notes>"

    found = parsed(
        open_document(f"<office:presentation>{page.format(p('Zones'), frame + notes)}</office:presentation>")
    )

    assert blocks(found) == [
        ("heading", 1, "Zones"),
        ("paragraph", 0, "North is dear"),
        ("paragraph", 0, "Say it slowly."),
    ]


def test_the_title_is_the_propertys_else_the_files() -> None:
    assert parsed(open_document(p("a"), parts={"meta.xml": META})).title == "Stated"
    assert parsed(open_document(p("a"))).title == "harbour fees"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (open_document(p(" ")), "has no text"),
        (open_document("", parts={"META-INF/manifest.xml": "<m><encryption-data/></m>"}), "is encrypted"),
        (b"PK\x03\x04", "isn't well-formed OpenDocument"),
    ],
)
def test_what_cannot_be_read_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        parsed(data)
