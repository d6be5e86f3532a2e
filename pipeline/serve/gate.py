"""The gate: a bound on the calls that run at the same time, with a queue and time limits; and one call for many."""

import asyncio
import contextvars
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Generic, ParamSpec, TypeVar

from pipeline.errors import Overloaded, RequestTimeout

_P = ParamSpec("_P")
_Result = TypeVar("_Result")


class Places:
    """Room for ``number`` calls at the same time; more wait for ``timeout`` seconds, None for ever."""

    def __init__(self, number: int, timeout: float | None = None) -> None:
        self._free = asyncio.Semaphore(number)
        self._timeout = timeout

    async def take(self) -> None:
        """Take a place, which :meth:`give` gives back; raises Overloaded if none is free in time."""
        try:
            await asyncio.wait_for(self._free.acquire(), self._timeout)
        except TimeoutError:
            raise Overloaded(
                f"No call ended within {self._timeout:g} s, and all places are taken.", "Send the request again."
            ) from None

    def give(self) -> None:
        """Give a place back."""
        self._free.release()


class Gate:
    """Runs blocking calls in threads: ``slots`` at the same time, more wait for a slot.

    A call that exceeds its time keeps its slot until it ends, so that no more than ``slots`` ever run. Times are in
    seconds; None is no limit.
    """

    def __init__(self, slots: int, queue_timeout: float | None = None, request_timeout: float | None = None) -> None:
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="hoprank-gate")
        self._slots = Places(slots, queue_timeout)
        self._request_timeout = request_timeout
        self.running = 0

    async def run(self, call: Callable[_P, _Result], /, *args: _P.args, **kwargs: _P.kwargs) -> _Result:
        """Return the result of ``call``; raises Overloaded if no slot is free in time, RequestTimeout if it is slow."""
        task = await self._begin(partial(call, *args, **kwargs))
        try:
            return await asyncio.wait_for(asyncio.shield(task), self._request_timeout)
        except TimeoutError:
            if task.done():
                raise
            raise RequestTimeout(
                f"The request took longer than {self._request_timeout:g} s.", "Ask for less, or send it again."
            ) from None

    async def run_to_end(self, call: Callable[_P, _Result], /, *args: _P.args, **kwargs: _P.kwargs) -> _Result:
        """Return the result of ``call`` however long it takes; raises Overloaded if no slot is free in time."""
        return await asyncio.shield(await self._begin(partial(call, *args, **kwargs)))

    async def _begin(self, call: Callable[[], _Result]) -> asyncio.Future[_Result]:
        await self._slots.take()
        context = contextvars.copy_context()  # with the span of the request
        try:
            task = asyncio.get_running_loop().run_in_executor(self._threads, context.run, call)
        except BaseException:  # no thread can be started, or the interpreter ends
            self._slots.give()
            raise
        self.running += 1
        task.add_done_callback(self._release)
        return task

    def _release(self, task: asyncio.Future[_Result]) -> None:
        self.running -= 1
        self._slots.give()
        if not task.cancelled():
            task.exception()  # read, for nobody may wait for it any more


class Shared(Generic[_Result]):
    """The outcome of one call for all who ask: it runs again if it began more than ``seconds`` ago and has ended."""

    def __init__(self, call: Callable[[], Awaitable[_Result]], seconds: float) -> None:
        self._call = call
        self._seconds = seconds
        self._running: asyncio.Future[_Result] | None = None
        self._began = 0.0

    async def get(self) -> _Result:
        """Return the outcome, or raise it."""
        if not self._running or (self._running.done() and time.monotonic() - self._began > self._seconds):
            self._running, self._began = asyncio.ensure_future(self._call()), time.monotonic()
        return await asyncio.shield(self._running)
