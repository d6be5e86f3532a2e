"""The gate: a bound on the calls that run at the same time, with a queue and time limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from pipeline.async_api import AsyncHopRank
from pipeline.errors import Overloaded, RequestTimeout

_Result = TypeVar("_Result")


class Gate:
    """Runs blocking calls in the threads of a connection: ``slots`` at the same time, more wait for a slot.

    A call that exceeds its time keeps its slot until it ends, so that no more than ``slots`` ever run. Times are in
    seconds.
    """

    def __init__(self, hoprank: AsyncHopRank, slots: int, queue_timeout: float, request_timeout: float) -> None:
        self._hoprank = hoprank
        self._slots = asyncio.Semaphore(slots)
        self._queue_timeout = queue_timeout
        self._request_timeout = request_timeout
        self.running = 0

    async def run(self, call: Callable[..., _Result], *args: Any, **kwargs: Any) -> _Result:
        """Return the result of ``call``; raises Overloaded if no slot is free in time, RequestTimeout if it is slow."""
        try:
            await asyncio.wait_for(self._slots.acquire(), self._queue_timeout)
        except TimeoutError:
            raise Overloaded(
                f"No call ended within {self._queue_timeout:g} s, and all places are taken.", "Send the request again."
            ) from None
        self.running += 1
        task = asyncio.ensure_future(self._hoprank.run(call, *args, **kwargs))
        task.add_done_callback(self._release)
        try:
            return await asyncio.wait_for(asyncio.shield(task), self._request_timeout)
        except TimeoutError:
            if task.done():
                raise
            raise RequestTimeout(
                f"The request took longer than {self._request_timeout:g} s.", "Ask for less, or send it again."
            ) from None

    def _release(self, task: asyncio.Future[Any]) -> None:
        self.running -= 1
        self._slots.release()
        if not task.cancelled():
            task.exception()  # read, for nobody may wait for it any more
