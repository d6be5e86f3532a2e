"""What an error says to a user."""

from __future__ import annotations

import pytest

from pipeline.errors import InputError, SourceError
from pipeline.files.guard import Unreadable


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("notes doesn't exist", "notes doesn't exist."),
        ("is no 'list'", "is no 'list'."),
        ("It is there.", "It is there."),
        ("Is it there?", "Is it there?"),
        ("It stopped. Its log ends:\nKilled", "It stopped. Its log ends:\nKilled"),
    ],
)
def test_a_sentence_ends_before_the_advice(message: str, said: str) -> None:
    assert str(InputError(message, "Look.")) == f"{said}\nLook."
    assert InputError(message).message == message


def test_an_unreadable_source_is_named_in_one_sentence() -> None:
    assert str(SourceError(f"a.md {Unreadable('is empty').message}")) == "a.md is empty."
