"""The gate: how many calls run at the same time, and for how long."""

from __future__ import annotations

import asyncio
import threading

import pytest

from pipeline import HopRank
from pipeline.async_api import AsyncHopRank
from pipeline.errors import Overloaded, RequestTimeout
from pipeline.serve.http.gate import Gate


@pytest.fixture
def threads(hoprank: HopRank) -> AsyncHopRank:
    return AsyncHopRank(hoprank, workers=8)


def test_no_more_calls_run_than_there_are_slots(threads: AsyncHopRank) -> None:
    running, most = 0, 0
    lock, both = threading.Lock(), threading.Barrier(2, timeout=10)

    def call() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait()
        with lock:
            running -= 1

    async def calls() -> None:
        gate = Gate(threads, 2, 10, 10)
        await asyncio.gather(*(gate.run(call) for _ in range(8)))
        assert gate.running == 0

    asyncio.run(calls())

    assert most == 2


def test_a_call_without_a_slot_in_time_is_refused_and_a_slow_one_keeps_its_slot(threads: AsyncHopRank) -> None:
    over = threading.Event()

    async def calls() -> None:
        gate = Gate(threads, 1, 0.05, 0.05)
        with pytest.raises(RequestTimeout, match=r"longer than 0\.05 s"):
            await gate.run(over.wait, 10)
        with pytest.raises(Overloaded, match="all places are taken"):
            await gate.run(str)
        over.set()
        await asyncio.sleep(0.05)
        assert await gate.run(str) == ""

    asyncio.run(calls())


def test_an_error_of_the_call_is_raised(threads: AsyncHopRank) -> None:
    def call() -> None:
        raise TimeoutError("its own")

    async def calls() -> None:
        with pytest.raises(TimeoutError, match="its own"):
            await Gate(threads, 1, 1, 1).run(call)

    asyncio.run(calls())
