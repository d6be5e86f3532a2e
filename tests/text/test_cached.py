"""What is kept of words: as many as there is room for, and none that is long."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest

from pipeline.domains.tools.types import words
from pipeline.retrieve.scoring import coverage
from pipeline.text.cached import cached
from pipeline.text.names import name_key


def test_a_value_is_kept_for_those_used_last() -> None:
    asked = []

    @cached(2)
    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    assert [length(text) for text in ("a", "bb", "a", "ccc", "a", "bb")] == [1, 2, 1, 3, 1, 2]
    assert asked == ["a", "bb", "ccc", "bb"]
    assert [length("d" * 10_000) for _ in range(2)] == [10_000, 10_000]
    assert asked[-2:] == ["d" * 10_000] * 2


@pytest.mark.parametrize("function", [name_key, coverage.stem, words.stem], ids=lambda one: one.__module__)
def test_long_words_of_a_question_fill_no_memory(function: Callable[[str], str]) -> None:
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(300):
            function(f"{number:x}" + "w" * 9_900)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert after - before < 500_000
