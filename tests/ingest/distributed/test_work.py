"""Work is tried again as often as it is asked for, and what it raises travels in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipeline.errors import SourceError, WorkerFailed
from pipeline.ingest.distributed import work


def failing(times: int, error: Exception, calls: list[int]) -> Callable[[], int]:
    def run() -> int:
        calls.append(1)
        if len(calls) <= times:
            raise error
        return 7

    return run


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "_PAUSE", 0)


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_work_is_tried_again_as_often_as_asked(retries: int) -> None:
    calls: list[int] = []
    assert work.attempt(failing(retries, OSError("full"), calls), retries, lambda: "It fails") == 7

    calls.clear()
    made = work.attempt(failing(retries + 1, OSError("full\nand more"), calls), retries, lambda: "It fails")
    assert made == (WorkerFailed, f"It fails: full (attempts: {retries + 1}).", work.FIX)
    assert len(calls) == retries + 1


def test_wrong_input_is_not_tried_again() -> None:
    calls: list[int] = []
    error = SourceError("a.md is wrong.", "Mend it.")

    assert work.attempt(failing(9, error, calls), 3, lambda: "It fails") == (SourceError, "a.md is wrong.", "Mend it.")
    assert calls == [1]


def test_an_error_without_words_is_named_by_its_class() -> None:
    made = work.attempt(failing(9, MemoryError(), []), 0, lambda: "It fails")

    assert isinstance(made, tuple)
    assert made[1] == "It fails: MemoryError (attempts: 1)."
