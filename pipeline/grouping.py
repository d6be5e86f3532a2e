"""Values grouped by keys."""

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def grouped(pairs: Iterable[tuple[Key, Value]]) -> defaultdict[Key, list[Value]]:
    """Return the values of each key, both in their order; a key that isn't among the pairs has none."""
    groups: defaultdict[Key, list[Value]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups
