"""The process that parses what libraries can't be bounded for: hostile files cost themselves and nothing else."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from pipeline.files import Limits, Unreadable
from pipeline.files.limits import MEGABYTE
from pipeline.ingest.sources import parser_process, read
from pipeline.ingest.sources.formats import is_bounded, parser_of
from pipeline.ingest.sources.parser_process import ParserProcess, structured
from pipeline.ingest.sources.reader import documents_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Document, Skipped
from tests.ingest.sources.hostile import HOSTILE
from tests.ingest.sources.parsers.test_pdf import pdf

SMALL = Limits(seconds=6, bytes_of_memory=400 * MEGABYTE)
BRIEF = replace(SMALL, seconds=3)
"""For what takes its parser all the time that there is: three seconds show as much as six."""
ENDLESS = "class A {}\n" + "\n".join(["A<" * 2000] * 20)
PAGE = b"<h1>Tides</h1><p>The <a href='moon.html'>moon</a> raises them.</p><table><tr><td>a</td><td>b</td></tr></table>"


@pytest.fixture(scope="module")
def process() -> Iterator[ParserProcess]:
    with ParserProcess() as process:
        yield process


def source(data: bytes, name: str = "a.html", limits: Limits = SMALL) -> Source:
    return Source(name, f"/root/{name}", data, limits)


def pid_of(process: ParserProcess) -> int:
    child = process._process._process
    assert child
    return child.pid


@pytest.mark.parametrize(
    ("name", "data"), [("html", PAGE), ("pdf", pdf("One page.\nA line.", "Another.", title="Pages"))]
)
def test_a_document_is_the_one_that_is_parsed_here(process: ParserProcess, name: str, data: bytes) -> None:
    assert process.parse(name, source(data)) == parser_of(name)(source(data))


def test_an_unreadable_file_is_told_with_its_reason_and_fix(process: ParserProcess) -> None:
    with pytest.raises(Unreadable, match="has no text") as caught:
        process.parse("html", source(b"<script>x</script>"))
    assert "leave it out" in caught.value.fix


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kinds in HOSTILE.items() for kind in kinds])
def test_a_hostile_file_is_read_or_refused_within_its_limits(process: ParserProcess, name: str, kind: str) -> None:
    data = HOSTILE[name][kind]()
    begun = time.monotonic()
    with suppress(Unreadable):
        text = process.parse(name, source(data, limits=BRIEF)).text
        assert "root:" not in text, "a file of the machine's is no part of it"
    assert time.monotonic() - begun < BRIEF.seconds + 5
    assert process.parse("html", source(PAGE)).title == "Tides", "the next file is read"


def test_ten_of_each_format_are_hostile() -> None:
    modules = (Path(parser_process.__file__).parent / "parsers").glob("*.py")
    assert HOSTILE.keys() == {path.stem for path in modules if is_bounded(path.stem)}
    assert {len(kinds) for kinds in HOSTILE.values()} == {10}


def test_the_limits_are_named_with_their_settings(process: ParserProcess) -> None:
    pages, runs = pdf(*["page"] * 12), HOSTILE["docx"]["a million empty runs"]()
    deep = HOSTILE["html"]["tables in tables"]()
    for limits, name, data, message, setting in (
        (Limits(pages=11), "pdf", pages, "has 12 pages", "sources.max_pages"),
        (Limits(seconds=0.5), "html", deep, r"takes over 0\.5 seconds", "sources.max_seconds"),
        (Limits(bytes_of_memory=50 * MEGABYTE), "docx", runs, "over 50 MB", "sources.max_memory_megabytes"),
        (Limits(bytes_unpacked=100), "docx", runs, "unpacks to", "sources.max_unpacked_megabytes"),
    ):
        with pytest.raises(Unreadable, match=message) as caught:
            process.parse(name, source(data, limits=limits))
        assert setting in caught.value.fix


def test_a_parser_that_dies_costs_its_file_alone(process: ParserProcess) -> None:
    process.parse("html", source(PAGE))
    os.kill(pid_of(process), signal.SIGSEGV)

    with pytest.raises(Unreadable, match=f"crashes its parser .*{-signal.SIGSEGV}"):
        process.parse("html", source(PAGE))
    assert process.parse("html", source(PAGE)).title == "Tides"


def test_one_bad_file_of_a_folder_is_skipped_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(PAGE)
    (tmp_path / "b.pdf").write_bytes(HOSTILE["pdf"]["a map of four billion characters"]())
    (tmp_path / "c.docx").write_bytes(HOSTILE["docx"]["unpacks to 600 megabytes"]())
    (tmp_path / "d.html").write_bytes(PAGE)
    (tmp_path / "e.md").write_text("# Moon\n\nIt raises the tides.\n")

    found = list(read([str(tmp_path)], limits=SMALL))

    assert [item.key for item in found if isinstance(item, Document)] == ["a.html", "d.html", "e.md"]
    assert sorted(Path(item.source).name for item in found if isinstance(item, Skipped)) == ["b.pdf", "c.docx"]


def test_code_that_its_parser_never_finishes_is_refused_as_a_file_and_kept_as_a_text(process: ParserProcess) -> None:
    endless = Source("Endless.java", "", ENDLESS.encode(), Limits(seconds=60))
    (document,) = documents_of([{"id": "Endless.java", "text": ENDLESS}])
    assert document.text == ENDLESS

    with pytest.raises(Unreadable, match=r"takes its parser over 5 seconds|crashes its parser"):
        process.parse("code", endless)


def test_larger_code_is_the_same_document_as_without_the_process(process: ParserProcess) -> None:
    larger = Path(__file__).read_text(encoding="utf-8") + "# A comment.\n" * 1000
    file, document = source(larger.encode(), "a.py"), Document("a.py", "", larger)

    assert process.parse("code", file) == parser_of("code")(file)
    assert process.structure(document, SMALL) == structured(document)


def test_a_read_that_is_given_up_leaves_no_process(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.html").write_bytes(PAGE)
    before = {child.pid for child in psutil.Process().children()}
    documents = read([str(tmp_path)])
    next(documents)
    begun = {child.pid for child in psutil.Process().children()} - before
    assert len(begun) == 1

    del documents

    assert not any(map(psutil.pid_exists, begun))
