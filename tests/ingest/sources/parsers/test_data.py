"""Data as documents: sections by keys, and JSON that no person wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import SourceError
from pipeline.files import Unreadable
from pipeline.ingest.sources import read
from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Document, Skipped


def parsed(key: str, text: str) -> Document:
    return parser_of("data")(Source(key, f"/root/{key}", text.encode()))


@pytest.mark.parametrize(
    ("key", "text", "sections"),
    [
        ("a.yaml", "name: Oldwick\nfees: # in crowns\n  - fee: 40\nboats: &b\n  anna: 7\n", ["fees", "boats"]),
        ("a.yaml", "fees:\n  - fee: 40\n'the boats':\n  anna: 7\nnote: >-\n  long\n", ["fees", "the boats", "note"]),
        (
            "a.json",
            '{\n "harbours": [\n  {"name": "Oldwick"}\n ],\n "boats": {\n  "anna": 7\n }\n}',
            ["harbours", "boats"],
        ),
        ("a.toml", "fee = 40\n\n[boats]\nanna = 7\n\n[[boats.more]]\nbea = 8\n", ["boats", "boats.more"]),
    ],
)
def test_a_key_that_holds_others_begins_a_section(key: str, text: str, sections: list[str]) -> None:
    found = parsed(key, text)

    assert [block.name for block in found.blocks if block.level] == sections
    assert found.title == "a"


def test_json_on_one_line_is_written_a_value_a_line() -> None:
    found = parsed("a.json", '{"harbours": [{"name": "Oldw\\u00edck", "fee": 40}]}')

    assert '"name": "Oldwíck",\n' in found.text
    assert [block.name for block in found.blocks if block.level] == ["harbours"]


def test_what_is_no_json_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="JSON"):
        parsed("a.json", "{oops")


def test_data_are_documents_only_where_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "fees.yaml").write_text("fees:\n  oldwick: 40\n")
    (tmp_path / "today.log").write_text("The harbour opened.\n")

    found = list(read([str(tmp_path)]))

    reasons = {Path(item.source).name: item.reason for item in found if isinstance(item, Skipped)}
    assert reasons == {
        "fees.yaml": "has the suffix .yaml, which is read only if you name the file itself",
        "today.log": "has the suffix .log, which is read only if you name the file itself",
    }
    named = read([str(tmp_path / "fees.yaml"), str(tmp_path / "today.log")])
    assert [item.key for item in named if isinstance(item, Document)] == ["fees.yaml", "today.log"]
    with pytest.raises(SourceError, match="read only if you name the file itself"):
        list(read([str(tmp_path)], strict=True))
