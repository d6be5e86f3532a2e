"""Documents a line: what a line may hold, and how a bad one is named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import SourceError
from pipeline.files.limits import Limits
from pipeline.ingest.sources import read
from pipeline.records import Document, Skipped


def write(folder: Path, *rows: Mapping[str, Any] | str, name: str = "corpus.jsonl") -> str:
    path = folder / name
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def documents(*paths: str) -> list[Document]:
    return [item for item in read(list(paths)) if isinstance(item, Document)]


def test_a_line_is_a_document(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {
            "id": "a",
            "title": "A",
            "text": "One.\n\nTwo.",
            "metadata": {"year": 2024, "by": {"name": "Ada"}},
            "lang": "en",
        },
        "",
        {"id": 7, "text": ""},
        {"id": 1.5, "title": None, "text": "x", "metadata": None},
    )

    one, two, three = documents(path)

    assert (one.key, one.title, one.path) == ("a", "A", path)
    assert [one.text[block.start : block.end] for block in one.blocks] == ["One.", "Two."]
    assert one.metadata == {"lang": "en", "year": 2024, "by.name": "Ada"}
    assert (two.key, two.title, two.text, two.blocks) == ("7", "", "", ())
    assert three.key == "1.5"


def test_a_chunk_has_its_own_metadata_by_the_rules_of_a_document(tmp_path: Path) -> None:
    given = {
        "text": "x",
        "page": 2,
        "embedding": [1.0],
        "metadata": {"by": {"name": "Ada"}, "no": None, "mixed": [1, "a"]},
    }
    path = write(tmp_path, {"id": "a", "metadata": {"year": 1}, "chunks": [given, {"text": "y"}]})

    (document,) = documents(path)

    assert document.metadata == {"year": 1}
    assert [chunk.metadata for chunk in document.prechunked] == [
        {"page": 2, "by.name": "Ada", "mixed": '[1, "a"]'},
        {},
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "isn't JSON"),
        ("[1]", "isn't a JSON object"),
        ('{"text": "x"}', "has no id"),
        ('{"id": null, "text": "x"}', "has no id"),
        ('{"id": true, "text": "x"}', "has an id that isn't"),
        ('{"id": " ", "text": "x"}', "has an id that isn't"),
        ('{"id": ["a"], "text": "x"}', "has an id that isn't"),
        ('{"id": "b"}', "has no text"),
        ('{"id": "b", "text": 3}', "has a text that isn't a string"),
        ('{"id": "b", "text": "x", "metadata": [1]}', "has metadata that isn't an object"),
        ('{"id": "b", "chunks": [{"text": "x", "metadata": [1]}]}', "has a chunk with metadata that isn't an object"),
        ('{"id": "b", "chunks": [{"text": "x", "m": ' + "[" * 600 + "]" * 600 + "}]}", "nested too deeply"),
        ("[" * 100_000, "is nested too deeply"),
        ('{"id": "b", "text": "x", "m": ' + "[" * 600 + "]" * 600 + "}", "nested too deeply"),
        ('{"id": ' + "1" * 5000 + ', "text": "x"}', "isn't JSON"),
    ],
)
def test_a_bad_line_is_an_error_that_names_it_before_anything_is_read(tmp_path: Path, line: str, problem: str) -> None:
    path = write(tmp_path, {"id": "a", "text": "fine"}, "", line)

    with pytest.raises(SourceError, match=problem) as caught:
        read([path])
    assert f"{path}, line 3 " in caught.value.message
    assert caught.value.fix


def test_a_bad_line_in_a_folder_is_left_out_and_the_others_are_read(tmp_path: Path) -> None:
    path = write(
        tmp_path, "nonsense", {"id": "a", "text": "x"}, {"id": "b"}, {"id": "a", "text": "y"}, {"id": "c", "text": "z"}
    )
    (tmp_path / "note.md").write_text("A note.")

    found = list(read([str(tmp_path)]))

    assert [(one.key, one.text) for one in found if isinstance(one, Document)] == [
        ("a", "x"),
        ("c", "z"),
        ("note.md", "A note."),
    ]
    skipped = [one for one in found if isinstance(one, Skipped)]
    assert [one.source for one in skipped] == [f"{path}, line {number}" for number in (1, 3, 4)]
    assert [one.reason.split(":")[0] for one in skipped] == ["isn't JSON", "has no text", "gives the id 'a' again"]
    with pytest.raises(SourceError, match=r"corpus.jsonl, line 1 isn't JSON"):
        read([str(tmp_path)], strict=True)


def test_of_many_bad_lines_the_first_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": "a", "text": "x"}, *["nonsense"] * 250)

    skipped = [one for one in read([str(tmp_path)]) if isinstance(one, Skipped)]

    assert len(skipped) == 101
    assert skipped[-1] == Skipped(path, "has 150 more lines that can't be read")


def test_a_file_of_something_else_is_left_out_of_a_folder(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": "q1", "question": "why?"}, name="queries.jsonl")

    assert list(read([str(tmp_path)])) == [Skipped(path, "holds no documents (line 1 has no text)")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            b'{"id": "1", "text": "x"}\n{"id": "2", "text": "x"}\n{"id": 1, "text": "y"}',
            "'1' on line 1 and again on line 3",
        ),
        (b'{"id": "a", "text": "x"}\n{"id": "b", "text": "na\xefve"}\n', "line 2 isn't valid UTF-8"),
        (b'{"id": "a", "text": "' + b"x" * 200 + b'"}', "line 1 is longer than 100"),
        (b"\n  \n", "is empty"),
        (b'{"id": "q1", "question": "why?"}', r"corpus\.jsonl holds no documents \(line 1 has no text\)"),
    ],
)
def test_a_file_that_can_not_be_read_is_an_error_that_names_the_line(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(content)

    with pytest.raises(SourceError, match=says):
        read([str(path)], limits=Limits(bytes_read=100))


def test_an_id_in_two_files_is_an_error_that_names_both(tmp_path: Path) -> None:
    write(tmp_path, {"id": "a.md", "text": "x"})
    (tmp_path / "a.md").write_text("y")

    with pytest.raises(SourceError, match=r"a\.md and .*corpus\.jsonl \(line 1\) both give the document 'a\.md'"):
        read([str(tmp_path), str(tmp_path / "corpus.jsonl")], strict=True)


def test_an_id_in_two_files_of_a_folder_is_left_out_the_second_time(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": "a.md", "text": "x"}, {"id": "z.md", "text": "z"})
    for name in ("a.md", "z.md"):
        (tmp_path / name).write_text("y")

    found = list(read([str(tmp_path)]))

    assert {one.key: one.text for one in found if isinstance(one, Document)} == {"a.md": "y", "z.md": "z"}
    assert [one for one in found if isinstance(one, Skipped)] == [
        Skipped(f"{path}, line 1", "gives the id 'a.md' again"),
        Skipped(str(tmp_path / "z.md"), "is the document 'z.md' again"),
    ]


def test_an_empty_file_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "", "  ")

    assert list(read([str(tmp_path)])) == [Skipped(path, "is empty")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_and_line_ends(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes('{"id": "ä", "text": "日本\u2028x"}\r\n{"id": "b", "text": "y"}'.encode(encoding))

    assert [(one.key, one.text) for one in documents(str(path))] == [("ä", "日本\u2028x"), ("b", "y")]


def test_what_cannot_be_stored_as_utf_8_is_replaced(tmp_path: Path) -> None:
    path = write(
        tmp_path, r'{"id": "a\ud800", "title": "\udfff", "text": "b\u0000c", "metadata": {"\ud800": "\ud800"}}'
    )

    (document,) = documents(path)

    assert (document.key, document.title, document.text) == ("a\ufffd", "\ufffd", "b\ufffdc")
    assert document.metadata == {"\ufffd": "\ufffd"}
