"""Files and folders that take their place as a whole; and all that HopRank writes takes its place so."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.evaluate.report import write_text
from pipeline.knowledge import KnowledgeNode
from pipeline.knowledge.exchange import Format, write_graph
from pipeline.knowledge.records import GraphSize
from pipeline.knowledge.store.memory import MemoryStore
from pipeline.knowledge.view import write_page
from pipeline.temporary import replacing
from pipeline.transfer.formats import Format as CorpusFormat
from pipeline.transfer.formats import Part
from pipeline.transfer.portable import export

NODES = [KnowledgeNode("a", "thing")]
WRITERS = [
    lambda path: write_text("text", path),
    lambda path: write_graph("g", NODES, [], path, Format.JSON),
    lambda path: write_page(MemoryStore("g", NODES, []), GraphSize(1, 0), path),
    lambda path: export([Part("corpus", {"name": "c"})], path, CorpusFormat.JSONL, lambda _: None),
]


def test_nobody_sees_a_part(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")

    with replacing(path) as partial:
        partial.write_text("after")
        assert path.read_text() == "before"

    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "file"
    path.write_text("before")

    def write() -> None:
        with replacing(path) as partial:
            partial.write_text("half")
            raise error

    with pytest.raises(error):
        write()

    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_files_of_a_folder_replace_those_of_the_same_names(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "kept").write_text("kept")
    (folder / "one").write_text("before")

    with replacing(folder) as partial:
        partial.mkdir()
        (partial / "one").write_text("after")

    assert {file.name: file.read_text() for file in folder.iterdir()} == {"kept": "kept", "one": "after"}
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("write", WRITERS)
def test_every_writer_keeps_a_link_and_the_file_before_an_error(tmp_path: Path, write: Callable[[Path], None]) -> None:
    (tmp_path / "target").write_text("before")
    link = tmp_path / "link"
    link.symlink_to("target")

    write(link)

    assert link.is_symlink()
    assert (tmp_path / "target").read_text() != "before"
    assert {path.name for path in tmp_path.iterdir()} == {"link", "target"}


@pytest.mark.parametrize("write", WRITERS)
def test_every_writer_writes_to_a_pipe(tmp_path: Path, write: Callable[[Path], None]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()

    write(pipe)

    reader.join(10)
    assert read != [""]
    assert read
    assert pipe.is_fifo()
