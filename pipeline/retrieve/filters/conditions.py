"""What the operators of a filter mean, and which rows a filter admits.

Values compare with values of their own kind only: numbers with numbers, text with text (by code point, so ISO 8601
dates in order of time), true and false with each other. A row without the field meets no condition on it, not even
``$ne`` and ``$nin``, as in Cypher and SQL. Of a list one item must meet the condition; for ``$ne`` and ``$nin``, all.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.records import Scalar
from pipeline.retrieve.filters.parse import Condition, Every, Filter, Operator

Value: TypeAlias = Scalar | Sequence[Scalar] | None
"""What a row has in a field: None where it has nothing."""

Mask: TypeAlias = npt.NDArray[np.bool_]
"""For each row whether it is admitted."""

_WILD = re.compile(r"\\%|%|[^%\\]+|\\")
_GLOB = re.compile(r"[*?[]")


def admits(filter_: Filter, holds: Callable[[Condition], Mask], rows: int) -> Mask:
    """Return for each of ``rows`` rows whether a filter admits it; ``holds`` says so for one condition."""
    if isinstance(filter_, Condition):
        return holds(filter_)
    parts = [admits(part, holds, rows) for part in filter_.parts]
    if isinstance(filter_, Every):
        return np.logical_and.reduce(parts) if parts else np.ones(rows, dtype=np.bool_)
    both: Mask = np.logical_or.reduce(parts)
    return both


def as_test(condition: Condition) -> Callable[[Value], bool]:
    """Return the test of one value that a condition stands for.

    ``$like`` holds for a text that holds the one given; where that has a ``%``, for a text that is wholly as it says,
    each ``%`` standing for any stretch and ``\\%`` for itself. ``$ilike`` is the same without regard to case.
    """
    one = _scalar_test(condition)
    every = condition.operator in (Operator.NE, Operator.NIN)

    def test(value: Value) -> bool:
        if value is None:
            return False
        if isinstance(value, list | tuple):
            return all(map(one, value)) if every else any(map(one, value))
        return one(value)  # type: ignore[arg-type]  # a sequence that is neither list nor tuple is a text

    return test


def _scalar_test(condition: Condition) -> Callable[[Scalar], bool]:
    first, last = (*condition.operands[:1], *condition.operands[-1:]) or ("", "")
    match condition.operator:
        case Operator.EQ | Operator.IN | Operator.NE | Operator.NIN:
            known = {(_kind(one), one) for one in condition.operands}
            wanted = condition.operator in (Operator.EQ, Operator.IN)
            return lambda value: ((_kind(value), value) in known) is wanted
        case Operator.LT:
            return lambda value: _kind(value) is _kind(first) and value < first  # type: ignore[operator]
        case Operator.LTE:
            return lambda value: _kind(value) is _kind(first) and value <= first  # type: ignore[operator]
        case Operator.GT:
            return lambda value: _kind(value) is _kind(first) and value > first  # type: ignore[operator]
        case Operator.GTE:
            return lambda value: _kind(value) is _kind(first) and value >= first  # type: ignore[operator]
        case Operator.BETWEEN:
            return lambda value: _kind(value) is _kind(first) and first <= value <= last  # type: ignore[operator]
        case Operator.LIKE:
            return _text_test(str(first), fold=False)
        case Operator.ILIKE:
            return _text_test(str(first), fold=True)


def _text_test(pattern: str, *, fold: bool) -> Callable[[Scalar], bool]:
    pattern = pattern.casefold() if fold else pattern
    parts = _WILD.findall(pattern)
    if "%" not in parts:
        plain = pattern.replace("\\%", "%")
        return lambda value: isinstance(value, str) and plain in (value.casefold() if fold else value)
    # fnmatch's own translation never tries a stretch twice, so that no pattern takes more than a pass over the text.
    glob = "".join("*" if part == "%" else _GLOB.sub(r"[\g<0>]", part.replace("\\%", "%")) for part in parts)
    whole = re.compile(fnmatch.translate(glob)).match
    return lambda value: isinstance(value, str) and bool(whole(value.casefold() if fold else value))


def _kind(value: Scalar) -> type:
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)
