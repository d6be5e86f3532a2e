"""The Python interface for servers: the methods of :class:`pipeline.HopRank`, to await."""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from pipeline.answer.chat import check_model
from pipeline.answer.records import Answer, AnswerEvent
from pipeline.api import HopRank
from pipeline.db.embedded.options import Report as StartReport
from pipeline.db.embedded.options import silent
from pipeline.embedding.embedder import Embedder
from pipeline.errors import ConfigurationError, InputError
from pipeline.flows import ask
from pipeline.retrieve.window import Expand
from pipeline.settings import Settings

WORKERS = 8
"""Threads of a connection unless told otherwise.

On 2 cores, 100 searches at once take 2.0 s on 4, 8 and 16 threads alike, and the event loop waits for its turn among
them for up to 0.1, 0.1 and 0.8 s. A server that is far away, for which threads mostly wait, is worth more.
"""

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _awaited(
    method: Callable[Concatenate[HopRank, _P], _R],
) -> Callable[Concatenate[AsyncHopRank, _P], Coroutine[Any, Any, _R]]:
    """Return a method of HopRank as one that runs in a thread, with the same parameters."""

    @functools.wraps(method)
    async def call(self: AsyncHopRank, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return await self.run(method, self.hoprank, *args, **kwargs)

    return call


class AsyncHopRank(AbstractAsyncContextManager["AsyncHopRank"]):
    """A connection whose methods are awaited: they run in ``workers`` threads, and the event loop is never blocked.

    More calls than threads wait in the order in which they came. A call whose task is cancelled is dropped if it
    waits; one that has begun runs to its end, so that a write is never half done. ``progress`` and ``announce`` are
    called in the threads. ``hoprank`` is the connection itself, for what isn't awaited; it is closed with this one.

    Example::

        from hoprank import AsyncHopRank

        async with await AsyncHopRank.connect() as hoprank:
            result = await hoprank.search("Who founded the yard?", corpus="docs", top_k=5)
    """

    def __init__(self, hoprank: HopRank, *, workers: int = WORKERS) -> None:
        self.hoprank = hoprank
        self._pool = _pool(workers)

    @classmethod
    async def connect(
        cls,
        uri: str | None = None,
        username: str | None = None,
        password: str | None = None,
        database: str | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        report: StartReport = silent,
        workers: int = WORKERS,
    ) -> AsyncHopRank:
        """Connect as :meth:`pipeline.HopRank.connect` does, which raises the same errors."""
        pool = _pool(workers)
        connecting = pool.submit(
            HopRank.connect, uri, username, password, database, settings=settings, embedder=embedder, report=report
        )
        # The thread of this one call ends by itself, also when its task is cancelled.
        pool.shutdown(wait=False)
        try:
            hoprank = await asyncio.wrap_future(connecting)
        except asyncio.CancelledError:
            connecting.add_done_callback(_close_abandoned)
            raise
        return cls(hoprank, workers=workers)

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Wait for the calls that were made, and close the connection. Later calls raise InputError."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._pool.shutdown()
        self.hoprank.close()

    async def run(self, function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Call any function in one of the threads, and return its result or raise its error.

        For what has no method here: ``await hoprank.run(hoprank.hoprank.evaluate, "my-queryset")``.
        """
        call = functools.partial(contextvars.copy_context().run, function, *args, **kwargs)
        try:
            calling = asyncio.get_running_loop().run_in_executor(self._pool, call)
        except RuntimeError as error:  # so the pool says that it was shut down
            raise InputError(
                "This connection is closed.", "Close it after its last call, or connect once more."
            ) from error
        return await calling

    async def ask(
        self,
        query_text: str,
        *,
        corpus: str = "default",
        tokens: int | None = None,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        expand: Expand | str = Expand.NONE,
        min_relevance: float | None = None,
    ) -> Answer:
        """Return an answer as :meth:`pipeline.HopRank.ask` does. Cancelling ends the model's work, too."""
        events = self.ask_stream(
            query_text,
            corpus=corpus,
            tokens=tokens,
            top_k=top_k,
            filters=filters,
            expand=expand,
            min_relevance=min_relevance,
        )
        async with aclosing(events):
            *_, answer = [event async for event in events]
        return cast(Answer, answer)

    async def ask_stream(
        self,
        query_text: str,
        *,
        corpus: str = "default",
        tokens: int | None = None,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        expand: Expand | str = Expand.NONE,
        min_relevance: float | None = None,
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield what :meth:`pipeline.HopRank.ask_stream` does; the model is waited for in the event loop.

        Closing the generator, or cancelling its task, ends the model's work.
        """
        settings = self.hoprank.settings.ask
        check_model(settings)
        budget = settings.tokens if tokens is None else tokens
        found = await self.context(
            query_text,
            corpus=corpus,
            tokens=budget,
            top_k=top_k,
            filters=filters,
            expand=expand,
            min_relevance=min_relevance,
        )
        async with aclosing(ask.answer(self.hoprank.settings, found, min_relevance)) as events:
            async for event in events:
                yield event

    search = _awaited(HopRank.search)
    context = _awaited(HopRank.context)
    ingest = _awaited(HopRank.ingest)
    sync = _awaited(HopRank.sync)
    delete = _awaited(HopRank.delete)


def _pool(workers: int) -> ThreadPoolExecutor:
    if workers < 1:
        raise ConfigurationError(f"workers is {workers}.", "A connection takes 1 thread or more.")
    return ThreadPoolExecutor(workers, thread_name_prefix="hoprank")


def _close_abandoned(connecting: Future[HopRank]) -> None:
    """Close a connection that nobody waits for any more."""
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()
