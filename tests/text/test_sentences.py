"""Where sentences end, in several languages."""

from __future__ import annotations

import pytest

from pipeline.text.prose import sentences


@pytest.mark.parametrize(
    "expected",
    [
        ["One sentence.", "Another one!", "A third?"],
        ["Dr. Smith met Mr. J. R. Jones at 5 p.m. sharp.", "They left."],
        ["See Fig. 3 and Eq. 4, i.e. the plots.", "Nothing else."],
        ["He said “stop.”", "Then he left."],
        ["It cost 3.14 dollars.", "(Too much.)", "Really."],
        ["This was shown by Smith et al. (2010) in Nature.", "We agree."],
        ["Das gilt z.B. für Graphen usw. und Bäume.", "Es ist bekannt."],
        ["Il s'agit de M. Dupont.", "Il arrive."],
        ["¿Quién viene?", "¡Nadie!", "Es verdad."],
        ["今日は晴れです。", "明日は雨でしょう！", "本当？"],
        ["他说：“你好。”", "然后走了。"],
        ["यह पहला वाक्य है।", "यह दूसरा है।"],
        ["هل أنت هنا؟", "نعم."],
        ["Это первое, т.е. главное.", "Это второе."],
        ["Wait... what?", "No."],
    ],
)
def test_sentences_are_told_apart(expected: list[str]) -> None:
    text = "".join(expected) if any(sign in expected[0] for sign in "。") else " ".join(expected)

    assert [text[start:end] for start, end in sentences(text, 0, len(text))] == expected


def test_list_items_are_sentences_of_their_own() -> None:
    text = "* one item\n  goes on\n* another\n1. First thing\n2. Second thing"

    found = [text[start:end] for start, end in sentences(text, 0, len(text))]

    assert found == ["* one item\n  goes on", "* another", "1. First thing", "2. Second thing"]


def test_only_the_stretch_that_is_asked_for_is_cut() -> None:
    text = "Before. One. Two. After."

    assert [text[start:end] for start, end in sentences(text, 8, 17)] == ["One.", "Two."]
