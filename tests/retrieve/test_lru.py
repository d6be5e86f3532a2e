"""Caches that keep what was used last, and one that threads share."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.retrieve.lru import SharedCache


@given(st.integers(1, 4), st.lists(st.integers(0, 6)))
def test_a_shared_cache_makes_a_value_when_it_isn_t_among_the_last_used(room: int, keys: list[int]) -> None:
    cache: SharedCache[int, object] = SharedCache(room)
    made: list[int] = []
    expected: list[int] = []
    last: list[int] = []

    for key in keys:
        cache.get(key, lambda key=key: made.append(key))  # type: ignore[misc]
        expected += [] if key in last else [key]
        last = [*(other for other in last if other != key), key][-room:]

    assert made == expected


def test_a_value_is_dropped_only_if_it_is_the_kept_one() -> None:
    cache: SharedCache[str, object] = SharedCache(2)
    kept = cache.get("a", object)

    cache.drop("a", object())
    cache.drop("b", kept)
    assert cache.get("a", object) is kept

    cache.drop("a", kept)
    assert cache.get("a", object) is not kept


def test_an_error_keeps_nothing() -> None:
    cache: SharedCache[str, int] = SharedCache(2)

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            cache.get("a", lambda: 1 // 0)

    assert cache.get("a", lambda: 3) == 3


def test_threads_that_ask_at_once_get_one_value() -> None:
    cache: SharedCache[str, object] = SharedCache(2)
    together = threading.Barrier(8)

    def make() -> object:
        together.wait(10)  # every thread makes one, for none was kept when they asked
        return object()

    with ThreadPoolExecutor(8) as pool:
        values = [future.result() for future in [pool.submit(cache.get, "a", make) for _ in range(8)]]

    assert set(values) == {cache.get("a", object)}


def test_the_making_of_one_value_doesn_t_hold_up_another() -> None:
    cache: SharedCache[str, str] = SharedCache(2)
    begun, done = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert done.wait(10)
        return "slow"

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cache.get, "a", slow)
        assert begun.wait(10)
        assert cache.get("b", lambda: "quick") == "quick"
        done.set()
        assert waiting.result() == "slow"


def test_threads_never_see_more_than_the_room_nor_a_value_of_another_key() -> None:
    cache: SharedCache[int, list[int]] = SharedCache(3)

    def ask(seed: int) -> bool:
        keys = [(seed * 7 + step * 5) % 11 for step in range(500)]
        return all(cache.get(key, lambda key=key: [key]) == [key] for key in keys)  # type: ignore[misc]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(8)))

    made: list[int] = []
    for key in range(11):
        cache.get(key, lambda key=key: made.append(key) or [key])  # type: ignore[misc, func-returns-value]
    assert len(made) >= 11 - 3
