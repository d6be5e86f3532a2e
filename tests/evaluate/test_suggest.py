"""Questions worth judging: how far rankings differ, and which questions are named."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.suggest import average_overlap, suggest

RANKINGS = st.lists(st.sampled_from("abcdefghijklmn"), unique=True, max_size=12)


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [("abc", "abc", 1.0), ("ab", "ba", 0.5), ("abc", "xyz", 0.0), ("", "", 1.0), ("", "a", 0.0), ("ab", "a", 0.75)],
)
def test_average_overlap_is_the_mean_share_of_common_documents(one: str, other: str, overlap: float) -> None:
    assert average_overlap(one, other) == overlap


@given(RANKINGS, RANKINGS)
def test_overlap_has_no_order_and_is_whole_for_equal_starts_alone(one: Sequence[str], other: Sequence[str]) -> None:
    overlap = average_overlap(one, other)

    assert overlap == average_overlap(other, one)
    assert 0 <= overlap <= 1
    assert (overlap == 1) == (one[:10] == other[:10])


def test_the_questions_on_which_rankings_disagree_most_come_first_with_what_to_judge() -> None:
    questions = {"same": "Same?", "apart": "Apart?", "swapped": "Swapped?"}
    rankings = {"vector": ["ab", "ab", "ab"], "fulltext": ["ab", "cd", "ab"], "hoprank": ["ab", "ef", "ba"]}

    found = suggest(questions, rankings, 2)

    assert [(one.id, one.disagreement, "".join(one.documents)) for one in found] == [
        ("apart", 1.0, "acebdf"),
        ("swapped", 0.3333, "ab"),
    ]
