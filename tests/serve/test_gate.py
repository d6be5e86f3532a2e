"""The gate: how many calls run at the same time, and for how long."""

from __future__ import annotations

import asyncio
import threading

import pytest

from pipeline.errors import Overloaded, RequestTimeout
from pipeline.serve.gate import Gate, Shared


def test_no_more_calls_run_than_there_are_slots() -> None:
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
        gate = Gate(2, 10, 10)
        await asyncio.gather(*(gate.run(call) for _ in range(8)))
        assert gate.running == 0

    asyncio.run(calls())

    assert most == 2


def test_a_call_without_a_slot_in_time_is_refused_and_a_slow_one_keeps_its_slot() -> None:
    over = threading.Event()

    async def calls() -> None:
        gate = Gate(1, 0.05, 0.05)
        with pytest.raises(RequestTimeout, match=r"longer than 0\.05 s"):
            await gate.run(over.wait, 10)
        with pytest.raises(Overloaded, match="all places are taken"):
            await gate.run(str)
        over.set()
        await asyncio.sleep(0.05)
        assert await gate.run(str) == ""

    asyncio.run(calls())


def test_a_call_for_which_there_is_no_thread_gives_its_slot_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    async def calls() -> None:
        gate = Gate(1, 0.05, 10)
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", refuse)
            with pytest.raises(RuntimeError, match="new thread"):
                await gate.run(str)
        assert gate.running == 0
        assert await gate.run(str) == ""

    asyncio.run(calls())


def test_an_error_of_the_call_is_raised() -> None:
    def call() -> None:
        raise TimeoutError("its own")

    async def calls() -> None:
        with pytest.raises(TimeoutError, match="its own"):
            await Gate(1, 1, 1).run(call)

    asyncio.run(calls())


def test_a_call_that_runs_to_its_end_has_no_time_limit() -> None:
    over = threading.Event()

    async def calls() -> bool:
        gate = Gate(1, 0.05, 0.05)
        asyncio.get_running_loop().call_later(0.2, over.set)
        return await gate.run_to_end(over.wait, 10)

    assert asyncio.run(calls())


def test_a_cancelled_call_keeps_its_slot_until_it_ends() -> None:
    over = threading.Event()

    async def calls() -> None:
        gate = Gate(1)
        waiting = asyncio.ensure_future(gate.run(over.wait, 10))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert waiting.cancelled()
        assert gate.running == 1
        over.set()
        assert await gate.run(str) == ""

    asyncio.run(calls())


def test_a_shared_call_runs_once_for_all_who_ask_and_again_when_its_outcome_is_old() -> None:
    calls = 0

    async def call() -> int:
        nonlocal calls
        calls += 1
        await asyncio.sleep(0.05)
        if calls == 2:
            raise Overloaded("The second fails.")
        return calls

    async def ask() -> None:
        shared = Shared(call, 0.2)
        assert await asyncio.gather(*(shared.get() for _ in range(20))) == [1] * 20
        given_up = asyncio.ensure_future(shared.get())
        given_up.cancel()
        assert await shared.get() == 1
        await asyncio.sleep(0.25)
        failed = await asyncio.gather(*(shared.get() for _ in range(5)), return_exceptions=True)
        assert [str(one) for one in failed] == ["The second fails."] * 5
        await asyncio.sleep(0.25)
        assert await shared.get() == 3

    asyncio.run(ask())
