"""Hits, paths, summaries and progress as people see them, also when piped."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType
from rich.progress import Progress as Display

from pipeline.answer.citations import Piece
from pipeline.answer.records import answer_of
from pipeline.cli.views.answer import show_answer
from pipeline.cli.views.hits import place, result_views
from pipeline.cli.views.output import show
from pipeline.cli.views.progress import LeftColumn, ProgressBars, ProgressLines, RateColumn, show_progress
from pipeline.cli.views.summary import summary_table
from pipeline.edges import evidence_line
from pipeline.ingest.update.changes import IngestSummary, Plan
from pipeline.progress import Progress
from pipeline.records import Skipped, Warned
from pipeline.retrieve.context import Context, Passage
from pipeline.retrieve.results import RetrieverResult, RetrieverResultItem

LEGS = {
    "vector": {"rank": 3, "score": 0.51234, "share": 0.0},
    "graph": {"rank": 1, "score": 0.21, "share": 0.75},
}
PATH = (
    {"kind": "Chunk", "name": "The refractor", "by": "", "sentence": "Judit Amsel ground its lens."},
    {"kind": "Document", "name": "Judit Amsel", "by": "LINKS_TO", "sentence": ""},
    {"kind": "Chunk", "name": "Judit Amsel", "by": "PART_OF", "sentence": "Judit Amsel lived on Skelda."},
)


def hit(**given: Any) -> RetrieverResultItem:
    found = {
        "rank": 1,
        "title": "Judit [b]Amsel[/b]",
        "heading": "Lenses > Glass",
        "document": "people/amsel.md",
        "path": "/archive/people/amsel.md",
        "line_start": 3,
        "line_end": 9,
        "legs": LEGS,
        "evidence": PATH,
        "relevance": 0.874,
        "features": {"walk": 1.5, "vector": 0.25, "fulltext": -2.0, "about_named": 3.0},
        "reasons": {"names": ["Judit Amsel"], "words": ["ground", "lenses"], "meaning": 4.2},
    }
    return RetrieverResultItem("She ground\nspectacles.", found | given)


def result(*items: RetrieverResultItem) -> RetrieverResult:
    sure = {"engine": "local", "name_confidences": {"skelda refractor": 0.934}, "graph_share": 0.61}
    return RetrieverResult(items, {"corpus": "archive", "names": ["skelda refractor"], **sure})


def text_of(*parts: RenderableType) -> str:
    console = Console(width=80, file=io.StringIO())
    console.print(*parts, sep="\n")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_an_explanation_shows_names_legs_and_path() -> None:
    text = text_of(*result_views(result(hit()), [""], explain=True))

    rows = [line.split() for line in text.splitlines()]
    assert "Names in the question: skelda refractor (93% sure)" in text
    assert "The graph decides 61% of the order" in text
    assert "speaks for it: names Judit Amsel; words ground, lenses; near in meaning" in text
    assert ["vector", "3", "0.5123"] in rows
    assert ["graph", "1", "0.21"] in rows
    path, lead = "path: The refractor —links to→ Judit Amsel", "The refractor: Judit Amsel ground its lens."
    assert [path.split(), lead.split()] == rows[-2:]
    assert "lived on Skelda" not in text


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ({}, "/archive/people/amsel.md:3-9"),
        ({"path": ""}, "people/amsel.md:3-9"),
        ({"path": "/archive/all.jsonl", "document": "q42"}, "q42 in /archive/all.jsonl"),
        ({"path": str(Path(__file__).parent / "people" / "amsel.md")}, str(Path("people", "amsel.md:3-9"))),
    ],
)
def test_a_place_is_one_that_can_be_opened(
    monkeypatch: pytest.MonkeyPatch, found: Mapping[str, str], shown: str
) -> None:
    monkeypatch.chdir(Path(__file__).parent)

    assert place(hit(**found).metadata) == shown


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        ((), "no path from a seed"),
        (({"kind": "Seed", "name": "vector and full text", "by": ""},), "found by vector and full text"),
        (PATH, "The refractor —links to→ Judit Amsel"),
        (
            (
                {"kind": "Chunk", "name": "Worm", "by": ""},
                {"kind": "Entity", "name": "Long Line", "by": "MENTIONS"},
                {"kind": "Chunk", "name": "Voyage", "by": "MENTIONS"},
                {"kind": "Chunk", "name": "Trawl", "by": "SIMILAR"},
            ),
            "Worm —mentions→ “Long Line” —is mentioned in→ Voyage —resembles→ Trawl",
        ),
        (
            (
                {"kind": "Chunk", "name": "Worm", "by": ""},
                {"kind": "Document", "name": "Worm", "by": "PART_OF"},
                {"kind": "Chunk", "name": "Museum", "by": "REFERS_TO"},
            ),
            "Worm —is named in→ Museum",
        ),
        (
            (
                {"kind": "Entity", "name": "Long Line", "by": ""},
                {"kind": "Chunk", "name": "Worm", "by": "MENTIONS"},
                {"kind": "Entity", "name": "worm", "by": "MENTIONS"},
                {"kind": "Chunk", "name": "Worm", "by": "MENTIONS"},
                {"kind": "Chunk", "name": "Museum", "by": "SIMILAR"},
            ),
            "“Long Line” —is mentioned in→ Worm —resembles→ Museum",
        ),
    ],
)
def test_a_path_reads_as_a_line(steps: tuple[Mapping[str, str], ...], line: str) -> None:
    assert evidence_line(steps) == line


def plan_of(summary: IngestSummary) -> Plan:
    return Plan(summary.corpus, (), (), (), (), 0, 0, summary.skipped, (), 0, 0, summary.warnings)


def test_a_summary_names_what_was_skipped_and_why() -> None:
    summary = IngestSummary(
        corpus="archive",
        changed=2,
        unchanged=1,
        skipped=(
            *(Skipped(f"{number}.PNG", "is binary") for number in range(218)),
            Skipped("a.md", "is empty"),
            *(Skipped(f"rows.jsonl, line {number}", "isn't JSON") for number in range(8)),
            *(Skipped(f"{number}.x{number}", f"has the suffix .x{number}, which isn't read") for number in range(25)),
            *(Skipped(f"{number}.bmp", "has the suffix .bmp, which isn't read") for number in range(4)),
            *(Skipped(f"{number}.pdf", f"isn't well-formed PDF (Error: at {number})") for number in range(9)),
            *(Skipped(f"r{number}", f"has the reason {'i' * number}") for number in range(21)),
        ),
        empty=("blank",),
        documents=3,
        chunks=7,
        entities=4,
        edges={"MENTIONS": 12, "SIMILAR": 0},
        seconds={"embed": 1.25},
        warnings=(
            *(Warned(f"{number}.pdf", "has a page without text") for number in range(9)),
            *(Warned(f"{number}.md", f"has malformed front matter (line {number}: 'x': y)") for number in range(4)),
            Warned("one.md", "has malformed front matter (line 3: 'z': y)"),
        ),
    )

    text = text_of(summary_table(summary))

    assert "3 (2 new or changed, 1 unchanged)" in text
    assert "MENTIONS 12" in text
    assert "SIMILAR" not in text
    assert "embed 1.2" in text
    assert "1 without text" in text
    assert "skipped    286 " in text
    assert "218 .png files: each is binary, as 0.PNG" in text
    assert "a.md is empty" in text
    assert "8 lines of .jsonl files: each isn't JSON, as rows.jsonl, line 0" in text
    assert "29 files: each has a suffix that isn't read, as 0.x0 (4 .bmp, 1 .x0, " in " ".join(text.split())
    assert "1 .x8, 16 other kinds)" in " ".join(text.split())
    assert "9 .pdf files: each isn't well-formed PDF, as 0.pdf" in text
    assert text.index("218 .png") < text.index("29 files")
    assert "and 6 other reasons" in text
    again = text_of(summary_table(summary, told=plan_of(summary)))
    assert "skipped    286, as before" in again
    assert "warnings   14, as before" in again
    assert "binary" not in again
    assert "9 .pdf files: each has a page without text, as 0.pdf" in text
    assert "4 .md files: each has malformed front matter ('x': y), as 0.md" in text
    assert "one.md has malformed front matter (line 3: 'z': y)" in text


def test_progress_without_a_terminal_is_a_line_a_stage_of_each_part(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress() as progress:
        for part in (progress, progress, progress.of("my notes")):
            with part.stage("embed") as done:
                done(2)
        with progress.stage("link"):
            pass

    assert [re.sub(r" ?(in )?\d+\.\d s.*", "", line) for line in capsys.readouterr().err.splitlines()] == [
        "embed: 2 chunks",
        "embed: 2 chunks",
        "embed: my notes: 2 chunks",
        "link:",
    ]
    assert list(progress.seconds) == ["embed", "link"]


def test_bars_go_on_where_they_were_and_show_a_rate() -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=80)
    clock = count()
    with Display(RateColumn(), console=screen, get_time=lambda: next(clock)) as display:
        progress = Progress(ProgressBars(display))
        for _ in range(2):
            with progress.stage("embed") as done:
                for _ in range(3):
                    done(100)

        (task,) = display.tasks
        assert task.finished
        assert task.completed == 600
        assert str(RateColumn().render(task)).endswith(" chunks/s")


def test_bars_of_many_parts_make_room_for_those_that_follow() -> None:
    with Display(console=Console(file=io.StringIO())) as display:
        progress = Progress(ProgressBars(display))
        with progress.stage("index"):
            for part in range(50):
                with progress.of(str(part)).stage("embed") as done:
                    done(1)

        shown = [task.description for task in display.tasks]
    assert shown[0] == "index"
    assert shown[-1] == "embed: 49"
    assert len(shown) < 20


def test_a_long_stage_prints_how_far_it_is_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 4.0, 100.0, 104.0, 200.0, 201.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    lines = ProgressLines()
    lines.begin("embed", 1_200)
    for _ in range(4):
        lines.advance("embed", 200)
    lines.end("embed")

    assert capsys.readouterr().err.splitlines() == [
        "embed: 400 of 1,200 chunks, 3 min 20 s left",
        "embed: 800 of 1,200 chunks, 1 min 40 s left",
        "embed: 800 chunks in 201.0 s (4.0/s)",
    ]


def test_a_bar_shows_the_time_that_is_left() -> None:
    clock = count(0, 2)
    with Display(LeftColumn(), console=Console(file=io.StringIO()), get_time=lambda: float(next(clock))) as display:
        bars = ProgressBars(display)
        bars.begin("embed", 100)
        for _ in range(5):
            bars.advance("embed", 10)

        (task,) = display.tasks
        assert (task.completed, task.total) == (50, 100)
        assert re.fullmatch(r"\d+ s left", str(LeftColumn().render(task)))
        bars.end("embed")
        assert str(LeftColumn().render(task)) == ""


def test_json_without_a_terminal_has_no_progress_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress(quiet=True) as progress, progress.stage("embed", 2) as done:
        done(2)

    assert capsys.readouterr().err == ""


def test_what_is_printed_below_bars_reaches_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, file = io.StringIO(), io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", file)
    with show_progress() as progress, progress.stage("read"):
        show("the plan")

    assert file.getvalue() == "the plan\n"
    assert "0/?" not in terminal.getvalue()


def test_an_answer_is_printed_as_it_is_written_then_what_it_cites(capsys: pytest.CaptureFixture[str]) -> None:
    ada = Passage("Ada met him.", "ada.md", "[b]Ada", "Life", "ada.md:1-3", "/books/ada.md", 1, 3, 1, ("c1",))
    context = Context("Who?", (ada, ada), 1234, 2000, 0, {"relevance": 0.9})
    pieces = [Piece("Ada \x1b[31m[bold]"), Piece("[1]", 1), Piece("\x1b]0;x\x07, "), Piece("[9?]", 9, known=False)]

    show_answer(iter([context, *pieces, answer_of(context, "m[/b]", pieces, answered=True)]), "m[/b]", 0.06)

    shown = capsys.readouterr()
    assert shown.out == (
        "Ada [31m[bold][1]]0;x, [9?]\n\n[1] [b]Ada > Life  /books/ada.md:1-3\n\n"
        "1 of 2 passages cited; 1,234 tokens of context; m[/b]\n"
    )
    assert shown.err == "hoprank: The answer cites what isn't in the context: [9?].\n"
