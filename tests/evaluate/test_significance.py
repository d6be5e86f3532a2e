"""Verdicts: what paired differences say, and how many questions would say more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.significance import TIE, verdict

DIFFERENCES = st.lists(st.floats(-1, 1), min_size=2, max_size=30)


@given(DIFFERENCES)
def test_the_interval_holds_the_mean_and_the_verdict_is_its_side_of_0(values: list[float]) -> None:
    said = verdict("ndcg@10", [values])

    assert said.difference.low - 1e-9 <= said.difference.mean <= said.difference.high + 1e-9
    assert said.difference.mean == pytest.approx(np.mean(values), abs=1e-9)
    assert said.changed == sum(abs(value) > TIE for value in values)
    if said.answer != "unknown":
        assert (said.difference.low > 0) == (said.answer == "helps") == (said.difference.mean > 0)


@pytest.mark.parametrize(("sign", "answer"), [(1, "helps"), (-1, "hurts")])
def test_differences_of_one_sign_tell_it_from_six_questions_on(sign: int, answer: str) -> None:
    six, five = [sign * 0.2] * 6 + [0.0] * 6, [sign * 0.2] * 5 + [0.0] * 7

    assert verdict("ndcg@10", [six]).answer == answer
    assert verdict("ndcg@10", [five]).answer == "unknown"
    assert answer.capitalize() in verdict("ndcg@10", [six]).sentence


def test_more_questions_are_asked_for_by_the_deviation_of_the_differences() -> None:
    said = verdict("ndcg@10", [[0.2, -0.2] * 10])

    assert (said.answer, said.shows) == ("unknown", 0.02)
    assert said.needed == 784  # (2.8 * 0.2 / 0.02) ** 2
    assert said.sentence.startswith("Can't be told from 20 questions: ndcg@10 +0.0 points")
    assert said.sentence.endswith("About 784 would show a difference of 2.0.")


def test_as_many_questions_as_were_asked_show_more_than_a_small_deviation() -> None:
    said = verdict("ndcg@10", [[0.001, -0.001] * 10])

    assert said.sentence.endswith("A difference of 2.0 would have shown.")


def test_a_few_great_differences_ask_for_more_questions() -> None:
    said = verdict("ndcg@10", [[0.9] * 5 + [0.0] * 3])

    assert said.answer == "unknown"
    assert said.needed == 10  # of which 6 change, as 5 of 8 did


def test_where_nothing_changes_nothing_can_be_told() -> None:
    said = verdict("ndcg@10", [[0.0] * 20])

    assert (said.answer, said.changed, said.needed) == ("unknown", 0, None)
    assert "is the same on all" in said.sentence


def test_groups_weigh_the_same() -> None:
    said = verdict("ndcg@10", [[0.4] * 2, [0.0] * 20])

    assert said.difference.mean == pytest.approx(0.2)
    assert said.questions == 22
