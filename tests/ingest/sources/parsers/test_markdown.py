"""Markdown: blocks, titles, links and front matter, at their places in the file."""

from __future__ import annotations

import time

import pytest

from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.parsers.markdown import blocks_and_links, comment_spans, parsed, without_comments
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
    "text",
    [
        "---\nprose between rules\n---\n\nmore",
        "---\nno: end",
        "a\n---\nb: c\n---\n",
        "--- \n# x\n---",
        "---\nNote: he came.\n\nAnd more of him.\n\nAnd more.\n\n---\ntext",
        "---\n# x\n\nNote: he came.\n\nAnd more of him.\n\n---\ntext",
        "---\nhttps://example.org/x\n---\ntext",
        "---\n\n# x\n\nNote: he came.\n\n---\ntext",
        "---\n- Note: a list\n---\ntext",
        "---\n{{title}}\n---\ntext",
        "+++\nprose\n+++\ntext",
        '{"only": "an object"}\n',
        "{ a brace\n}\n\ntext",
        "<!-- a comment",
        "# Heading\n---\ntext\n---\n",
    ],
)
def test_what_only_looks_like_front_matter_stays(text: str) -> None:
    found = document(text)

    assert (found.text, found.line_offset, found.metadata) == (text, 0, {})


@pytest.mark.parametrize(
    ("front", "metadata", "place"),
    [
        ("a: 1\nb: [open", {"a": 1, "b": "[open"}, "line 3"),
        ("a: 1\nb: 'open", {"a": 1, "b": "'open"}, "line 3"),
        ("a: {b: c", {"a": "{b: c"}, "line 2"),
        ("a: 1\n\tb: 2", {"a": "1 b: 2"}, "line 3"),
        ("a: !!int ''\nb: x", {"a": "!!int ''", "b": "x"}, "line 2"),
        ('a: "\\UFFFFFFFF"', {"a": "\\UFFFFFFFF"}, "line 2"),
        ("a: 'It's a trap'\nb: \"C:\\Users\"", {"a": "It's a trap", "b": "C:\\Users"}, "line 3"),
        (f"a: {'9' * 5_000}", {"a": "9" * 5_000}, "line 2"),
        (f"a: 0x{'f' * 4_000}", {"a": f"0x{'f' * 4_000}"}, "line 2"),
        ("a: 2024-13-45", {"a": "2024-13-45"}, "line 2"),
        ("a: 2024-01-01 10:00:00 +99:99", {"a": "2024-01-01 10:00:00 +99:99"}, "line 2"),
        ("a: !mine x", {"a": "!mine x"}, "line 2"),
        ("a: 1\na: 2", {"a": 2}, "twice"),
        ("a:\n  b: 1\n  b: 2", {"a.b": 2}, "twice"),
        ("a:\n  b: 1\n  c: [", {"a.b": 1, "a.c": "["}, "line 4"),
        (f"a: {'[' * 5000}", {"a": "[" * 5000}, "line 2"),
        (f"a: {'x' * 150_000}\nb: 1", {"a": "x" * 150_000, "b": 1}, "150,009 characters"),
    ],
)
def test_malformed_front_matter_costs_no_text_and_is_named_by_its_line(
    front: str, metadata: dict[str, object], place: str
) -> None:
    found = document(f"---\n{front}\n---\ntext")

    assert (found.text, found.metadata) == ("text", metadata)
    assert place in found.warnings[0]


def test_warnings_about_front_matter_are_few() -> None:
    found = document("---\n" + "".join(f"k{number}: [\n" for number in range(99)) + "---\ntext")

    assert found.metadata["k98"] == "["
    assert (len(found.warnings), found.warnings[-1]) == (6, "has malformed front matter (94 more)")


@pytest.mark.parametrize(
    ("front", "metadata"),
    [
        ("globs: *.ts\nalwaysApply: false", {"globs": "*.ts", "alwaysApply": False}),
        ("globs:\n  - *.sql\n  - migrations/**", {"globs": ["*.sql", "migrations/**"]}),
        ("day: {{date}}\nlist: [{{x}}]\nb: {% raw %}", {"day": "{{date}}", "list": "[{{x}}]", "b": "{% raw %}"}),
        ("up: [[A]]  [[B]]\nlist:\n  - [[C]]", {"up": "[[A]]  [[B]]", "list": ["[[C]]"]}),
        ("list:\n\t- one\n\t- two\nx:\ty", {"list": ["one", "two"], "x": "y"}),
        ("# note\n\nlayout: home", {"layout": "home"}),
        ("\"layout\": home\n'b c': *", {"layout": "home", "b c": "*"}),
        (
            'hint: [action] — e.g. a\nq: "Lamps" of the north',
            {"hint": "[action] — e.g. a", "q": '"Lamps" of the north'},
        ),
        (
            "do: `make all` first\nat: @home\npart: 50% off",
            {"do": "`make all` first", "at": "@home", "part": "50% off"},
        ),
        ("layout:home\nlist: [a]", {"layout": "home", "list": ["a"]}),
        ("use: When: somebody\n  asks: this\nx: *", {"use": "When: somebody asks: this", "x": "*"}),
        ("base: &base {a: 1}\nmore: *base", {"base.a": 1, "more.a": 1}),
        ("at: 12:30\nlong: " + "1:" * 3_000 + "1", {"at": "12:30", "long": "1:" * 3_000 + "1"}),
        ("text: |\n  a: *b\n  c\nx: *", {"text": "a: *b\nc", "x": "*"}),
        ("🏷 kind: x\nbraces: {a} and {b}", {"🏷 kind": "x", "braces": "{a} and {b}"}),
        ("{layout: home, b: 1}", {"layout": "home", "b": 1}),
    ],
)
def test_front_matter_is_read_as_people_write_it(front: str, metadata: dict[str, object]) -> None:
    found = document(f"---\n{front}\n---\ntext")

    assert (found.text, found.metadata, found.warnings) == ("text", metadata, ())


@pytest.mark.parametrize(
    "above",
    [
        "<!-- SPDX-License-Identifier: MIT -->\n",
        "<!-- a\n\nb --> \n<!-- c -->\n\n",
        "%% note %%\n",
        "{# x #}\n",
        "\n \n",
        "# Copyright A\n",
    ],
)
def test_comments_and_a_licence_may_stand_above_front_matter(above: str) -> None:
    found = document(f"{above}---\ntitle: T\n---\ntext")

    assert (found.title, found.text, found.line_offset) == ("T", "text", above.count("\n") + 3)


@pytest.mark.parametrize(
    ("text", "metadata"),
    [
        (
            '+++\ntitle = "T"\ndate = 2025-04-02\ntags = ["a"]\n[by]\nname = "B"\n+++\ntext',
            {"date": "2025-04-02", "tags": ["a"], "by.name": "B"},
        ),
        ('{\n  "title": "T",\n  "by": {"name": "B"}\n}\n\ntext', {"by.name": "B"}),
        ('---json\n{"title": "T", "draft": true}\n---\ntext', {"draft": True}),
        ('---toml\ntitle = "T"\nx = 1\n---\ntext', {"x": 1}),
    ],
)
def test_front_matter_may_be_toml_or_json(text: str, metadata: dict[str, object]) -> None:
    found = document(text)

    assert (found.title, found.text.strip(), found.metadata, found.warnings) == ("T", "text", metadata, ())


@pytest.mark.parametrize(
    ("text", "metadata", "place"),
    [
        (
            '+++\ntitle = "T"\ndate = 2025-13-02\nn = 1\nopen = ["a"\n+++\ntext',
            {"date": "2025-13-02", "n": 1, "open": '["a"'},
            "line 3",
        ),
        ('+++\ntitle = "T"\n[by]\nx = ' + "[" * 5_000 + "\n+++\ntext", {"by.x": "[" * 5_000}, "line 4"),
        (f'+++\ntitle = "T"\nx = 0x{"f" * 4_000}\n+++\ntext', {"x": f"0x{'f' * 4_000}"}, "line 3"),
        ('{\n  "title": "T",\n  "n": 1,\n  "open": ["a"\n}\n\ntext', {"n": 1, "open": '["a"'}, "line 4"),
    ],
)
def test_malformed_toml_and_json_cost_no_text_either(text: str, metadata: dict[str, object], place: str) -> None:
    found = document(text)

    assert (found.title, found.text.strip(), found.metadata) == ("T", "text", metadata)
    assert place in found.warnings[0]


def test_footnotes_are_text_and_no_links() -> None:
    found = document("Tall.[^1]\n\n[^1]: Amsel1998\n[^two]: https://tower.example/repairs\n\n[r]: a.md\n")

    assert [found.text[block.start : block.end] for block in found.blocks] == [
        "Tall.[^1]",
        "[^1]: Amsel1998\n[^two]: https://tower.example/repairs",
    ]
    assert found.links == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("One.\n\n<!-- secret -->\n\nTwo.", "One.\n\n\n\nTwo."),
        ("# One <!-- secret -->\nA <!-- secret\nsecret --> b.", "# One \nA \n b."),
        ("[//]: # (secret)\n[comment]: <> (secret)\nOne.", "\n\nOne."),
        ("One {/* secret */} two.\n{/* secret\n\n*/}", "One  two.\n\n\n"),
        ("One `<!-- shown -->` <!-- secret -->two.", "One `<!-- shown -->` two."),
        ("```\n<!-- shown -->\n```\n<!-- secret -->", "```\n<!-- shown -->\n```\n"),
        ("    <!-- shown -->\n\n<!--secret-->\n\n<!-- open", "    <!-- shown -->\n\n\n\n<!-- open"),
        ("%%time and %%shown%% too", "%%time and %%shown%% too"),
    ],
)
def test_comments_are_left_out_and_lines_keep_their_numbers(text: str, shown: str) -> None:
    assert document(text).text == shown


@pytest.mark.parametrize(
    ("text", "is_parsed_once"),
    [
        ("# A\n\n<!-- b -->\n\nc [d](d.md)\n", True),
        ("a\n<!-- b\n\nc --> <!-- d -->\n# E\n\n<!-- f -->\n- g\n", True),
        ("<div>\n\n<!-- a -->\n\n`<!--`\n", True),
        ("<!-- a --> b [c](c.md)\n", False),
        ("a <!-- b --> c\n", False),
        ("- <!-- a -->\n  b\n", False),
        ("a\n[//]: # (b)\nc\n", False),
    ],
)
def test_a_page_is_parsed_anew_only_if_a_comment_is_no_block_of_its_own(text: str, is_parsed_once: bool) -> None:
    tree = parsed(text)
    shown = without_comments(tree)

    assert (shown.tokens is tree.tokens) == is_parsed_once
    assert blocks_and_links(shown) == blocks_and_links(parsed(shown.text))
    assert "b -->" not in shown.text


@pytest.mark.parametrize("part", ["<!--", "{/*", "<!-- a", "%%", "%% a `", "<!-- a --> ", "`", "%%a%% ", "[x]: # (a\n"])
def test_comments_are_found_in_linear_time(part: str) -> None:
    def seconds(count: int) -> float:
        start = time.process_time()
        comment_spans(parsed("a " + part * count), obsidian=True)
        return time.process_time() - start

    assert seconds(20_000) < 3 * seconds(10_000) + 0.1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_and_line_ends_make_no_difference(encoding: str) -> None:
    source = Source("a.md", "a.md", "# Ä\r\n\r\ntext\rmore\r\n".encode(encoding))

    assert parser_of("markdown")(source).text == "# Ä\n\ntext\nmore\n"
