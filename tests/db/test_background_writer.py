"""The background writer: in order, bounded, and faithful about errors."""

from __future__ import annotations

import threading

import pytest

from pipeline.db.background_writer import BackgroundWriter


def test_calls_are_done_in_their_order_by_the_end_of_the_context() -> None:
    done: list[int] = []

    with BackgroundWriter() as background:
        for number in range(50):
            background.submit(done.append, number)

    assert done == list(range(50))


def test_whoever_is_ahead_waits() -> None:
    gate, submitted = threading.Event(), []

    def submit_all() -> None:
        with BackgroundWriter() as background:
            for number in range(6):
                background.submit(gate.wait, 5)
                submitted.append(number)

    ahead = threading.Thread(target=submit_all)
    ahead.start()
    ahead.join(0.3)
    assert len(submitted) < 6
    gate.set()
    ahead.join(5)
    assert len(submitted) == 6


def test_what_a_call_raises_is_raised_and_what_waits_is_not_done() -> None:
    done: list[str] = []

    def fail() -> None:
        raise OSError("The disk is full.")

    def write() -> None:
        with BackgroundWriter() as background:
            background.submit(fail)
            for _ in range(10):
                background.submit(done.append, "after")

    with pytest.raises(OSError, match="full"):
        write()
    assert len(done) < 10


def test_an_error_of_the_context_is_not_hidden_by_what_waits() -> None:
    def write() -> None:
        with BackgroundWriter() as background:
            background.submit(lambda: None)
            raise ValueError("other")

    with pytest.raises(ValueError, match="other"):
        write()
