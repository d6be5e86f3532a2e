"""Which words of a question passages say: in a sentence, close together, and together with another passage."""

from __future__ import annotations

import math
import re
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.retrieve.scoring.coverage import Coverage, Passage, coverage, named_share, terms_of

TERMS = ["river", "mill", "queen"]
PASSAGES = [
    Passage("The river is long. It drives a mill.", "Weir", "Mills", "d"),
    Passage("She was crowned there.", "The Queen", "Youth", "d"),
    Passage("Bread is baked here.", "Bakery", "", "d"),
]
ONCE, TWICE = math.log(1 + 3 / 1), math.log(1 + 3 / 2)
"""What a term weighs that one of three passages holds, or two, before the weights are scaled to 1 in all."""


def covered(terms: list[str], passages: list[Passage], **named: float) -> Coverage:
    return coverage(terms, passages, named)


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("Which rivers drive the mills, and which river drove a mill?", ["river", "drive", "mill", "drove"]),
        ("Who is he?", ["who", "is", "he"]),
        ("Who is the queen?", ["queen"]),
        ("naïve_snake 東京 1833", ["naiv", "snake", "東京", "1833"]),
        ("", []),
        ("?! __", []),
    ],
)
def test_terms_are_the_stems_of_the_words_that_tell_something_each_once(question: str, terms: list[str]) -> None:
    assert terms_of(question) == terms


def test_a_term_weighs_something_wherever_a_passage_holds_it() -> None:
    held = covered([*TERMS, "king"], [Passage("A river.", "The Queen", "Mill", "d"), Passage("", "", "", "d")])

    assert held.weights == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0.0])


def test_a_passage_covers_what_its_best_sentence_says() -> None:
    assert covered(TERMS, PASSAGES).alone() == pytest.approx([1 / 3, 1 / 3, 0.0])
    assert covered(TERMS, [Passage("A mill by the river. A mill.", "", "", "d")]).alone() == pytest.approx([1.0])


def test_the_title_counts_to_each_sentence_and_the_heading_to_none() -> None:
    held = covered(TERMS, [Passage("She ruled. She saw the river.", "The Queen", "Mill", "d")])

    assert held.sentences.tolist() == [[0, 0, 1], [1, 0, 1]]


def test_lines_are_sentences_too_and_those_without_a_term_are_left_out_but_for_the_first() -> None:
    text = "\n".join(["A word", "A mill", "Another word", "A river by a queen? A mill."])

    held = covered(TERMS, [Passage(text, "", "", "d"), Passage("A queen", "", "", "d")])

    assert held.sentences.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 0], [0, 0, 1]]
    assert held.starts.tolist() == [0, 4]


def test_words_are_found_by_their_stems_and_not_inside_others() -> None:
    terms = terms_of("Who studies milling?")

    held = covered(
        terms, [Passage("He studied at mills", "", "", "d"), Passage("millet, understudies, windmill", "", "", "d")]
    )

    assert held.sentences.tolist() == [[1, 1], [0, 0]]


def test_rare_terms_weigh_more_and_those_that_no_passage_holds_nothing() -> None:
    passages = [Passage("mill", "", "", "d"), Passage("mill river", "", "", "d"), Passage("", "", "", "d")]

    weights = covered(TERMS, passages).weights

    assert weights == pytest.approx([ONCE / (ONCE + TWICE), TWICE / (ONCE + TWICE), 0.0])


def test_terms_of_confident_names_weigh_less() -> None:
    plain, half, sure = (covered(TERMS, PASSAGES, queen=confidence) for confidence in (0.0, 0.5, 1.0))

    assert plain.weights == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert half.weights == pytest.approx([1 / 3, 1 / 3, 1 / 6])
    assert sure.weights == pytest.approx([1 / 3, 1 / 3, 0.0])
    assert sure.alone() == pytest.approx([1 / 3, 0.0, 0.0])


def test_a_rare_pair_weighs_more_and_one_inside_a_name_less() -> None:
    texts = ["river mill", "river mill. mill queen", "bread"]
    passages = [Passage(text, "", "", "d") for text in texts]

    plain, one, name = (covered(TERMS, passages, **named) for named in ({}, {"mill": 1.0}, {"river": 0.5, "mill": 1.0}))

    assert plain.pair_weights == pytest.approx([TWICE / (ONCE + TWICE), ONCE / (ONCE + TWICE)])
    assert plain.proximity() == pytest.approx([TWICE / (ONCE + TWICE), 1.0, 0.0])
    assert one.pair_weights == pytest.approx(plain.pair_weights)
    assert name.pair_weights == pytest.approx(plain.pair_weights * [0.5, 1.0])


def test_few_terms_and_passages_without_text_cover_little() -> None:
    nothing, single = covered([], PASSAGES), covered(["river"], PASSAGES)
    bare = covered(TERMS, [Passage("", "", "", "d"), Passage("\n\n", "Mill", "", "d")])

    assert nothing.alone().tolist() == nothing.proximity().tolist() == single.proximity().tolist() == [0, 0, 0]
    assert nothing.together([1]).tolist() == [[0], [0], [0]]
    assert nothing.pairs.shape == single.pairs.shape == (3, 0)
    assert (bare.sentences.tolist(), bare.starts.tolist()) == ([[0, 0, 0], [0, 1, 0]], [0, 1])
    assert bare.together([0]) == pytest.approx(np.array([[0.0], [1.0]]))


def test_the_named_share_counts_each_term_as_far_as_its_name_is_sure() -> None:
    assert named_share(TERMS, {"queen": 0.6, "other": 1.0}) == pytest.approx(0.2)
    assert named_share(TERMS, dict.fromkeys(TERMS, 1.0)) == pytest.approx(1.0)
    assert named_share(TERMS, {}) == named_share([], {"queen": 1.0}) == 0.0


WORDS = ["river", "mill", "queen", "bread", "oven"]
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
TEXTS = st.lists(
    st.builds(Passage, st.lists(SENTENCES, max_size=3).map(". ".join), SENTENCES, SENTENCES, st.just("d")), min_size=1
)
NAMED = st.dictionaries(st.sampled_from(WORDS), st.floats(0, 1))


@given(TEXTS, NAMED, st.data())
def test_together_is_the_most_that_any_two_sentences_cover(
    passages: list[Passage], named: dict[str, float], data: st.DataObject
) -> None:
    held = coverage(WORDS[:4], passages, named)
    first = data.draw(st.lists(st.integers(0, len(passages) - 1), unique=True, max_size=4))

    def rows(place: int) -> range:
        return range(*[*held.starts, len(held.sentences)][place : place + 2])

    expected = [
        [
            max(
                float(np.maximum(held.sentences[one], held.sentences[other]) @ held.weights)
                for one, other in product(rows(place), rows(before))
            )
            for before in first
        ]
        for place in range(len(passages))
    ]
    assert held.together(first) == pytest.approx(np.array(expected).reshape(len(passages), len(first)))


@given(TEXTS, NAMED)
def test_every_share_is_one_and_two_passages_cover_no_less_than_one(
    passages: list[Passage], named: dict[str, float]
) -> None:
    held = coverage(WORDS, passages, named)

    alone, together = held.alone(), held.together(range(len(passages)))
    assert max(held.weights.sum(), held.pair_weights.sum()) <= 1 + 1e-9
    assert all(((share >= 0) & (share <= 1 + 1e-9)).all() for share in (alone, held.proximity(), together))
    assert (together >= np.maximum(alone[:, None], alone[None, :]) - 1e-9).all()


@given(TEXTS)
def test_a_pair_is_close_where_both_of_its_words_begin_within_30_characters(passages: list[Passage]) -> None:
    held = coverage(WORDS, passages, {})

    def close(passage: Passage, one: str, other: str) -> bool:
        pieces = (passage.title, passage.heading, passage.text)
        return any(
            abs(first.start() - second.start()) <= 30
            for piece in pieces
            for first, second in product(re.finditer(one, piece), re.finditer(other, piece))
        )

    expected = [[close(passage, *pair) for pair in pairwise(WORDS)] for passage in passages]
    assert held.pairs.astype(bool).tolist() == expected


pieces = st.text(alphabet="aÉ. !\n。ｱ", max_size=12)


@given(st.lists(st.tuples(pieces, pieces, pieces), min_size=1, max_size=5), st.integers(0, 4))
def test_a_passage_is_folded_as_it_is_alone_whatever_stands_beside_it(
    texts: list[tuple[str, str, str]], known: int
) -> None:
    alone, beside = ([Passage(*each, "d") for each in texts] for _ in range(2))
    _ = [passage.bared for passage in beside[:known]]  # a question before met these

    coverage(TERMS, beside, {})

    for one, other in zip(alone, beside, strict=True):
        assert one.bared.text == other.bared.text
        assert one.bared.pieces.tolist() == other.bared.pieces.tolist()
        assert one.bared.sentences.tolist() == other.bared.sentences.tolist()
