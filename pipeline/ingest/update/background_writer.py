"""The background writer: one thread writes, in order, what another submits, and slows it when it falls behind."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

_WAITING = 2
"""Batches that may wait to be written while the next is prepared; more would only fill the memory."""


class BackgroundWriter:
    """A queue of calls with one thread. The end of the context waits for all calls, and raises what one raised."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "hoprank-write")
        self._waiting: deque[Future[Any]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.wait()
        finally:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def submit(self, call: Callable[..., object], *arguments: object) -> None:
        """Queue a call; return once few are waiting."""
        self._waiting.append(self._pool.submit(call, *arguments))
        self.wait(_WAITING)

    def wait(self, most: int = 0) -> None:
        """Return once at most ``most`` calls are not done."""
        while len(self._waiting) > most:
            self._waiting.popleft().result()
