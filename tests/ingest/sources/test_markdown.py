"""Markdown: blocks, titles, links and front matter, at their places in the file."""

from __future__ import annotations

import pytest

from pipeline.files import Unreadable
from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Document


def document(text: str, key: str = "notes/my-first_note.md") -> Document:
    return parser_of("markdown")(Source(key, f"/root/{key}", text.encode()))


def blocks(text: str) -> list[tuple[str, int, str]]:
    found = document(text)
    return [(block.kind.value, block.level, found.text[block.start : block.end]) for block in found.blocks]


def links(text: str) -> list[tuple[str, str]]:
    found = document(text)
    return [(link.target, found.text[link.start : link.end]) for link in found.links]


def test_blocks_are_the_source_itself() -> None:
    text = """\
# One *two*

A paragraph
of two lines.

Setext
------

- item
  more
- other

```py
x = 1

y = 2
```

    indented

| a | b |
|---|---|
| 1 | 2 |

> # quoted
> words

<div>raw</div>

<!-- left out -->

---
"""

    assert blocks(text) == [
        ("heading", 1, "# One *two*"),
        ("paragraph", 0, "A paragraph\nof two lines."),
        ("heading", 2, "Setext\n------"),
        ("paragraph", 0, "- item\n  more"),
        ("paragraph", 0, "- other"),
        ("code", 0, "```py\nx = 1\n\ny = 2\n```"),
        ("code", 0, "indented"),
        ("table", 0, "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("paragraph", 0, "> # quoted"),
        ("paragraph", 0, "> words"),
        ("paragraph", 0, "<div>raw</div>"),
    ]


def test_a_long_paragraph_with_a_rule_below_is_no_heading() -> None:
    assert [kind for kind, _, _ in blocks("word " * 60 + "\n---\n")] == ["paragraph"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From front matter\n---\n# Heading\n", "From front matter"),
        ("---\ntitle: 1984\n---\n", "1984"),
        ("---\ntitle: ''\n---\n# Heading\n", "Heading"),
        ("## Second\n\n# The **first** `one` [here](x.md) #\n", "The first one here"),
        ("Setext title\n====\n", "Setext title"),
        ("no heading\n", "my first note"),
    ],
)
def test_the_title_is_the_best_there_is(text: str, title: str) -> None:
    assert document(text).title == title


def test_links_to_documents_are_found_where_they_stand() -> None:
    text = (
        "See [one](a/b%20c.md#part), [two](<d e.md> 'title'), [[Note]] and\n"
        "> [[folder/Other#Heading|alias]]\n> and ![[Embedded^block]]\n\n"
        "- [ref][r]\n\n| cell |\n|---|\n| [[Table\\|x]] |\n\n[r]: ../up.md?x=1\n"
    )

    assert links(text) == [
        ("a/b c.md", "[one](a/b%20c.md#part)"),
        ("d e.md", "[two](<d e.md> 'title')"),
        ("Note", "[[Note]]"),
        ("folder/Other", "[[folder/Other#Heading|alias]]"),
        ("Embedded", "[[Embedded^block]]"),
        ("../up.md", "[ref][r]"),
        ("Table", "[[Table\\|x]]"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[web](https://example.org/a.md) [mail](mailto:a@example.org) [script](javascript:x) [host](//example.org/x)",
        "[here](#part) [[#Part]]",
        "`[code](a.md) [[code]]`",
        "```\n[code](a.md) [[code]]\n```",
        "![image](a.png)",
        "\\[no](a.md) [[ ]]",
    ],
)
def test_what_leads_to_no_other_document_is_no_link(text: str) -> None:
    assert links(text) == []


def test_front_matter_becomes_metadata_and_is_cut_off() -> None:
    found = document(
        "---\ntitle: T\ndate: 2024-01-05\ntags: [a, b]\nnested:\n  deep: 1\nempty:\nup: [[Home]]\n"
        "seen: [[A]], [[B|b]]\nsummary: Graphs: a primer, #1\n---\n\n# H\n"
    )

    assert found.metadata == {
        "date": "2024-01-05",
        "tags": ["a", "b"],
        "nested.deep": 1,
        "up": "[[Home]]",
        "seen": "[[A]], [[B|b]]",
        "summary": "Graphs: a primer, #1",
    }
    assert (found.text, found.line_offset) == ("\n# H\n", 11)


@pytest.mark.parametrize(
    "text", ["---\nprose between rules\n---\n\nmore", "---\nno: end", "a\n---\nb: c\n---\n", "--- \n# x\n---"]
)
def test_what_only_looks_like_front_matter_stays(text: str) -> None:
    found = document(text)

    assert (found.text, found.line_offset, found.metadata) == (text, 0, {})


@pytest.mark.parametrize(
    ("front", "place"),
    [
        ("a: 1\nb: [open", "line 4"),
        ("a: 1\nb: 'open", "line 4"),
        ("a: {b: c", "line 3"),
        ("a: 1\n\tb: 2", "line 3"),
        ("a: &x [1]\nb: *x", "alias"),
        (f"a: {'[' * 5000}", "line 2"),
        ("a: 1\n" * 30_000, "150,001 characters"),
    ],
)
def test_malformed_front_matter_is_named_by_its_line(front: str, place: str) -> None:
    with pytest.raises(Unreadable, match="front matter") as caught:
        document(f"---\n{front}\n---\ntext")
    assert place in caught.value.message


@pytest.mark.parametrize(
    ("value", "expected"),
    [("2024-13-45", "2024-13-45"), ("@home", "@home"), ("a: b: c", "a: b: c"), ("50% off", "50% off")],
)
def test_a_plain_value_that_yaml_trips_over_is_kept_as_written(value: str, expected: str) -> None:
    assert document(f"---\nfirst: 1\nkey: {value}\n---\n").metadata == {"first": 1, "key": expected}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_and_line_ends_make_no_difference(encoding: str) -> None:
    source = Source("a.md", "a.md", "# Ä\r\n\r\ntext\rmore\r\n".encode(encoding))

    assert parser_of("markdown")(source).text == "# Ä\n\ntext\nmore\n"
