"""Vectors on disk, by row: in a large corpus they would take most of an ingest's memory."""

import tempfile
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.records import Vector


class VectorFile(AbstractContextManager["VectorFile"]):
    """A temporary file of vectors of the same ``dimension``, indexed by rows like an array of shape (n, d).

    Not thread-safe. The file is read, not mapped: mapped pages count as memory, and random access soon maps all of
    them.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._rows = 0
        self._file: Any = tempfile.TemporaryFile(prefix="hoprank-", buffering=0)  # noqa: SIM115 - close() closes it

    @property
    def shape(self) -> tuple[int, int]:
        """Number of vectors, and their dimension."""
        return self._rows, self._dimension

    def __len__(self) -> int:
        return self._rows

    def append(self, vectors: npt.ArrayLike) -> None:
        """Append a vector, the rows of an array, or a list of vectors, which may be empty."""
        rows = np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1, self._dimension)
        self._file.seek(0, 2)
        self._file.write(rows.data)
        self._rows += len(rows)

    def __getitem__(self, rows: slice | npt.NDArray[np.int64] | list[int]) -> Vector:
        indices = np.arange(self._rows)[rows]
        vectors: Vector = np.empty((len(indices), self._dimension), dtype=np.float32)
        # A single read for each run of adjacent rows.
        ends = np.flatnonzero(np.diff(indices) != 1) + 1
        for first, last in zip(np.r_[0, ends].tolist(), np.r_[ends, len(indices)].tolist(), strict=True):
            if first < last:
                self._file.seek(int(indices[first]) * vectors.itemsize * self._dimension)
                self._file.readinto(vectors[first:last].data)
        return vectors

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Delete the file."""
        self._file.close()
