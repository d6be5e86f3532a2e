"""Values of words and names, kept for those that were used last."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeAlias, TypeVar, cast

_Value = TypeVar("_Value")
_Others = ParamSpec("_Others")

_LONGEST = 100  # characters; a client's question may be one long word. Chosen by hand


_Function: TypeAlias = Callable[Concatenate[str, _Others], _Value]


def cached(room: int) -> Callable[[_Function[_Others, _Value]], _Function[_Others, _Value]]:
    """Return a decorator that keeps the values for ``room`` strings, but not for long ones: so memory is bounded.

    Whatever else the function takes must be short and hashable.
    """

    def decorate(function: _Function[_Others, _Value]) -> _Function[_Others, _Value]:
        kept = cast("_Function[_Others, _Value]", lru_cache(maxsize=room)(function))

        @wraps(function)
        def call(text: str, *others: _Others.args, **named: _Others.kwargs) -> _Value:
            return kept(text, *others, **named) if len(text) <= _LONGEST else function(text, *others, **named)

        return cast("_Function[_Others, _Value]", call)

    return decorate
