"""Metadata as Neo4j can store it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from pipeline.ingest.sources.metadata import flat


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", "text"),
        (True, True),
        (3, 3),
        (2.5, 2.5),
        (2**63, str(2**63)),
        (date(2024, 1, 5), "2024-01-05"),
        (datetime(2024, 1, 5, 10, 30, tzinfo=UTC), "2024-01-05T10:30:00+00:00"),
        (b"\x01\xff", "01ff"),
        (["a", "b"], ["a", "b"]),
        ([], []),
        ([1, None, 2], [1, 2]),
        ([1, 2.5], [1.0, 2.5]),
        ([True, False], [True, False]),
        ([date(2024, 1, 5)], ["2024-01-05"]),
        ([1, "a"], '[1, "a"]'),
        ([True, 1], "[true, 1]"),
        ([["a"], {"b": date(2024, 1, 5)}], '[["a"], {"b": "2024-01-05"}]'),
    ],
)
def test_values_become_what_can_be_stored(value: Any, expected: Any) -> None:
    found = flat({"key": value})["key"]

    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), {}])
def test_nothing_is_dropped(value: Any) -> None:
    assert flat({"key": value}) == {}


def test_nesting_becomes_dots_in_order() -> None:
    nested = {"a": {"b": {"c": 1}, "d": 2}, "": 3, 4: 5}

    assert list(flat(nested).items()) == [("a.b.c", 1), ("a.d", 2), ("_", 3), ("4", 5)]


def test_mappings_may_be_nested_deeper_than_calls() -> None:
    nested: dict[object, object] = {"end": 1}
    for _ in range(3000):
        nested = {"a": nested}

    assert list(flat(nested).values()) == [1]
