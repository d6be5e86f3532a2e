"""The reading order of PDFs: columns, headings over them, tables, notes, turned pages, scripts that run to the left."""

from __future__ import annotations

import pytest

from pipeline.ingest.sources.parsers.pdf import parse
from pipeline.ingest.sources.source import Source
from pipeline.records import BlockKind, Document
from tests.ingest.sources.parsers.pdfs import Piece, across, column, placed

BOATS = [
    "The keeper of the harbour at",
    "Selby painted all four boats",
    "before the ice came, and he",
    "wrote the colours in a book",
    "that nobody has ever found.",
]
BELLS = [
    "A bell was hung at the north",
    "gate for nights of fog, and",
    "was rung by hand until they",
    "bought an engine for it in",
    "the year of the long frost.",
]
ROPES = [
    "Ropes were made in the shed",
    "behind the chapel, which is",
    "so long that the two ropers",
    "at its ends had never yet",
    "been introduced formally.",
]


def read(data: bytes) -> Document:
    return parse(Source("a-paper.pdf", "/root/a-paper.pdf", data))


def words(data: bytes) -> str:
    return " ".join(read(data).text.split())


def prose(*columns: list[str]) -> str:
    return " ".join(line for lines in columns for line in lines)


def test_columns_that_are_drawn_line_by_line_are_read_one_after_the_other() -> None:
    two = placed(across(column(BOATS, 30, 50), column(BELLS, 190, 50)))
    three = placed(across(column(BOATS, 10, 50, 8), column(BELLS, 135, 50, 8), column(ROPES, 260, 50, 8)))

    assert words(two) == prose(BOATS, BELLS)
    assert words(three) == prose(BOATS, BELLS, ROPES)


def test_columns_whose_lines_are_not_level_are_columns() -> None:
    assert words(placed(across(column(BOATS, 30, 50), column(BELLS, 190, 56)))) == prose(BOATS, BELLS)


def test_a_heading_over_all_columns_divides_them() -> None:
    above = across(column(BOATS, 30, 90), column(BELLS, 190, 90))
    below = across(column(ROPES, 30, 210), column(BOATS, 190, 210))
    headings = [Piece("Of boats, and of bells", 90, 60, 18), Piece("Of ropes, and of boats", 90, 180, 18)]

    assert words(placed([*above, *below, *headings])) == " ".join(
        ["Of boats, and of bells", prose(BOATS, BELLS), "Of ropes, and of boats", prose(ROPES, BOATS)]
    )


def test_a_table_between_columns_is_read_row_by_row() -> None:
    cells = [["Harbour", "Boats", "Depth"], ["Selby", "12", "3 fathoms"], ["Long Quay", "4", "7 fathoms"]]
    table = [
        Piece(cell, left, 140 + 16 * row)
        for left, row, cell in (
            (30 + 120 * at, row, cell) for row, line in enumerate(cells) for at, cell in enumerate(line)
        )
    ]
    above = across(column(BOATS, 30, 50), column(BELLS, 190, 50))
    below = across(column(ROPES, 30, 220), column(BELLS, 190, 220))

    found = read(placed([*above, *below, *sorted(table, key=lambda piece: piece.left)]))

    rows = "Harbour | Boats | Depth\nSelby | 12 | 3 fathoms\nLong Quay | 4 | 7 fathoms"
    assert [found.text[block.start : block.end] for block in found.blocks if block.kind is BlockKind.TABLE] == [rows]
    assert found.text.split(rows)[0].split() == prose(BOATS, BELLS).split()
    assert found.text.split(rows)[1].split() == prose(ROPES, BELLS).split()


def test_the_lines_of_a_cell_are_of_one_row() -> None:
    table = [
        *column(["Place", "", "North mole", "", "", "South mole"], 30, 50),
        *column(["What was seen", "", "Two herons on the", "rail, and a third", "", "Nothing"], 130, 50),
        *column(["What was done", "", "They were counted", "twice by the clerk", "", "It was written down"], 260, 50),
    ]

    assert read(placed(across([piece for piece in table if piece.text]))).text.split("\n") == [
        "Place | What was seen | What was done",
        "North mole | Two herons on the rail, and a third | They were counted twice by the clerk",
        "South mole | Nothing | It was written down",
    ]


def test_notes_at_the_foot_of_a_column_follow_the_text_of_all_columns() -> None:
    notes = column(["1 The book was blue."], 30, 125, 7)

    assert words(placed([*column(BOATS, 30, 50), *notes, *column(BELLS, 190, 50)])) == (
        f"{prose(BOATS, BELLS)} 1 The book was blue."
    )


def test_the_number_of_a_note_is_no_part_of_the_word_before_it() -> None:
    assert words(placed([Piece("in the harbour", 30, 50), Piece("3", 94.5, 46, 6), Piece("they lay", 106, 50)])) == (
        "in the harbour 3 they lay"
    )


def test_bullets_and_numbers_are_no_column() -> None:
    marks = column(["1.", "2.", "(c)", "•", "[5]"], 30, 50)

    assert read(placed(across(marks, column(BOATS, 60, 50)))).text.split("\n") == [
        f"{mark.text} {line}" for mark, line in zip(marks, BOATS, strict=True)
    ]


def test_lines_that_run_upwards_are_read_as_such_and_after_those_that_do_not() -> None:
    upwards = [Piece(line, 300 + 12 * number, 400, degrees=90) for number, line in enumerate(BELLS)]

    assert words(placed(column(BOATS, 30, 50), upwards)) == prose(BOATS, BELLS)
    assert words(placed([*upwards, *column([*BOATS, *ROPES], 30, 50)])) == prose(BOATS, ROPES, BELLS)
    assert words(placed(upwards, page_entries=b"/Rotate 90")) == prose(BELLS)


@pytest.mark.parametrize(("degrees", "right", "down"), [(0, 1, 0), (90, 0, -1), (270, 0, 1)])
def test_kerned_letters_are_of_one_word_however_their_line_is_turned(degrees: int, right: int, down: int) -> None:
    def piece(text: str, at: float) -> Piece:
        return Piece(text, 200 + right * at, 300 + down * at, 10, degrees)

    assert words(placed([piece("stor", 0), piece("m", 16.9), piece("tide", 30)])) == "storm tide"


def test_a_watermark_over_the_text_is_a_line_of_its_own() -> None:
    assert (
        words(placed([*column(BOATS, 30, 50), Piece("First draft", 60, 120, 30, 40)])) == f"{prose(BOATS)} First draft"
    )


def test_a_script_that_runs_to_the_left_is_in_the_order_of_its_readers() -> None:
    lines = ["הנמל הישן שכן בצפון", "והאוניות באו בבוקר"]
    letters = "".join(sorted(set("".join(lines))))
    right = column([line[::-1] for line in lines], 200, 50)

    assert read(placed(right, characters=letters)).text.split("\n") == lines


def test_columns_of_a_script_without_spaces_are_read_one_after_the_other() -> None:
    first, second = (
        ["港の管理人は四月に二隻の", "船を買った。船は夏の前に", "到着する予定である。"],
        ["博物館は古い船を保管し、", "冬ごとに修理している。", "日曜日には乗ることも可。"],
    )
    letters = "".join(sorted(set("".join([*first, *second]))))

    found = read(placed(across(column(first, 30, 50), column(second, 200, 50)), characters=letters, width=1000))

    assert "".join(found.text.split()) == "".join([*first, *second])


def test_columns_of_such_a_script_begin_at_the_right() -> None:
    first = ["הנמל הישן שכן בצפון", "והאוניות באו בבוקר", "ועזבו אותו בערב אחד"]
    second = ["השומר מצא אונייה אחת", "ליד הרציף השני בנמל", "וכתב עליה ספר ארוך"]
    letters = "".join(sorted(set("".join([*first, *second]))))
    both = across(column([line[::-1] for line in first], 240, 50), column([line[::-1] for line in second], 60, 50))

    assert words(placed(both, characters=letters)) == prose(first, second)


def test_a_cell_that_nearly_reaches_the_next_is_of_its_table() -> None:
    rows = [
        [Piece(text, left, 50 + top) for text, left in zip(cells, (30, 160, 220, 300), strict=True) if text]
        for top, cells in (
            (0, ("Item", "Count", "Price", "Sum")),
            (18, ("Rope", "30 m", "1.20", "36.00")),
            (36, ("A lantern in brass with a w", "", "", "")),
            (48, ("ick to trim", "1", "75.00", "75.00")),
        )
    ]

    found = read(placed([piece for row in rows for piece in row]))

    assert found.text.split("\n")[-1] == "A lantern in brass with a w ick to trim | 1 | 75.00 | 75.00"
