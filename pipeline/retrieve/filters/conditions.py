"""Conditions: the meaning of a filter's operators, and the rows that match.

Values compare only with values of the same kind: numbers with numbers, text with text (by code point, so ISO 8601 dates
compare by time), true with false. A row without the field meets no condition on it, not even ``$ne`` and ``$nin``, as
in Cypher and SQL. A list meets a condition if one of its items does; for ``$ne`` and ``$nin`` all must.
"""

import fnmatch
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from pipeline.records import Scalar
from pipeline.retrieve.filters.parse import Condition, Every, Filter, Operator

Value: TypeAlias = Scalar | Sequence[Scalar] | None
"""The value of a field in a row; None if it has none."""

_WILD = re.compile(r"\\%|%|[^%\\]+|\\")
_GLOB = re.compile(r"[*?[]")
_COMPARISONS: Mapping[Operator, Callable[[Any, Any], bool]] = {
    Operator.LT: operator.lt,
    Operator.LTE: operator.le,
    Operator.GT: operator.gt,
    Operator.GTE: operator.ge,
}


def as_row_test(filter_: Filter) -> Callable[[Mapping[str, Value]], bool]:
    """Return the test of a row, the values of a filter's fields by name, that the filter describes."""
    if isinstance(filter_, Condition):
        test, field = as_test(filter_), filter_.field
        return lambda row: test(row.get(field))
    tests = [as_row_test(part) for part in filter_.parts]
    if isinstance(filter_, Every):
        return lambda row: all(one(row) for one in tests)
    return lambda row: any(one(row) for one in tests)


def as_test(condition: Condition) -> Callable[[Value], bool]:
    """Return the test of a value that a condition describes.

    ``$like`` matches texts that contain the operand. If the operand has a ``%``, it must match the whole text: ``%``
    stands for any characters and ``\\%`` for itself. ``$ilike`` ignores case.
    """
    scalar_test = _scalar_test(condition)
    every = condition.operator in (Operator.NE, Operator.NIN)

    def test(value: Value) -> bool:
        if value is None:
            return False
        if isinstance(value, list | tuple):
            return all(map(scalar_test, value)) if every else any(map(scalar_test, value))
        return scalar_test(value)  # type: ignore[arg-type]  # a sequence that is neither list nor tuple is a text

    return test


def _scalar_test(condition: Condition) -> Callable[[Scalar], bool]:
    first, last = (*condition.operands[:1], *condition.operands[-1:]) or ("", "")
    match condition.operator:
        case Operator.EQ | Operator.IN | Operator.NE | Operator.NIN:
            known = {(_kind(operand), operand) for operand in condition.operands}
            wanted = condition.operator in (Operator.EQ, Operator.IN)
            return lambda value: ((_kind(value), value) in known) is wanted
        case Operator.LT | Operator.LTE | Operator.GT | Operator.GTE:
            compare = _COMPARISONS[condition.operator]
            return lambda value: _kind(value) is _kind(first) and compare(value, first)
        case Operator.BETWEEN:
            return lambda value: _kind(value) is _kind(first) and first <= value <= last  # type: ignore[operator]
        case Operator.LIKE | Operator.ILIKE:
            return _text_test(str(first), fold=condition.operator is Operator.ILIKE)


def _text_test(pattern: str, *, fold: bool) -> Callable[[Scalar], bool]:
    pattern = pattern.casefold() if fold else pattern
    parts = _WILD.findall(pattern)
    if "%" not in parts:
        plain = pattern.replace("\\%", "%")
        return lambda value: isinstance(value, str) and plain in (value.casefold() if fold else value)
    # The translation of fnmatch never backtracks, so any pattern takes a single pass over the text.
    glob = "".join("*" if part == "%" else _GLOB.sub(r"[\g<0>]", part.replace("\\%", "%")) for part in parts)
    whole = re.compile(fnmatch.translate(glob)).match
    return lambda value: isinstance(value, str) and bool(whole(value.casefold() if fold else value))


def _kind(value: Scalar) -> type:
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)
