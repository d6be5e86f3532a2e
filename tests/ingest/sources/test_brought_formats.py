"""Formats that installed packages bring: the example of the page, broken ones, and what they can't do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from pipeline.docs import read_page
from pipeline.errors import SourceError
from pipeline.files.limits import Limits
from pipeline.ingest.sources import formats, read
from pipeline.ingest.sources.reader import document_of
from pipeline.records import Document, Skipped

Install = Callable[[str, Mapping[str, str]], None]

SECTION = read_page("ingest").text.partition("## Your own format")[2].partition("\n## ")[0]
(READER,) = re.findall(r"```python\n(.*?)```", SECTION, flags=re.DOTALL)
(ENTRY,) = re.findall(r"^(\w+) = \"(.+)\"$", SECTION, flags=re.MULTILINE)
EVENT = b"BEGIN:VEVENT\nSUMMARY:The drum\nDESCRIPTION:It is changed on Mondays.\nEND:VEVENT\n"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a package of a module and the readers in it, by suffix."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    formats._brought.cache_clear()

    def write(code: str, readers: Mapping[str, str], name: str = "events") -> None:
        (site / f"{name}.py").write_text(code, encoding="utf-8")
        metadata = site / f"hoprank_{name}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: hoprank-{name}\nVersion: 1.0\n")
        lines = [f"{suffix} = {target}" for suffix, target in readers.items()]
        (metadata / "entry_points.txt").write_text("\n".join(["[hoprank.formats]", *lines, ""]))

    yield write
    formats._brought.cache_clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an event and a text."""
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.ics").write_bytes(EVENT)
    (folder / "b.txt").write_text("The owl hunts mice.\n")
    return folder


def test_the_example_of_the_page_reads_events(install: Install, folder: Path) -> None:
    install(READER, dict([ENTRY]))
    (folder / "c.ICS").write_bytes(EVENT)

    event, text, other = (item for item in read([str(folder)]) if isinstance(item, Document))

    assert (event.key, event.title, event.path) == ("a.ics", "The drum", (folder / "a.ics").as_posix())
    assert "It is changed on Mondays." in event.text
    assert (text.key, other.key) == ("b.txt", "c.ICS")
    assert document_of("sent.ics", EVENT).title == "The drum"


def test_without_the_package_the_suffix_is_refused_and_with_it_is_named(install: Install, folder: Path) -> None:
    with pytest.raises(SourceError, match=r"has the suffix \.ics, which isn't read"):
        list(read([str(folder / "a.ics")]))
    formats._brought.cache_clear()
    install(READER, dict([ENTRY]))

    (folder / "a.xyz").write_text("x")
    with pytest.raises(SourceError, match=r"\.jsonl .* \.ics"):
        list(read([str(folder / "a.xyz")]))


BEYOND = """
from pipeline.records import Block, BlockKind, Document
def parse(source):
    return Document('other', 'T', 'text', (Block(BlockKind.PARAGRAPH, 0, 99),))
"""
BROKEN = {
    "no module": ("", {"ics": "no_such_module:parse"}, "ModuleNotFoundError: No module named 'no_such_module'"),
    "no function": ("", {"ics": "events:parse"}, "AttributeError: .*'parse'"),
    "raises": (
        "def parse(source):\n    1 / 0\n",
        {"ics": "events:parse"},
        "ZeroDivisionError: division by zero",
    ),
    "exits": ("import sys\ndef parse(source):\n    sys.exit(3)\n", {"ics": "events:parse"}, "SystemExit: 3"),
    "nothing": ("def parse(source):\n    pass\n", {"ics": "events:parse"}, "AttributeError: 'NoneType'"),
    "surrogates": (
        "def parse(source):\n    return '\\ud800'\n",
        {"ics": "events:parse"},
        "UnicodeEncodeError",
    ),
    "blocks beyond": (
        BEYOND,
        {"ics": "events:parse"},
        "ValueError: its blocks overlap, or reach beyond its text",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_reader_costs_its_files_alone_and_is_named(install: Install, folder: Path, kind: str) -> None:
    code, readers, said = BROKEN[kind]
    install(code, readers)

    skipped, text = read([str(folder)])

    assert isinstance(skipped, Skipped)
    assert re.match(rf"can't be read by the package hoprank-events \({said}", skipped.reason)
    assert isinstance(text, Document)
    with pytest.raises(SourceError, match="pip uninstall hoprank-events"):
        list(read([str(folder / "a.ics")]))


def test_a_reader_without_end_is_ended(install: Install, folder: Path) -> None:
    install("def parse(source):\n    while True: pass\n", {"ics": "events:parse"})

    skipped, text = read([str(folder)], limits=Limits(seconds=1))

    assert isinstance(skipped, Skipped)
    assert "takes over 1 seconds to read" in skipped.reason
    assert isinstance(text, Document)


def test_the_suffixes_of_hoprank_stay_its_own(install: Install, folder: Path) -> None:
    install("def parse(source):\n    return 'taken'\n", {"txt": "events:parse", "py": "events:parse"})
    (folder / "c.py").write_text("def tide():\n    pass\n")

    assert not [item for item in read([str(folder / "b.txt"), str(folder / "c.py")]) if "taken" in str(item)]


def test_a_document_is_taken_as_it_is_but_for_its_key(install: Install, folder: Path) -> None:
    code = (
        "from pipeline.records import Block, BlockKind, Document\n"
        "def parse(source):\n"
        "    return Document('other', 'Told', 'text', (Block(BlockKind.PARAGRAPH, 0, 4),), metadata={'a': 1})\n"
    )
    install(code, {"ics": "events:parse"})

    (document,) = read([str(folder / "a.ics")])

    assert isinstance(document, Document)
    assert (document.key, document.title, document.metadata) == ("a.ics", "Told", {"a": 1})
