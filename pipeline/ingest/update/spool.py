"""A list that is kept on disk: what a run has to go through twice, and that may be larger than the memory."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Spool(AbstractContextManager["Spool[Item]"], Generic[Item]):
    """Batches of items in a temporary file, which goes when the context ends; read as often as wanted, in order."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="hoprank-")  # noqa: SIM115 - closed by close
        self._ends: list[int] = []
        self.count = 0

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Have the file gone."""
        self._file.close()

    def append(self, batch: Sequence[Item]) -> None:
        """Add a batch behind the others."""
        self._file.seek(0, 2)
        pickle.dump(list(batch), self._file, protocol=pickle.HIGHEST_PROTOCOL)
        self._ends.append(self._file.tell())
        self.count += len(batch)

    def batches(self) -> Iterator[list[Item]]:
        """Yield the batches as they were added."""
        for start, _ in zip([0, *self._ends], self._ends, strict=False):
            self._file.seek(start)
            yield pickle.load(self._file)  # noqa: S301 - the file is this process's own, and has no name

    def __iter__(self) -> Iterator[Item]:
        for batch in self.batches():
            yield from batch
