"""Work is tried again as often as it is asked for, and what it raises travels in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import SourceError, WorkerFailed
from pipeline.files import DEFAULT_LIMITS, Unreadable
from pipeline.ingest.distributed import work
from pipeline.ingest.sources.rows import BadRow, Found, read_rows
from pipeline.ingest.sources.walk import SourceFile


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


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("content", "ends_early"),
    [
        (
            '{"id": "a", "text": "# A\\n\\nText.\\n\\n# B\\n\\nB."}\n\nno json\n{"id": "b", "text": "", "y": 7}\n',
            False,
        ),
        ('{"a": 1}\n{"a": 2}\n', True),
        ("", False),
    ],
)
def test_what_is_found_in_a_file_of_rows_travels_and_so_does_why_it_ends_early(
    tmp_path: Path, content: str, ends_early: bool, whole: bool
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(content)
    item = SourceFile(path, "rows.jsonl", named=False)

    (sent,) = work.value_of(work.read_file_of_rows(work.row(item), DEFAULT_LIMITS, whole, 0))

    found, expected = (taken(one) for one in (work.found_in(sent), next(read_rows([item], DEFAULT_LIMITS, whole))))
    assert found[1] == expected[1]
    assert (found[1] is not None) == ends_early
    for one, other in zip(found[0], expected[0], strict=True):
        assert type(one) is type(other)
        if isinstance(one, BadRow) and isinstance(other, BadRow):
            assert (one.place, str(one.error)) == (other.place, str(other.error))
            continue
        assert (one[0].place, one[1].key) == (other[0].place, other[1].key)
        assert one[1] == other[1] or not whole


def taken(found: Iterable[Found]) -> tuple[list[Any], str | None]:
    """What is found until the end, and why that is early."""
    items: list[Any] = []
    try:
        items.extend(found)
    except Unreadable as error:
        return items, str(error)
    return items, None
