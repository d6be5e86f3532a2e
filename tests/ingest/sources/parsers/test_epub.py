"""Books: chapters in the order of reading, what of a chapter can't be read, and protected ones."""

from __future__ import annotations

import io
import zipfile

import pytest

from pipeline.files import Unreadable
from pipeline.ingest.sources.parsers.epub import parse
from pipeline.ingest.sources.source import Source
from pipeline.records import Document
from tests.ingest.sources.hostile import PAGE, book, zipped

LOCKED = '<e><CipherData><CipherReference URI="OPS/{}"/></CipherData></e>'


def parsed(data: bytes) -> Document:
    return parse(Source("harbour-book.epub", "/root/harbour-book.epub", data))


def test_chapters_come_in_order_with_their_structure_and_covers_are_left_out() -> None:
    first = PAGE.format("<h1>Zones</h1><p>See <a href='c%201.xhtml'>the fees</a>.</p>")
    second = PAGE.format("<h2>Fees</h2><table><tr><td>North<td>40</table>")

    found = parsed(book(first, PAGE.format("<img src='cover.png'>"), second, title="The harbour"))

    assert (found.key, found.title, found.links) == ("harbour-book.epub", "The harbour", ())
    assert [(block.kind.value, block.level, found.text[block.start : block.end]) for block in found.blocks] == [
        ("heading", 1, "Zones"),
        ("paragraph", 0, "See the fees."),
        ("heading", 2, "Fees"),
        ("table", 0, "North | 40"),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"text/c%200.xhtml", b"text/c 0.xhtml"),
        (b"text/c%200.xhtml", b"text\\c%200.xhtml"),
        (b"text/c%200.xhtml", b"Text/C%200.XHTML"),
        (b"text/c%200.xhtml", b"text/c%200.xhtml#top"),
        (b"application/xhtml+xml", b"text/x-oeb1-document"),
        (b"application/xhtml+xml", b"application/xml"),
        (b'<itemref idref="c0"/>', b""),
    ],
)
def test_chapters_are_found_however_a_book_names_them(old: bytes, new: bytes) -> None:
    parts = {name: data.replace(old, new) for name, data in parts_of(book(PAGE.format("<p>a</p>"))).items()}

    assert parsed(zipped(parts)).text == "a"


def test_a_name_that_only_looks_quoted_is_found() -> None:
    parts = {name.replace(" ", "%20"): data for name, data in parts_of(book(PAGE.format("<p>a</p>"))).items()}

    assert parsed(zipped(parts)).text == "a"


def parts_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_without_a_title_the_first_heading_or_the_file_gives_it() -> None:
    assert parsed(book(PAGE.format("<h1>Zones</h1>"))).title == "Zones"
    assert parsed(book(PAGE.format("<p>a</p>"))).title == "harbour book"


def test_a_chapter_that_is_missing_costs_itself_alone() -> None:
    data = book(PAGE.format("<p>a</p>"), PAGE.format("<p>b</p>")).replace(b"OPS/text/c 1", b"OPS/text/d 1")

    found = parsed(data)

    assert (found.text, found.warnings) == ("a", ("has no part OPS/text/c 1.xhtml, which it lists as a chapter",))


@pytest.mark.parametrize(("part", "is_locked"), [("text/c%200.xhtml", True), ("font.otf", False)])
def test_a_protected_book_is_called_so_but_not_for_its_fonts(part: str, is_locked: bool) -> None:
    data = book(PAGE.format("<p>a</p>"), parts={"META-INF/encryption.xml": LOCKED.format(part)})
    if not is_locked:
        assert parsed(data).text == "a"
        return
    with pytest.raises(Unreadable, match="is encrypted"):
        parsed(data)


@pytest.mark.parametrize(
    ("data", "reason"), [(book(PAGE.format("")), "has no text"), (b"PK\x03\x04", "isn't well-formed EPUB")]
)
def test_what_is_no_book_is_unreadable(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        parsed(data)
