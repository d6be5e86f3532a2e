"""PDF files, made here."""

from __future__ import annotations

import io
from contextlib import suppress

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from pipeline.files import Unreadable
from pipeline.ingest.chunking.chunk import Chunker
from pipeline.ingest.sources.parsers.pdf import parse
from pipeline.ingest.sources.source import Source
from pipeline.records import BlockKind, Document
from tests.ingest.sources.parsers.pdfs import Piece, column, placed


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


@pytest.mark.parametrize(
    "title",
    [
        "untitled",
        "Microsoft Word - draft.doc",
        "C:\\Users\\anna\\rules.docx",
        "report_final.pdf",
        "/srv/x",
        "Document1",
        "-",
        "Presentation 2",
        "Untitled-1",
        "(anonymous)",
        "https://example.org/a",
        "paper.dvi",
        "Slide 1",
        "scan_0012",
    ],
)
def test_a_title_that_a_program_wrote_is_none(title: str) -> None:
    assert read(pdf("On graphs\nWe rank.", title=title)).title == "On graphs"


@pytest.mark.parametrize(
    "title", ["Scanning the sea", "R Data Import/Export", "TCP/IP in a day", "Documents of Selby", "Node.js in use"]
)
def test_a_title_that_somebody_gave_stays(title: str) -> None:
    assert read(pdf("On graphs\nWe rank.", title=title)).title == title


def test_the_largest_text_of_the_first_page_is_the_title() -> None:
    heading = column(["Of the harbour", "and its bells"], 30, 80, 20)

    found = read(
        placed([Piece("Report No. 7 of the council", 30, 40), *heading, *column(["It was cold."] * 3, 30, 160)])
    )

    assert found.title == "Of the harbour and its bells"


def test_what_is_set_larger_is_a_heading() -> None:
    lines = column(["It was cold in the harbour."] * 3, 30, 100)
    headings = [Piece("Of the harbour", 30, 40, 20), Piece("In winter", 30, 80, 14), Piece("In summer", 30, 150, 14)]

    found = read(placed([*headings, *lines, *column(["It was warm."], 30, 170)]))

    assert [
        (found.text[block.start : block.end], block.level) for block in found.blocks if block.kind is BlockKind.HEADING
    ] == [("Of the harbour", 1), ("In winter", 2), ("In summer", 2)]


def test_pages_that_show_something_and_have_no_text_are_named() -> None:
    writer = PdfWriter(io.BytesIO(pdf("words", "", "more", "", "")))
    for number in (1, 3):
        content = DecodedStreamObject()
        content.set_data(b"0 0 100 100 re f")
        writer.pages[number][NameObject("/Contents")] = writer._add_object(content)
    saved = io.BytesIO()
    writer.write(saved)

    assert read(saved.getvalue()).warnings == (
        "has 2 pages (2, 4) without text, as scans are: run character recognition (OCR) over it",
    )
    assert read(pdf("words", "")).warnings == ()


def test_a_damaged_page_is_named_and_the_others_are_read() -> None:
    whole = placed(column(["One."], 30, 50), column(["Two."], 30, 50), column(["Three."], 30, 50))

    found = read(whole.replace(b"10 0 obj\n<< /Type /Page", b"10 0 obj\n<< /Type /Pane"))

    assert found.text == "One.\n\n\n\nThree."
    assert found.warnings == ("has a page (2) that can't be read: open and save it again",)


def test_ligatures_and_presentation_forms_are_letters() -> None:
    shapes = "\N{LATIN SMALL LIGATURE FFI}\N{LATIN SMALL LIGATURE FL}oceod"
    arabic = "\N{ARABIC LETTER MEEM FINAL FORM}\N{ARABIC LETTER LAM MEDIAL FORM}\N{ARABIC LETTER QAF INITIAL FORM}"

    found = read(
        placed(column(["o\N{LATIN SMALL LIGATURE FFI}ce", "\N{LATIN SMALL LIGATURE FL}ood"], 30, 50), characters=shapes)
    )

    assert found.text == "office\nflood"
    assert (
        read(placed([Piece(arabic, 30, 50)], characters=arabic)).text
        == "\N{ARABIC LETTER QAF}\N{ARABIC LETTER LAM}\N{ARABIC LETTER MEEM}"
    )


def test_words_broken_at_the_end_of_lines_and_pages_are_whole() -> None:
    found = read(
        placed(column(["The lamp has many capa-", "bilities, and the light-"], 30, 50), column(["house none."], 30, 50))
    )

    assert found.text == "The lamp has many capabilities,\nand the lighthouse\nnone."
    assert [found.text[start:] for start in found.page_starts] == [found.text, "none."]
    assert len(found.blocks) == 1


def test_a_note_stands_before_a_paragraph_that_goes_on_on_the_next_page() -> None:
    first = [
        "The bells were sold.",
        "",
        "The keeper of the harbour at",
        "Selby painted all four boats",
        "before the ice came, to co-",
    ]
    lines = [*column(first, 30, 50), *column(["1 It was blue."], 30, 570, 7)]

    found = read(placed([line for line in lines if line.text], column(["lour the bay, as he said."], 30, 50)))

    assert found.text == (
        "The bells were sold.\n\n1 It was blue.\n\nThe keeper of the harbour at\nSelby painted all four boats\n"
        "before the ice came, to colour\nthe bay, as he said."
    )


def test_an_initial_of_several_lines_begins_the_first_of_them() -> None:
    lines = [
        Piece(line, 30 + 23 * (number < 2), 50 + 12 * number)
        for number, line in enumerate(["he keeper of the light", "had a dog that could", "count to nine."])
    ]

    assert (
        read(placed([Piece("T", 30, 62, 24), *lines])).text
        == "The keeper of the light\nhad a dog that could\ncount to nine."
    )


def test_accents_that_are_drawn_over_letters_and_characters_beyond_the_first_plane_are_whole() -> None:
    accented = [Piece("M", 30, 50), Piece("\N{DIAERESIS}", 38.3, 50), Piece("u", 38.3, 50), Piece("ller", 44, 50)]
    letters = "\N{MATHEMATICAL ITALIC SMALL X}\U00020000a"

    assert read(placed(accented)).text == "M\N{LATIN SMALL LETTER U WITH DIAERESIS}ller"
    assert read(placed([Piece(letters, 30, 50)], characters=letters)).text == letters


def test_running_heads_and_page_numbers_are_left_out() -> None:
    texts = ["The ice came early", "in that year, and", "nobody was ready", "for it at Selby"]
    pages = [
        [
            Piece("Harbour Gazette" if number % 2 else "The council of Selby", 30, 20),
            *column([text, f"{number} boats lay there"], 30, 60),
            Piece(str(number + 11), 200, 580),
        ]
        for number, text in enumerate(texts * 2)
    ]

    found = " ".join(read(placed(*pages)).text.split())

    assert found == " ".join(f"{text} {number} boats lay there" for number, text in enumerate(texts * 2))


def test_headings_with_numbers_and_heads_of_tables_stay() -> None:
    steps = [[Piece(f"Step {number}", 30, 40, 18), *column(["Do it.", "Then rest."], 30, 90)] for number in (1, 2, 3)]
    table = [
        [
            Piece(cell, left, 40 + 16 * row)
            for row in range(3)
            for left, cell in ((30, "Boat"), (140, "Year"), (260, "Port"))
        ]
    ] * 3

    assert read(placed(*steps)).text.count("Step") == 3
    assert read(placed(*table)).text.count("Boat | Year | Port") == 9


def test_values_of_forms_stand_beside_their_names() -> None:
    field = b"<< /Type /Annot /Subtype /Widget /Rect [%d %d %d %d] /P 8 0 R /T (%s) %s >>"
    fields = [
        field % (120, 540, 300, 555, b"boat", b"/FT /Tx /V (Mary of Selby)"),
        field % (120, 520, 300, 535, b"port", b"/FT /Ch /Ff 131072 /Opt [(Selby) (Hull)] /V (Hull)"),
        field % (120, 500, 132, 512, b"paid", b"/FT /Btn /V /Yes /AS /Yes /AP << /N << /Yes 9 0 R /Off 9 0 R >> >>"),
        b"<< /Type /Annot /Subtype /FreeText /Rect [120 480 300 495] /Contents (typed by hand) /DA (/F1 9 Tf) >>",
    ]
    form = placed(
        [
            Piece(name, 30, top)
            for name, top in (("Name of the boat", 55), ("Port", 75), ("Paid", 96), ("Remarks", 115))
        ],
        page_entries=b"/Annots [10 0 R 11 0 R 12 0 R 13 0 R]",
        catalog=b"/AcroForm << /Fields [10 0 R 11 0 R 12 0 R] >>",
        more=fields,
    )

    lines = [" ".join(line.split()) for line in read(form).text.replace(" | ", " ").split("\n")]
    assert lines == ["Name of the boat Mary of Selby", "Port Hull", "Paid [x]", "Remarks typed by hand"]


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
