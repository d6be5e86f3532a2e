"""Words broken at the ends of lines."""

from __future__ import annotations

import pytest

from pipeline.text.hyphens import mended


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        ("so many capa-", "bilities remain", "so many capabilities"),
        ("the well-", "known man", "the well-known"),
        ("in a state-of-", "the-art shed", "in a state-of-the-art"),
        ("twenty-", "three boats", "twenty-three"),
        ("the Anglo-", "Saxon coast", "the Anglo-Saxon"),
        ("an X-", "ray of it", "an X-ray"),
        ("the DNA-", "containing part", "the DNA-containing"),
        ("a risk-", "based view", "a risk-based"),
        ("IN ALL INFOR-", "MATION OF", "IN ALL INFORMATION"),
        ("die Rettungs\N{HYPHEN}", "boote, und", "die Rettungsboote,"),
        ("(a hyphe-", "nated) word", "(a hyphenated)"),
        ("inde-", "pendent", "independent"),
    ],
)
def test_a_word_is_whole_on_its_first_line(first: str, second: str, whole: str) -> None:
    assert mended([first, second]) == [whole, second.split(maxsplit=1)[1] if " " in second else ""]


@pytest.mark.parametrize(
    ("first", "second"),
    [("pre-", "and post-war"), ("it was there -", "somewhere"), ("1914-", "1918"), ("the end.", "Next"), ("x-", "")],
)
def test_what_is_no_broken_word_stays(first: str, second: str) -> None:
    assert mended([first, second]) == [first, second]


def test_what_else_the_text_says_decides() -> None:
    broken = ["the harbour-", "master came"]

    assert mended(broken)[0] == "the harbourmaster"
    assert mended([*broken, "A harbour-master goes."])[0] == "the harbour-master"
    assert mended([*broken, "The harbour has a master."])[0] == "the harbour-master"
    assert mended([*broken, "The harbour has a master, the harbourmaster."])[0] == "the harbourmaster"


def test_a_word_is_broken_twice() -> None:
    assert mended(["an extra-", "ordi-", "nary day"]) == ["an extraordinary", "", "day"]
