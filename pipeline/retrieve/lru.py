"""A mapping that keeps the most recently used entries."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Recent(OrderedDict[_Key, _Value], Generic[_Key, _Value]):
    """Entries in the order of their last use; :meth:`use` keeps ``room`` of them. Not thread-safe."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self._room = room

    def use(self, key: _Key, value: _Value) -> _Value:
        """Put an entry last, drop the first entries beyond the room, and return the value."""
        self[key] = value
        self.move_to_end(key)
        while len(self) > self._room:
            self.popitem(last=False)
        return value
