"""PDF files, made here."""

from __future__ import annotations

import io
from contextlib import suppress

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from pipeline.files import Unreadable
from pipeline.ingest.chunking.chunk import Chunker
from pipeline.ingest.sources.pdf import parse
from pipeline.ingest.sources.source import Source
from pipeline.records import Document


def pdf(*pages: str, title: str = "", password: str | None = None, owner: str | None = None) -> bytes:
    """Return a PDF with a line of text for each line of each page."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(400, 400)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
        content = DecodedStreamObject()
        lines = " ".join(f"({line}) Tj 0 -14 Td" for line in text.split("\n"))
        content.set_data(f"BT /F1 12 Tf 20 350 Td {lines} ET".encode())
        page[NameObject("/Contents")] = writer._add_object(content)
    if title:
        writer.add_metadata({"/Title": title})
    if password is not None:
        writer.encrypt(password, owner, algorithm="RC4-128")
    saved = io.BytesIO()
    writer.write(saved)
    return saved.getvalue()


def read(data: bytes) -> Document:
    return parse(Source("a-paper.pdf", "/root/a-paper.pdf", data))


def test_pages_follow_each_other_and_say_where_they_begin() -> None:
    found = read(pdf("First page.\nSecond line.", "", "Third page."))

    assert found.text == "First page.\nSecond line.\n\n\n\nThird page."
    assert [found.text[start:].split("\n")[0] for start in found.page_starts] == ["First page.", "", "Third page."]
    assert [found.text[block.start : block.end] for block in found.blocks] == [
        "First page.\nSecond line.",
        "Third page.",
    ]


def test_the_title_is_in_its_properties_or_its_first_line_or_its_name() -> None:
    assert read(pdf("x", title="A  title")).title == "A title"
    assert read(pdf("", "On graphs\nWe rank.")).title == "On graphs"
    assert read(pdf("1\nwords")).title == "a paper"
    assert read(pdf("word " * 40)).title == "a paper"


def test_a_password_for_changes_only_is_no_obstacle() -> None:
    assert read(pdf("words", password="", owner="secret")).text == "words"


def test_a_password_for_reading_makes_it_unreadable() -> None:
    with pytest.raises(Unreadable, match="is encrypted"):
        read(pdf("words", password="secret"))


def test_scans_are_unreadable_and_say_why() -> None:
    with pytest.raises(Unreadable, match="has no text") as caught:
        read(pdf("", ""))
    assert "OCR" in caught.value.fix


def test_damaged_files_are_unreadable_at_every_cut(capfd: pytest.CaptureFixture[str]) -> None:
    whole = pdf("words " * 20, "more")

    for cut in range(0, len(whole) - 20, 37):
        with suppress(Unreadable):
            read(whole[:cut])
    assert capfd.readouterr() == ("", "")


def test_chunks_count_the_lines_of_the_text() -> None:
    found = read(pdf("one two\nthree", "four five"))
    chunker = Chunker(lambda texts: [[(at, at + 1) for at in range(len(text))] for text in texts], 14, 0)

    assert [(chunk.text, chunk.line_start, chunk.line_end) for chunk in next(chunker.chunk_all([found], "corpus"))] == [
        ("one two\nthree", 1, 2),
        ("four five", 4, 4),
    ]
