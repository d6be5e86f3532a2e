"""Slides: titles, texts, tables, diagrams, charts, links and notes, and what stands on every slide."""

from __future__ import annotations

import pytest

from pipeline.files import Unreadable
from pipeline.ingest.sources.parsers.pptx import parse
from pipeline.ingest.sources.source import Source
from pipeline.records import Document
from tests.ingest.sources.documents import blocks, links
from tests.ingest.sources.hostile import SHAPE, slides


def parsed(data: bytes) -> Document:
    return parse(Source("harbour-fees.pptx", "/root/harbour-fees.pptx", data))


def placeholder(kind: str, text: str) -> str:
    return SHAPE.format(text).replace("<p:sp>", f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>')


def words(text: str, properties: str = "") -> str:
    return f"<a:p><a:r><a:rPr>{properties}</a:rPr><a:t>{text}</a:t></a:r></a:p>"


def test_a_slide_is_a_section_under_its_title_with_its_notes() -> None:
    cell = f"<a:tc><a:txBody>{words('{}')}</a:txBody></a:tc>"
    row = f"<a:tr>{cell}{cell}</a:tr>"
    linked = words("see more", '<a:hlinkClick r:id="r2"/>')
    shapes = (
        SHAPE.format("North is dear")
        + placeholder("title", "Zones")
        + "".join(placeholder(kind, kind) for kind in ("sldNum", "dt", "ftr"))
        + f"<p:grpSp><p:sp><p:txBody>{linked}</p:txBody></p:sp></p:grpSp>"
        + f"<mc:AlternateContent><mc:Choice>{SHAPE.format('new')}</mc:Choice>"
        + f"<mc:Fallback>{SHAPE.format('new')}</mc:Fallback></mc:AlternateContent>"
        + f"<p:graphicFrame><a:tbl>{row.format('Zone', 'Fee')}{row.format('North', '40')}</a:tbl></p:graphicFrame>"
    )

    found = parsed(slides(shapes, notes=placeholder("body", "Say it slowly.") + placeholder("sldNum", "1")))

    assert found.title == "Zones"
    assert blocks(found) == [
        ("heading", 1, "Zones"),
        ("paragraph", 0, "North is dear"),
        ("paragraph", 0, "see more"),
        ("paragraph", 0, "new"),
        ("table", 0, "Zone | Fee\nNorth | 40"),
        ("paragraph", 0, "Say it slowly."),
    ]
    assert links(found) == [("tides.docx", "see more")]


def test_a_slide_without_a_title_is_a_section_too() -> None:
    assert blocks(parsed(slides(SHAPE.format("a") + SHAPE.format("b")))) == [
        ("paragraph", 1, "a"),
        ("paragraph", 0, "b"),
    ]


def test_texts_of_diagrams_and_figures_of_charts_are_read_from_their_parts() -> None:
    points = "".join(f"<d:pt><d:t>{words(text)}</d:t></d:pt>" for text in ("plan", "sail"))
    diagram = f"<d:dataModel {{names}}><d:ptLst>{points}</d:ptLst></d:dataModel>"
    value = "<c:pt><c:v>{}</c:v></c:pt>"
    series = (
        f"<c:ser><c:tx>{value.format('Fees')}</c:tx><c:cat>{value.format('East')}{value.format('West')}</c:cat>"
        f"<c:val>{value.format(1.5)}{value.format(2)}</c:val></c:ser>"
    )
    axis = f"<c:valAx><c:title>{words('Crowns')}</c:title></c:valAx>"
    chart = (
        f"<c:chartSpace {{names}}><c:chart><c:title>{words('A year')}</c:title>{series}{axis}</c:chart></c:chartSpace>"
    )

    drawn = parsed(slides('<d:relIds r:dm="r3"/>', extra={"ppt/extra.xml": diagram}))
    plotted = parsed(slides('<c:chart r:id="r3"/>', extra={"ppt/extra.xml": chart}))

    assert drawn.text == "plan\n\nsail"
    assert plotted.text == "A year\n\nCrowns\n\nFees: East 1.5 | West 2"


def test_raised_text_and_described_pictures_are_read() -> None:
    raised = '<a:r><a:rPr baseline="30000"/><a:t>2</a:t></a:r>'
    picture = '<p:pic><p:nvPicPr><p:cNvPr descr="{}"/></p:nvPicPr></p:pic>'

    shape = SHAPE.format("10 m").replace("</a:p>", f"{raised}</a:p>")
    found = parsed(slides(shape + picture.format("Two boats") + picture.format("boats.png")))

    assert found.text == "10 m²\n\nTwo boats"


def test_a_presentation_without_words_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="has no text"):
        parsed(slides(""))
