"""Methods of stores and retrievers as frameworks await them."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

_R = TypeVar("_R")


def awaited(method: Callable[..., _R]) -> Callable[..., Coroutine[Any, Any, _R]]:
    """Return a method as one that runs in a thread, with the same parameters."""

    @functools.wraps(method)
    async def call(*args: Any, **options: Any) -> _R:
        return await asyncio.to_thread(method, *args, **options)

    call.__doc__ = f"Do what :meth:`{method.__name__}` does, without blocking the event loop."
    return call
