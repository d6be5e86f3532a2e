"""Mappings that keep the most recently used entries."""

import threading
from collections import OrderedDict
from collections.abc import Callable
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


class SharedCache(Generic[_Key, _Value]):
    """Keeps the ``room`` values that were used last. Thread-safe.

    A value that is dropped stays whole for those who still use it.
    """

    def __init__(self, room: int) -> None:
        self._kept: Recent[_Key, _Value] = Recent(room)
        self._lock = threading.Lock()

    def get(self, key: _Key, make: Callable[[], _Value]) -> _Value:
        """Return the kept value of a key, else the one that ``make`` returns, which is then kept.

        Threads that ask at once may each make one, and all get the first that was kept; none waits for another's.
        """
        with self._lock:
            if key in self._kept:
                return self._kept.use(key, self._kept[key])
        made = make()
        with self._lock:
            return self._kept.use(key, self._kept.get(key, made))

    def drop(self, key: _Key, value: _Value) -> None:
        """Forget the value of a key if it is this very one."""
        with self._lock:
            if self._kept.get(key) is value:
                del self._kept[key]
