"""Markup in .jsonl: which texts are Markdown or reStructuredText, and what of their structure a document gets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.ingest.sources import read
from pipeline.records import Document
from tests.ingest.sources.documents import blocks

Row = Callable[..., Document]

GUIDE = "# Setup\n\nOne, see [the notes](notes.md).\n\n```sh\n# Run\nit\n```\n\n## More\n\nTwo.\n"


@pytest.fixture
def row(tmp_path: Path) -> Row:
    """Return the document that one line of a .jsonl file makes."""

    def made(**fields: Any) -> Document:
        path = tmp_path / "corpus.jsonl"
        path.write_text(json.dumps({"id": "guide", **fields}), encoding="utf-8")
        (document,) = read([str(path)])
        assert isinstance(document, Document)
        return document

    return made


def is_plain(document: Document, text: str) -> bool:
    return document.text == text and not document.links and {kind for kind, _, _ in blocks(document)} <= {"paragraph"}


@pytest.mark.parametrize("key", ["guide", "guide.md", "a/guide.MARKDOWN", "v1.2"])
def test_markdown_has_its_blocks_links_and_title(row: Row, key: str) -> None:
    document = row(id=key, text=GUIDE)

    assert blocks(document) == [
        ("heading", 1, "# Setup"),
        ("paragraph", 0, "One, see [the notes](notes.md)."),
        ("code", 0, "```sh\n# Run\nit\n```"),
        ("heading", 2, "## More"),
        ("paragraph", 0, "Two."),
    ]
    assert [link.target for link in document.links] == ["notes.md"]
    assert (document.key, document.title, document.text) == (key, "Setup", GUIDE)


def test_windows_line_ends_and_empty_lines_before_it_change_nothing(row: Row) -> None:
    assert blocks(row(text=f"\n \n{GUIDE}".replace("\n", "\r\n"))) == blocks(row(text=GUIDE))


def test_front_matter_becomes_metadata(row: Row) -> None:
    document = row(text="\n---\ntitle: Setup: a guide\nyear: 2024\nby:\n  name: Ada\n---\n\nOne.\n")

    assert (document.title, document.text) == ("Setup: a guide", "\nOne.\n")
    assert document.metadata == {"year": 2024, "by.name": "Ada"}
    assert document.line_offset == 6


def test_front_matter_that_is_malformed_costs_a_row_nothing(row: Row) -> None:
    document = row(text="---\ntitle: [open\nyear: }\n---\n\nOne.")

    assert (document.title, document.text, document.metadata) == ("[open", "\nOne.", {"year": "}"})
    assert "line 2" in document.warnings[0]


def test_the_title_and_metadata_of_the_row_go_before_those_of_the_front_matter(row: Row) -> None:
    document = row(
        title="Mine", text="---\ntitle: Other\nyear: 2024\nlang: en\n---\n# First\n\nOne.", metadata={"year": 1843}
    )

    assert document.title == "Mine"
    assert document.metadata == {"year": 1843, "lang": "en"}


def test_restructuredtext_goes_by_the_suffix(row: Row) -> None:
    text = "Setup\n=====\n\nSee :doc:`notes`.\n\nMore\n----\n\nTwo::\n\n    code\n"

    document = row(id="guide.rst", text=text)

    assert [(kind, level) for kind, level, _ in blocks(document)] == [
        *(("heading", 1), ("paragraph", 0), ("heading", 2), ("paragraph", 0), ("code", 0))
    ]
    assert [link.target for link in document.links] == ["notes"]
    assert (document.title, document.text) == ("Setup", text)
    assert is_plain(row(id="guide", text=text), text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("One.\n\nTwo: #3 is [a](b.md).", id="no heading"),
        pytest.param("# One\n\nTwo [a](b.md).", id="one heading"),
        pytest.param("# load\nx = f(a)\n# write\ng(x)\n\n# stop\nh()\n", id="comments in code"),
        pytest.param("---\nAda said so.\n\n---\n\nOne [a](b.md).", id="rules"),
    ],
)
def test_other_texts_stay_plain(row: Row, text: str) -> None:
    assert is_plain(row(text=text), text)


def test_an_id_with_another_suffix_stays_plain(row: Row) -> None:
    assert is_plain(row(id="guide.csv", text=GUIDE), GUIDE)


def test_own_chunks_stay_as_they_are(row: Row) -> None:
    document = row(id="guide.md", chunks=[{"text": "# One\n\nTwo."}, {"text": "# Three\n\nFour."}])

    assert document.text == "# One\n\nTwo.\n\n# Three\n\nFour."
    assert len(document.prechunked) == 2
    assert is_plain(document, document.text)


@pytest.mark.parametrize("key", ["guide", "guide.md"])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("---\ntitle: Setup\n---\n", id="front matter alone"),
    ],
)
def test_a_text_that_has_no_structure_to_give_is_kept_as_it_is(row: Row, key: str, text: str) -> None:
    document = row(id=key, text=text)

    assert is_plain(document, text)
    assert (document.title, document.metadata) == ("", {})
    assert document.blocks


@pytest.mark.parametrize("mark", ["#", "# ", "# a\n", "# a\n\n", "\n", " ", "\n \n", "\r\n", "---\n", "---\na: b\n"])
def test_hostile_texts_are_read_to_their_end(row: Row, mark: str) -> None:
    assert row(text=mark * (20_000 // len(mark)) + "x").text.endswith("x")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("fees.org", "* Fees\n# hidden\nIt is 40.\n"),
        ("fees.adoc", "== Fees\n// hidden\nIt is 40.\n"),
        ("fees.tex", "\\section{Fees} % hidden\nIt is 40.\n"),
    ],
)
def test_other_markup_is_known_by_the_suffix_of_its_id(row: Row, key: str, text: str) -> None:
    found = [words for _, _, words in blocks(row(id=key, text=text))]

    assert found == ["Fees", "It is 40."]
