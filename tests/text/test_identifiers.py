"""Identifiers: what is one by the way it is written, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.names import is_identifier, may_hold_identifiers, words


def identifiers(text: str) -> list[str]:
    return [word.text for word in words(text) if is_identifier(text, word.start, word.end)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call get_user_name or __init__", ["get_user_name", "__init__"]),
        ("call getUserName on an mRNA", ["getUserName", "mRNA"]),
        ("from os.path.join on node.js", ["os.path.join", "node.js"]),
        ("with --dry-run, [--force] and `--top-k`", ["dry-run", "force", "top-k"]),
        ("see /etc/hosts and src/main/app.py", ["etc/hosts", "src/main/app.py"]),
        ("since v2 or v2.3.1 or 3.11.4", ["v2", "v2.3.1", "3.11.4"]),
        ("as utf8 on x86", ["utf8", "x86"]),
        ("set `retry` or ``limit``", ["retry", "limit"]),
        ("it -- as said -- works, no--it doesn't, and/or he/she", []),
        ("e.g. in 3.11 at 5 p.m. of 10km in the 1930s, i.e. a well-known one", []),
        (f"a {'x_' * 50}y", []),
        ("[the gauge](../sea/tide_gauge.md) reads tide_level", ["tide_level"]),
        ("", []),
    ],
)
def test_identifiers_are_told_by_how_they_are_written(text: str, expected: list[str]) -> None:
    assert identifiers(text) == expected


@given(st.text(alphabet="aB1_-./` \n(", max_size=40))
def test_a_text_that_holds_an_identifier_may_hold_one(text: str) -> None:
    assert may_hold_identifiers(text) or not identifiers(text)
