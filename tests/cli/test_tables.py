"""Tables and grids: numbers at the right, names whole, texts cut between words, nothing wider than the terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from pipeline.cli.views.evaluation import breakdown_table
from pipeline.cli.views.output import show
from pipeline.cli.views.tables import Brief, captioned, plain_table, property_grid
from pipeline.evaluate.datasets import Dataset
from pipeline.evaluate.measures import MEASURES
from pipeline.evaluate.report import Group, Report, Run

TEXT = "Compute tide tables for a harbour from the readings of its gauges"
PATH = "harbour/of/a/town/that/is/far/from/any/other/one/the-tables-of-the-year.md"


def lines_of(shown: RenderableType, width: int = 40) -> list[str]:
    console = Console(width=width, file=io.StringIO())
    console.print(shown)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_numbers_stand_at_the_right_and_a_column_without_text_is_left_out() -> None:
    rows = [("bm25", "1,200", "", "b2"), ("walk", "7.5%", "", "3")]

    assert lines_of(plain_table("leg", "score", "since", "id", rows=rows)) == [
        "leg    score   id",
        "─────────────────",
        "bm25   1,200   b2",
        "walk    7.5%   3",
    ]


def test_ids_are_whole_while_texts_can_be_folded() -> None:
    rows = [("default|library|tide-tables", TEXT, "0.50"), ("b", "", "12")]

    lines = lines_of(plain_table("entity", "about", "weight", rows=rows), 60)

    assert max(map(len, lines)) <= 60
    assert lines[2].split()[0] == "default|library|tide-tables"
    assert lines[2].endswith("0.50")


def test_an_id_that_has_no_room_is_folded() -> None:
    lines = lines_of(plain_table("path", "about", rows=[(PATH, TEXT)]))

    assert max(map(len, lines)) <= 40
    assert "".join(line[:20].strip() for line in lines[2:]).startswith(PATH[:30])


def test_a_table_without_rows_keeps_its_headings() -> None:
    assert lines_of(plain_table("leg", "score", rows=[]))[0] == "leg   score"


@pytest.mark.parametrize("width", [40, 60])
def test_a_brief_text_takes_one_line_and_ends_between_words(width: int) -> None:
    *_, line = lines_of(plain_table("skill", "for", rows=[("tide-tables", Brief(TEXT))]), width)

    assert len(line) <= width
    assert line.endswith("…")
    assert f"{TEXT} ".startswith(line.partition("   ")[2].rstrip("…") + " ")


def test_a_brief_text_with_room_is_whole() -> None:
    assert lines_of(plain_table("skill", "for", rows=[("a", Brief(TEXT))]), 100)[-1] == f"a       {TEXT}"


def test_a_commit_is_named_by_its_first_digits() -> None:
    rows = [("commit 3f2a9c0d1e2b3c4d5e6f708192a3b4c5d6e7f809",)]

    assert lines_of(plain_table("evidence", rows=rows))[-1] == "commit 3f2a9c0d1e"


def test_a_path_in_a_grid_is_folded_not_cut() -> None:
    lines = lines_of(property_grid([("orphans", PATH)]))

    assert "".join(line.removeprefix("orphans").strip() for line in lines) == PATH


def test_a_caption_is_as_wide_as_its_screen() -> None:
    caption = "In percent of 7 questions."

    assert lines_of(captioned(plain_table("leg", rows=[("a",)]), caption))[-1] == caption


def test_a_pipe_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for columns, widest in (("80", 80), ("120", 100), ("", 100)):
        monkeypatch.setenv("COLUMNS", columns)
        show(" ".join(["word"] * 60))

        assert widest - 5 < max(map(len, capsys.readouterr().out.splitlines())) <= widest


HALF = dict.fromkeys(MEASURES, 0.5)


def test_where_the_graph_leads_fits_the_terminal() -> None:
    groups = (Group("type", "bridge-comparison", 1234, {"hybrid": HALF, "hoprank": HALF}),)
    lines = lines_of(breakdown_table(Report(Dataset("songs", ()), Run("c", 1, 1.0, "0", {}), (), groups)), 80)

    assert lines[1].split() == ["hybrid", "hoprank"] * 3
    assert lines[2].split() == ["questions", "number", "R@5", "R@5", "R@10", "R@10", "nDCG@10", "nDCG@10"]
    assert lines[4].split()[:3] == ["type:", "bridge-comparison", "1,234"]
