"""The background writer: a thread that writes submitted batches in order; submitting blocks while it is behind."""

import contextvars
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

_MAX_PENDING = 2  # batches that may wait while the next is prepared; more would only take memory


class BackgroundWriter:
    """A queue of calls with a single thread. The end of the context waits for all calls and raises their errors."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "hoprank-write")
        self._pending: deque[Future[Any]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        try:
            if kind is None:
                self.wait()
        finally:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def submit(self, call: Callable[..., object], *arguments: object) -> None:
        """Queue a call; block while more than a few calls are pending. Raises the error of an earlier call."""
        # in the caller's context, and so within its span
        self._pending.append(self._pool.submit(contextvars.copy_context().run, call, *arguments))
        self.wait(_MAX_PENDING)

    def wait(self, most: int = 0) -> None:
        """Block until at most ``most`` calls are pending. Raises the error of an earlier call."""
        while len(self._pending) > most:
            self._pending.popleft().result()
