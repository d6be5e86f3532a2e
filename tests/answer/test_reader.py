"""What of a model's text is answer, reasoning and citation, however it is cut into pieces."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.answer.citations import Piece
from pipeline.answer.reader import UNANSWERED, AnswerReader, Discarded

PASSAGES = 5


def read(*texts: str) -> tuple[str, list[tuple[int, bool]], bool]:
    """The answer, the numbers that it cites, each with whether a passage has it, and whether it answers."""
    reader = AnswerReader(PASSAGES)
    read = [piece for text in texts for piece in reader.feed(text)] + reader.end()
    kept: list[Piece] = []
    for piece in read:
        kept = [] if isinstance(piece, Discarded) else [*kept, piece]
    cited = [(piece.citation, piece.known) for piece in kept if piece.citation is not None]
    return "".join(piece.text for piece in kept), cited, reader.answered


CITED = {
    "one": ("Paris [1].", "Paris [1].", [1]),
    "side by side": ("Paris [1][2].", "Paris [1][2].", [1, 2]),
    "attached": ("Paris[1].", "Paris[1].", [1]),
    "a list": ("Paris [1, 3; 5].", "Paris [1][3][5].", [1, 3, 5]),
    "a range": ("Paris [1-3], [2–3].", "Paris [1][2][3], [2][3].", [1, 2, 3, 2, 3]),
    "twice": ("Paris [1, 1].", "Paris [1].", [1]),
    "a footnote": ("Paris [^1].", "Paris [1].", [1]),
    "other brackets": ("Paris 【1】 and ［2］.", "Paris [1] and [2].", [1, 2]),
    "with a source": ("Paris 【4†source】 【2:0†a.md】.", "Paris [4] [2].", [4, 2]),
    "in words": ("Paris [passage 2] [Sources 1, 3].", "Paris [2] [1][3].", [2, 1, 3]),
    "in brackets": ("Paris [[1]].", "Paris [[1]].", [1]),
    "beyond": ("Paris [12].", "Paris [12?].", [12]),
    "nought": ("Paris [0].", "Paris [0?].", [0]),
    "partly beyond": ("Paris [4-6].", "Paris [4][5][6?].", [4, 5, 6]),
    "a range without end": ("Paris [1-999].", "Paris [1][999?].", [1, 999]),
    "backwards": ("Paris [3-1].", "Paris [3][1].", [3, 1]),
    "after code": ("`a[2]` is [1].", "`a[2]` is [1].", [1]),
    "after a mark that opens nothing": ("5` wide [1]\n\nYes [2].", "5` wide [1]\n\nYes [2].", [2]),
    "after a block": ("```py\na[1] = `b`[2]\n```\nYes [3].", "```py\na[1] = `b`[2]\n```\nYes [3].", [3]),
    "at the end": ("Paris [1]", "Paris [1]", [1]),
}


@pytest.mark.parametrize("kind", CITED)
def test_citations_are_found_in_every_form(kind: str) -> None:
    text, answer, numbers = CITED[kind]

    found = [(number, 1 <= number <= PASSAGES) for number in numbers]
    assert read(text) == (answer, found, True)
    assert read(*text) == (answer, found, True), "letter by letter"


@pytest.mark.parametrize(
    "text",
    [
        "`a[1]` and ``b[2]``",
        "```\nc[1]\n\nd[2]",
        "~~~\nc[1]\n~~~",
        "The list a[0], f(x)[0] and b_[0].",
        "See [the page](https://example.org) and [1](https://example.org).",
        "In [2024], [1990-2020], [3.5], [a], [], [1a] and [-1].",
        "An open [1",
        "[see the chapter on 1",
        "",
        "[^]",
    ],
)
def test_what_only_looks_like_one_is_left_as_it_is(text: str) -> None:
    assert read(text) == (text, [], True)
    assert read(*text) == (text, [], True)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>Hm [1].</think>\n\nYes [2].", "Yes [2]."),
        ("\n<thinking>a</thinking>\n<think>b</think>Yes [2].", "Yes [2]."),
        ("[THINK]Hm[/THINK]Yes [2].", "Yes [2]."),
        ("<think></think>Yes [2].", "Yes [2]."),
        ("</think>\nYes [2].", "Yes [2]."),
        ("<THINK>NO ANSWER</THINK>Yes [2].", "Yes [2]."),
        ("So the user asks, [1] says\nno.\n</think>\n\nYes [2].", "Yes [2]."),
        ("Models write <think> and </think> in answers [2].", "Models write <think> and </think> in answers [2]."),
    ],
)
def test_reasoning_is_left_out(text: str, answer: str) -> None:
    assert read(text) == (answer, [(2, True)], True)
    assert read(*text) == (answer, [(2, True)], True)


def test_reasoning_that_never_ends_is_no_answer() -> None:
    assert read("<think>Hm, so [1]") == ("", [], True)


def test_reasoning_that_is_only_known_by_its_end_is_taken_back() -> None:
    reader = AnswerReader(PASSAGES)

    first = reader.feed("The user asks for the founder of the yard.")
    later = [*reader.feed("\n</think>\nAda."), *reader.end()]

    assert first == [Piece("The user asks for the founder of the yard.")]
    assert later == [Discarded(), Piece("Ada.")]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("NO ANSWER", UNANSWERED),
        ("NO ANSWER.", UNANSWERED),
        ("**NO ANSWER**\n\nDie Stellen sagen nichts dazu.", f"{UNANSWERED} Die Stellen sagen nichts dazu."),
        ("NO_ANSWER: they lack it.", f"{UNANSWERED} they lack it."),
        ("<think>Hm.</think>NO ANSWER", UNANSWERED),
    ],
)
def test_the_mark_of_no_answer_is_put_into_words(text: str, answer: str) -> None:
    assert read(text) == (answer, [], False)
    assert read(*text) == (answer, [], False)


@pytest.mark.parametrize("text", ["No answer was given.", "NO ANSWERS came.", "Ada gave NO ANSWER."])
def test_other_words_are_an_answer(text: str) -> None:
    assert read(text) == (text, [], True)


MARKS = (
    "[1] [2, 3] [1-3] [^4] 【1】 [12] [0] a[0] [x](y) [1](y) ` `` ``` ~~~ ( [ ] 1 , - <think> </think> text NO ANSWER"
)
SNIPPETS = st.sampled_from([*MARKS.split(), " ", "\n", "\n\n"])


@given(st.lists(SNIPPETS, max_size=12).map("".join), st.lists(st.integers(0, 40), max_size=6))
@example("\n\n`[1]\n \n[2]", [1, 2, 5])
def test_it_is_the_same_however_the_text_is_cut(text: str, cuts: Sequence[int]) -> None:
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    pieces = [text[start:end] for start, end in pairwise(places)]

    assert read(*pieces) == read(text)
