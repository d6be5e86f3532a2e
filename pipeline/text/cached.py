"""Values of words and names, kept for those that were used last."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

_Value = TypeVar("_Value")

_LONGEST = 100  # characters; a client's question may be one long word. Chosen by hand


def cached(room: int) -> Callable[[Callable[[str], _Value]], Callable[[str], _Value]]:
    """Return a decorator that keeps the values for ``room`` strings, but not for long ones: so memory is bounded."""

    def decorate(function: Callable[[str], _Value]) -> Callable[[str], _Value]:
        kept = lru_cache(maxsize=room)(function)

        @wraps(function)
        def call(text: str) -> _Value:
            return kept(text) if len(text) <= _LONGEST else function(text)

        return call

    return decorate
