"""The spool: a list on disk, for items that a run reads more than once and that may exceed the memory."""

import pickle
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Spool(AbstractContextManager["Spool[Item]"], Generic[Item]):
    """Batches of items in a temporary file, readable any number of times in order; deleted when the context ends."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="hoprank-")  # noqa: SIM115 - closed by close
        self._ends: list[int] = []
        self.count = 0

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Delete the file."""
        self._file.close()

    def append(self, batch: Sequence[Item]) -> None:
        """Append a batch."""
        self._file.seek(0, 2)
        pickle.dump(list(batch), self._file, protocol=pickle.HIGHEST_PROTOCOL)
        self._ends.append(self._file.tell())
        self.count += len(batch)

    def batches(self) -> Iterator[list[Item]]:
        """Yield the batches in the order of their addition."""
        for start, _ in zip([0, *self._ends], self._ends, strict=False):
            self._file.seek(start)
            yield pickle.load(self._file)  # noqa: S301 - the file is this process's own, and has no name

    def __iter__(self) -> Iterator[Item]:
        for batch in self.batches():
            yield from batch
