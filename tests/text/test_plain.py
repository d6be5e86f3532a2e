"""Plain text: what a reader sees of a marked passage, and what stays as it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.plain import plain, plain_sentences, without_rules

CODE = "```py\n# comment\nx = `y`\n=====\n```\n"
TABLE = "| `a` | *b* |\n| --- | --- |\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Title\n=====\n\nText.", "Title\n\nText."),
        ("=====\nTitle\n=====\nText.", "Title\nText."),
        ("## More\nText.", "More\nText."),
        ("see :ref:`the guide <guide>` and :class:`~flask.Flask`", "see the guide and Flask"),
        ("`a link <https://x.example>`_, ``code``, `more`_ [1]_", "a link, code, more"),
        ('[two](x.md "t"), [[a|b]], ![alt](i.png), [three][3]', "two, b, alt, three"),
        ("**bold** *it* ***both*** _so_ __two words__", "bold it both so two words"),
        ("__init__ snake_case_ 2*3*4 *args, **kwargs a_b_c", "__init__ snake_case_ 2*3*4 *args, **kwargs a_b_c"),
        ("> quoted\n* one\n- two", "quoted\n• one\n• two"),
        (CODE, CODE),
        (TABLE, TABLE),
        (f"Use `x`:\n\n{CODE}\n*End*.", f"Use x:\n\n{CODE}\nEnd."),
        ("As ``this``::\n\n    a = `b`\n    ===\n", "As this:\n\n    a = `b`\n    ===\n"),
    ],
)
def test_marks_are_taken_off_but_in_code_and_tables(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_lines_of_signs_alone_are_taken_off_for_a_language_model() -> None:
    assert without_rules(f"Title\n~~~~~\n\nA [link](x.md).\n\n{CODE}") == f"Title\n\nA [link](x.md).\n\n{CODE}"


def test_sentences_have_no_headings_between_them() -> None:
    text = "# One\n\nA `dog`.\n\nTwo\n---\n\nA cat.\n\n```\ncode\n```"

    assert " ".join(plain_sentences(text).split()) == "A dog. A cat."
    assert plain_sentences(CODE).split() == ["#", "comment", "x", "=", "`y`"]


@given(st.text(alphabet="a `*_#=-~[](){}<>:|!.\n", max_size=80))
def test_any_text_has_a_plain_form(text: str) -> None:
    assert isinstance(plain(text), str)
    assert isinstance(plain_sentences(text), str)
