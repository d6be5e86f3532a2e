"""The Python interface for servers: its methods are HopRank's, awaited, and never block the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline import AsyncHopRank, HopRank
from pipeline.embedding.embedder import Embedder
from pipeline.errors import ConfigurationError, CorpusError, InputError
from pipeline.settings import Settings
from tests.conftest import LIBRARY

METHODS = ("search", "context", "ingest", "sync", "delete")
PATIENCE = 30
"""Seconds after which a test gives up."""


@pytest.fixture
def settings(hoprank: HopRank) -> Settings:
    return hoprank.settings


@pytest.fixture
def on_connection(settings: Settings, embedder: Embedder) -> Callable[..., Any]:
    """Run a coroutine function on a connection of its own, and close that."""

    def run(work: Callable[[AsyncHopRank], Awaitable[Any]], **options: Any) -> Any:
        async def connected() -> Any:
            async with await AsyncHopRank.connect(settings=settings, embedder=embedder, **options) as hoprank:
                return await work(hoprank)

        return asyncio.run(asyncio.wait_for(connected(), PATIENCE))

    return run


@pytest.mark.parametrize("name", METHODS)
def test_a_method_takes_what_hoprank_s_takes(name: str) -> None:
    awaited, plain = getattr(AsyncHopRank, name), getattr(HopRank, name)

    assert inspect.iscoroutinefunction(awaited)
    assert inspect.signature(awaited) == inspect.signature(plain)
    assert awaited.__doc__ == plain.__doc__


def test_connecting_takes_what_hoprank_s_takes_and_workers() -> None:
    plain = inspect.signature(HopRank.connect).parameters
    awaited = dict(inspect.signature(AsyncHopRank.connect).parameters)

    assert awaited.pop("workers").kind is inspect.Parameter.KEYWORD_ONLY
    assert awaited == dict(plain)


@pytest.mark.slow
def test_a_hundred_searches_at_once_answer_as_one_by_one_while_the_loop_runs(
    on_connection: Callable[..., Any], hoprank: HopRank, library: str
) -> None:
    questions = [f"{title} and {other}?" for title, _ in LIBRARY.values() for other, _ in LIBRARY.values()][:100]
    expected = [hoprank.search(question, corpus=library, top_k=5) for question in questions]

    async def at_once(connection: AsyncHopRank) -> tuple[list[Any], float, float]:
        await connection.search(questions[0], corpus=library)
        waits: list[float] = []
        ticker = asyncio.create_task(tick(waits))
        start = time.perf_counter()
        results = await asyncio.gather(
            *(connection.search(question, corpus=library, top_k=5) for question in questions)
        )
        total = time.perf_counter() - start
        ticker.cancel()
        return results, total, max(waits)

    results, total, longest = on_connection(at_once)

    assert results == expected
    assert longest < total / 2


async def tick(waits: list[float]) -> None:
    """Note the time between turns of the loop."""
    last = time.perf_counter()
    while True:
        await asyncio.sleep(0.002)
        now = time.perf_counter()
        waits.append(now - last)
        last = now


def test_the_loop_runs_while_a_call_waits_for_it(on_connection: Callable[..., Any]) -> None:
    async def work(connection: AsyncHopRank) -> bool:
        signal = threading.Event()
        call = asyncio.create_task(connection.run(signal.wait, PATIENCE))
        await asyncio.sleep(0)
        signal.set()
        return await call

    assert on_connection(work) is True


def test_documents_are_ingested_read_synchronised_and_deleted(
    on_connection: Callable[..., Any], corpus_name: str, jsonl: Callable[..., Path]
) -> None:
    path = jsonl([{"id": "otter", "text": "The otter swims."}, {"id": "beaver", "text": "The beaver builds dams."}])

    async def work(connection: AsyncHopRank) -> tuple[Any, ...]:
        added = await connection.ingest(path, corpus=corpus_name)
        context = await connection.context("Who builds dams?", corpus=corpus_name)
        deleted = await connection.delete(["otter"], corpus=corpus_name)
        synced = await connection.sync(path, corpus=corpus_name)
        listed = await connection.run(connection.hoprank.documents, corpus_name, prefix="b")
        return added.changed, context.to_markdown(), deleted.documents, synced.done, len(listed)

    added, text, deleted, synced, listed = on_connection(work)

    assert (added, deleted, synced.documents, listed) == (2, 1, 2, 1)
    assert "The beaver builds dams." in text


def test_errors_are_those_of_hoprank(on_connection: Callable[..., Any]) -> None:
    async def work(connection: AsyncHopRank) -> None:
        with pytest.raises(CorpusError):
            await connection.delete(["a"], corpus="never-made")

    on_connection(work)


def test_no_more_calls_run_than_there_are_workers(on_connection: Callable[..., Any]) -> None:
    running: list[int] = []
    together = threading.Lock()
    most = 0

    def call(number: int) -> int:
        nonlocal most
        with together:
            running.append(number)
            most = max(most, len(running))
        time.sleep(0.005)
        with together:
            running.remove(number)
        return number

    async def work(connection: AsyncHopRank) -> list[int]:
        return await asyncio.gather(*(connection.run(call, number) for number in range(40)))

    assert on_connection(work, workers=3) == list(range(40))
    assert most == 3


def test_less_than_a_worker_is_refused(hoprank: HopRank) -> None:
    with pytest.raises(ConfigurationError, match="workers is 0"):
        AsyncHopRank(hoprank, workers=0)


def test_a_call_sees_the_context_of_its_task(on_connection: Callable[..., Any]) -> None:
    request: contextvars.ContextVar[str] = contextvars.ContextVar("request")

    async def work(connection: AsyncHopRank) -> str:
        request.set("of this task")
        return await connection.run(request.get)

    assert on_connection(work) == "of this task"


def test_a_cancelled_call_is_dropped_if_it_waits_and_completed_if_it_runs(
    on_connection: Callable[..., Any], library: str
) -> None:
    done: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        go_on.wait(PATIENCE)
        done.append("running")

    async def work(connection: AsyncHopRank) -> int:
        running = asyncio.create_task(connection.run(hold))
        waiting = asyncio.create_task(connection.run(done.append, "waiting"))
        await asyncio.to_thread(begun.wait, PATIENCE)
        for task in (running, waiting):
            task.cancel()
        ends = await asyncio.gather(running, waiting, return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ends)
        go_on.set()
        return len((await connection.search("silk", corpus=library, top_k=3)).items)

    assert on_connection(work, workers=1) == 3
    assert done == ["running"]


def test_closing_waits_for_calls_and_refuses_later_ones(settings: Settings, embedder: Embedder, library: str) -> None:
    async def work() -> list[Any]:
        connection = await AsyncHopRank.connect(settings=settings, embedder=embedder, workers=2)
        calls = [asyncio.create_task(connection.search("silk", corpus=library, top_k=n)) for n in (1, 2, 3, 4)]
        await asyncio.sleep(0)
        await connection.close()
        await connection.close()
        with pytest.raises(InputError, match="closed"):
            await connection.search("silk", corpus=library)
        return await asyncio.gather(*calls)

    results = asyncio.run(work())

    assert [len(result.items) for result in results] == [1, 2, 3, 4]


@pytest.mark.slow
def test_a_connection_that_nobody_waits_for_is_closed(
    settings: Settings, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, close = HopRank.connect, HopRank.close
    begun, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    def slowly(*arguments: Any, **options: Any) -> HopRank:
        begun.set()
        go_on.wait(PATIENCE)
        return connect(*arguments, **options)

    def noted(self: HopRank) -> None:
        close(self)
        closed.set()

    monkeypatch.setattr(HopRank, "connect", slowly)
    monkeypatch.setattr(HopRank, "close", noted)

    async def work() -> None:
        connecting = asyncio.create_task(AsyncHopRank.connect(settings=settings, embedder=embedder))
        await asyncio.to_thread(begun.wait, PATIENCE)
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting
        go_on.set()

    asyncio.run(work())

    assert closed.wait(PATIENCE)
