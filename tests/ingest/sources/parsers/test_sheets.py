"""Sheets of CSV files and workbooks: their separators, headers, parts and values."""

from __future__ import annotations

import io
import zipfile

import pytest

from pipeline.files import Unreadable
from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Document
from tests.ingest.sources.hostile import relations, workbook, zipped


def parsed(name: str, data: bytes | str, key: str = "harbour-fees.x") -> Document:
    return parser_of(name)(Source(key, f"/root/{key}", data if isinstance(data, bytes) else data.encode()))


def blocks(found: Document) -> list[tuple[str, str]]:
    return [(block.kind.value, found.text[block.start : block.end]) for block in found.blocks]


def test_a_row_of_csv_says_the_names_of_its_columns() -> None:
    found = parsed("csv", 'harbour,fee,note\nOldwick,40,"by day,\nor night"\nSkerrow,,x,more\n')

    assert found.title == "harbour fees"
    assert blocks(found) == [
        (
            "table",
            (
                "harbour | fee | note\n"
                "harbour: Oldwick | fee: 40 | note: by day, or night\n"
                "harbour: Skerrow | note: x | more"
            ),
        )
    ]


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("harbour;fee\nOldwick;1,5\n", "harbour: Oldwick | fee: 1,5"),
        ("sep=;\nharbour;fee\nOldwick;40\n", "harbour: Oldwick | fee: 40"),
        ("\ufeffharbour\tfee\r\nOldwick, old\t40\r\n", "harbour: Oldwick, old | fee: 40"),
        ("harbour|fee\nOldwick|40\n", "harbour: Oldwick | fee: 40"),
        ('harbour, note\nOldwick, "by day, or night"\n', "harbour: Oldwick | note: by day, or night"),
        (",2023,2024\nOldwick,40,41\n", "Oldwick | 2023: 40 | 2024: 41"),
        ("1,2\n3,4\n", "3 | 4"),
        ("Harbour:,Oldwick\nFee:,40\n", "Fee: | 40"),
    ],
)
def test_separators_and_headers_are_found(text: str, second: str) -> None:
    (block,) = blocks(parsed("csv", text))

    assert block[1].split("\n")[1] == second


def test_a_file_of_excel_is_read_in_its_encoding() -> None:
    assert "Gebühr: 40 €" in parsed("csv", "Hafen;Gebühr\nOldwick;40 €\n".encode("cp1252")).text


def test_a_single_column_may_hold_commas() -> None:
    assert parsed("csv", "Oldwick\nSkerrow, by the sea\nBramble\n").text == "Oldwick\n\nSkerrow, by the sea\n\nBramble"


def test_a_header_may_be_longer_than_what_tells_the_separator() -> None:
    header = ",".join(f"a column of the {number}th harbour" for number in range(500))

    text = parsed("csv", f"{header}\n{'1,' * 499}1\n" * 2).text

    assert "| a column of the 7th harbour: 1 |" in text


def test_the_names_of_columns_take_no_more_than_a_few_times_the_cells() -> None:
    header = ",".join(f"{number:099d}" + "n" for number in range(1_000))
    data = f"{header}\n" + f"{'1,' * 1_000}\n" * 200

    text = parsed("csv", data).text

    assert header.replace(",", " | ") in text, "the header stands whole once"
    assert " | 00000000: 1 | " in text, "the names are shortened evenly"
    assert len(text) < 8 * len(data)


def test_the_names_in_a_small_sheet_are_whole() -> None:
    question = "How satisfied are you with the opening hours of the harbour office on working days?"

    assert (
        parsed("csv", f"{question},Why?\n" + "5,it rains\n" * 900).text.count(f"{question}: 5 | Why?: it rains") == 900
    )


def test_only_tabs_separate_the_cells_of_tsv() -> None:
    assert parsed("csv", "a,b\tc\n1,5\t2\n3,5\t4\n", key="a.tsv").text.split("\n")[1:] == [
        "a,b: 1,5 | c: 2",
        "a,b: 3,5 | c: 4",
    ]


def test_empty_rows_part_tables_and_a_title_stands_above() -> None:
    rows = ["Fees of 2024", "", "harbour,fee", "Oldwick,40", "", "Skerrow,50", "", "boat,berth", "Anna,7", "Bea,8"]

    assert blocks(parsed("csv", "\n".join(rows))) == [
        ("paragraph", "Fees of 2024"),
        ("table", "harbour | fee\nharbour: Oldwick | fee: 40"),
        ("table", "harbour: Skerrow | fee: 50"),
        ("table", "boat | berth\nboat: Anna | berth: 7\nboat: Bea | berth: 8"),
    ]


def test_a_title_or_a_comment_may_stand_right_above_two_columns() -> None:
    rows = ["# made in May", "Fees of 2024", "harbour,fee", "Oldwick,40", "Skerrow,"]

    assert blocks(parsed("csv", "\n".join(rows))) == [
        ("paragraph", "# made in May"),
        ("paragraph", "Fees of 2024"),
        ("table", "harbour | fee\nharbour: Oldwick | fee: 40\nharbour: Skerrow"),
    ]
    assert parsed("csv", ",2024\nOldwick,40\n").text == "2024\nOldwick | 2024: 40"


@pytest.mark.parametrize("text", [" \n,,\n", "\n\n"])
def test_csv_without_words_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable, match=r"has no text|is empty"):
        parsed("csv", text)


def cell(place: str, value: str, kind: str = "str") -> str:
    return f'<c r="{place}" t="{kind}"><v>{value}</v></c>'


def test_a_sheet_is_a_section_and_numbers_are_as_they_are_shown() -> None:
    rows = f'<row r="3">{cell("B3", "harbour")}{cell("C3", "0", "s")}{cell("D3", "open")}</row>'
    rows += f'<row r="4">{cell("B4", "Oldwick")}{cell("C4", "40.0", "n")}{cell("D4", "1", "b")}</row>'
    rows += f'<row r="5">{cell("C5", "0.1", "n")}{cell("D5", "2024-05-01T00:00:00", "d")}</row>'
    merged = "</sheetData><mergeCells><mergeCell ref='B4:B5'/></mergeCells><sheetData>"

    found = parsed("xlsx", workbook(rows + merged, strings="<si><r><t>fe</t></r><r><t>e</t></r></si>"))

    assert found.title == "harbour fees"
    assert blocks(found) == [
        ("heading", "Fees"),
        (
            "table",
            (
                "harbour | fee | open\n"
                "harbour: Oldwick | fee: 40 | open: TRUE\n"
                "harbour: Oldwick | fee: 0.1 | open: 2024-05-01"
            ),
        ),
    ]


def test_boxes_and_titles_of_charts_follow_the_rows_of_their_sheet() -> None:
    with zipfile.ZipFile(io.BytesIO(workbook(f'<row r="1">{cell("A1", "harbour")}</row>'))) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    words = "<a:p><a:r><a:t>{}</a:t></a:r></a:p>"
    parts |= {
        "xl/worksheets/_rels/sheet1.xml.rels": relations(("drawing", "../drawings/a.xml"), ("comments", "../b.xml")),
        "xl/drawings/a.xml": f'<x xmlns:a="a">{words.format("Pay at the gate")}{words.format("by noon")}</x>',
        "xl/drawings/_rels/a.xml.rels": relations(("chart", "../charts/c.xml"), ("chart", "../charts/c.xml")),
        "xl/charts/c.xml": f'<x xmlns:a="a"><title>{words.format("Fees by year")}</title></x>',
    }

    assert parsed("xlsx", zipped(parts)).text == "Fees\n\nharbour\n\nPay at the gate\n\nby noon\n\nFees by year"


def test_a_hidden_sheet_is_left_out_and_named() -> None:
    rows = f'<row r="1">{cell("A1", "shown")}</row>'

    found = parsed("xlsx", workbook(rows, sheets={"Fees": "visible", "Draft": "hidden"}))

    assert found.text == "Fees\n\nshown"
    assert found.warnings == ("has the hidden sheet Draft, which isn't read",)


@pytest.mark.parametrize(
    ("data", "reason"), [(b"PK\x03\x04", "isn't well-formed workbook"), (workbook(""), "has no text")]
)
def test_what_is_no_workbook_is_unreadable(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        parsed("xlsx", data)
