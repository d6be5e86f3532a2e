"""Fields of front matter are set, and every other byte stays."""

from __future__ import annotations

import pytest

from pipeline.domains.vault.fields import with_fields
from pipeline.ingest.sources.front_matter import split_front_matter

YAML = """---
# who wrote this
title:   "Tides"   # as in the book
type: claim # by hand
tags: [sea, moon]

globs: *.md
description: >
  Why the sea
  rises.
---
Body.
"""
TOML = """+++
title = 'Tides'
# by hand
type = "claim"
tags = [
  "sea",
]

[extra]
type = "other"
+++
Body.
"""
JSON = """{
\t"title": "Tides",
\t"tags": ["sea"], "type":"claim"
}

Body.
"""


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (YAML, "type: claim # by hand", "type: moc # by hand"),
        (TOML, 'type = "claim"', 'type = "moc"'),
        (JSON, '"type":"claim"', '"type":"moc"'),
        (f"<!-- licence -->\n{YAML}", "type: claim #", "type: moc #"),
    ],
)
def test_a_field_is_set_where_it_stands(text: str, before: str, after: str) -> None:
    assert with_fields(text, {"type": "moc"}) == text.replace(before, after)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (YAML, "  rises.\n---", "  rises.\nuser: '12'\n---"),
        (TOML, "]\n\n[extra]", ']\nuser = "12"\n\n[extra]'),
        (JSON, '"claim"\n}', '"claim",\n\t"user": "12"\n}'),
        ("Body.\n", "Body", "---\nuser: '12'\n---\nBody"),
    ],
)
def test_a_new_field_is_added(text: str, before: str, after: str) -> None:
    assert with_fields(text, {"user": "12"}) == text.replace(before, after)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        (YAML, "tags: [sea, moon]\n"),
        (TOML, 'tags = [\n  "sea",\n]\n'),
        (JSON, '"tags": ["sea"], '),
    ],
)
def test_a_field_without_a_value_is_removed(text: str, before: str) -> None:
    assert with_fields(text, {"tags": []}) == text.replace(before, "")


@pytest.mark.parametrize("text", [YAML, TOML, JSON, "---\n{title: Tides, type: claim}\n---\nBody.\n"])
def test_what_is_set_is_what_is_read_and_nothing_else_changes(text: str) -> None:
    fields = {"type": 'a: "b"\n# c', "tags": ["x, y", "[z]"], "description": "é \x7f\t*"}

    before, after = split_front_matter(text), split_front_matter(with_fields(text, fields))

    assert after.mapping == before.mapping | dict[object, object](fields)
    assert after.text == before.text
