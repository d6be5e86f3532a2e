"""Filters of frameworks as HopRank's: what LlamaIndex and Haystack have in common.

As everywhere in HopRank, a document without a field meets no condition on it, negated or not.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.errors import FilterError

Conditions = dict[str, Any]
"""A filter in HopRank's form; see :mod:`pipeline.retrieve.filters.parse`."""

COMPARISONS: Mapping[str, str] = {
    "==": "$eq",
    "!=": "$ne",
    "<": "$lt",
    "<=": "$lte",
    ">": "$gt",
    ">=": "$gte",
    "in": "$in",
}
"""The operators that both write alike."""

_OPPOSITES = {"$eq": "$ne", "$ne": "$eq", "$in": "$nin", "$nin": "$in", "$and": "$or", "$or": "$and"}


def compare(field: str, operator: str, value: object, operators: Mapping[str, str] = COMPARISONS) -> Conditions:
    """Return a condition on one field, its operator translated; raises FilterError if HopRank has none like it."""
    if operator not in operators:
        raise FilterError(
            f"The filter has the operator {operator!r} on {field!r}.", f"The operators are {' '.join(operators)}."
        )
    return {field: {operators[operator]: value}}


def join(operator: str, parts: Sequence[Conditions]) -> Conditions:
    """Join filters by ``and``, ``or`` or ``not``, which negates their conjunction; raises FilterError."""
    match operator.lower():
        case "and":
            return {"$and": list(parts)} if parts else {}
        case "or":
            return {"$or": list(parts)}
        case "not":
            return _negated({"$and": list(parts)})
    raise FilterError(f"The filter joins by {operator!r}.", "Join conditions by AND, OR or NOT.")


def _negated(conditions: Conditions) -> Conditions:
    """Return the opposite of a filter. Only conditions whose opposite is exact for lists have one."""
    if not conditions:
        raise FilterError("The filter negates a part without conditions, which nothing meets.", "Leave it out.")
    ((name, value),) = conditions.items()
    if name in _OPPOSITES:
        return {_OPPOSITES[name]: [_negated(part) for part in value]}
    ((operator, operand),) = value.items()
    if operator not in _OPPOSITES:
        raise FilterError(f"The filter negates {operator} of {name!r}.", "Write the opposite comparison instead.")
    return {name: {_OPPOSITES[operator]: operand}}
