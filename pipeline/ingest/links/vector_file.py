"""Vectors on disk, by row: those of a large corpus are most of what an ingest would hold in memory."""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.records import Vector


class VectorFile(AbstractContextManager["VectorFile"]):
    """A temporary file of vectors of one ``dimension``, read by rows as an array of shape (n, d) is; for one thread.

    It is read and not mapped: pages of a mapped file count as memory, and one that is looked at here and there soon has
    all of them.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._rows = 0
        self._file: Any = tempfile.TemporaryFile(prefix="hoprank-", buffering=0)  # noqa: SIM115 - close() closes it

    @property
    def shape(self) -> tuple[int, int]:
        """How many vectors there are, and their dimension."""
        return self._rows, self._dimension

    def __len__(self) -> int:
        return self._rows

    def append(self, vectors: npt.ArrayLike) -> None:
        """Add a vector, the rows of an array, or a list of vectors, at the end; there may be none."""
        rows = np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1, self._dimension)
        self._file.seek(0, 2)
        self._file.write(rows.data)
        self._rows += len(rows)

    def __getitem__(self, rows: slice | npt.NDArray[np.int64] | list[int]) -> Vector:
        places = np.arange(self._rows)[rows]
        found: Vector = np.empty((len(places), self._dimension), dtype=np.float32)
        # Each run of adjacent rows by one read.
        ends = np.flatnonzero(np.diff(places) != 1) + 1
        for first, last in zip(np.r_[0, ends].tolist(), np.r_[ends, len(places)].tolist(), strict=True):
            if first < last:
                self._file.seek(int(places[first]) * found.itemsize * self._dimension)
                self._file.readinto(found[first:last].data)
        return found

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go."""
        self._file.close()
