"""Similar pairs: each chunk's nearest chunks by cosine, and the pairs that are linked.

A pair is similar if either chunk lists the other, i.e. has it among its ``top_k`` nearest within a threshold. It is
linked if it is among the best ``degree_limit`` pairs of both chunks. Both rules depend only on a chunk's neighbourhood,
so that an update can apply them around its changes.

The same vectors give the same links in any arithmetic: see :mod:`pipeline.embedding.nearest`.
"""

import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.embedding.nearest import NeighbourLists, Rows, Scores, best_neighbours, cosines, nearest, rank_in_row
from pipeline.records import Vector

_BLOCK = 1024  # vectors searched at once; this and the next three are chosen by hand, not measured
_CONNECTIVITY = 24  # edges of a vector in the HNSW graph; usearch's default is 16
_EXPANSION = 128  # candidates looked at when adding and searching; usearch's defaults are 128 and 64
_INDEX_BATCH = 20_000  # vectors in memory: 30 MB at 384 dimensions


class VectorFile(AbstractContextManager["VectorFile"]):
    """A temporary file of vectors of the same ``dimension``, indexed by rows like an array of shape (n, d).

    Not thread-safe. The file is read, not mapped: mapped pages count as memory, and random access soon maps all of
    them.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._rows = 0
        self._file: Any = tempfile.TemporaryFile(prefix="hoprank-", buffering=0)  # noqa: SIM115 - __exit__ closes it

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
        self._file.close()


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two chunks, by row: ``source`` lists ``target``; if ``mutual``, each lists the other, and source < target.

    ``linked``: the pair is within the degree limit of both.
    """

    source: int
    target: int
    score: float
    mutual: bool
    linked: bool


def similar_pairs(
    vectors: Vector | VectorFile, *, top_k: int, threshold: float, degree_limit: int, exact_up_to: int = 50_000
) -> Iterator[SimilarPair]:
    """Yield the similar pairs of the rows of ``vectors`` (unit length, shape (n, d)), ordered by the lower row.

    For up to ``exact_up_to`` rows (by default as many as the setting) neighbours are exact, by blocked matrix products;
    beyond, approximate by HNSW (usearch).
    """
    if len(vectors) < 2 or top_k == 0:
        return
    exact = len(vectors) <= exact_up_to
    listed = (
        nearest(vectors[:], np.arange(len(vectors)), top_k, threshold) if exact else _by_hnsw(vectors, top_k, threshold)
    )
    size = len(vectors)
    first, second = np.minimum(listed.row, listed.other), np.maximum(listed.row, listed.other)
    _, at, counts = np.unique(first * size + second, return_index=True, return_counts=True)
    mutual = counts == 2
    first, second, score = first[at], second[at], listed.score[at]
    source = np.where(mutual, first, listed.row[at])
    linked = _within_limit(first, second, score, degree_limit)
    for values in zip(source, first + second - source, score, mutual, linked, strict=True):
        yield SimilarPair(int(values[0]), int(values[1]), float(values[2]), bool(values[3]), bool(values[4]))


def _by_hnsw(vectors: Vector | VectorFile, top_k: int, threshold: float) -> NeighbourLists:
    from usearch.index import Index

    index = Index(
        ndim=vectors.shape[1],
        metric="ip",
        dtype="f16",  # half the memory, and faster; the results are scored exactly below
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION,
        expansion_search=_EXPANSION,
    )
    for start in range(0, len(vectors), _INDEX_BATCH):
        added = vectors[start : start + _INDEX_BATCH]
        index.add(np.arange(start, start + len(added)), added)
    parts = []
    for start in range(0, len(vectors), _BLOCK):
        matches = index.search(vectors[start : start + _BLOCK], top_k + 1)
        counts = np.asarray(matches.counts).astype(np.int64)
        row = np.repeat(np.arange(start, start + len(counts)), counts)
        other = np.concatenate([np.asarray(keys[:count]) for keys, count in zip(matches.keys, counts, strict=True)])
        other = other.astype(np.int64)
        distinct = row != other
        row, other = row[distinct], other[distinct]
        parts.append(best_neighbours(row, other, cosines(vectors, row, other), top_k, threshold))
    return NeighbourLists(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _within_limit(first: Rows, second: Rows, score: Scores, degree_limit: int) -> npt.NDArray[np.bool_]:
    row, other, scores = np.r_[first, second], np.r_[second, first], np.r_[score, score]
    order = np.lexsort((other, -scores, row))
    allowed = np.empty(len(row), dtype=bool)
    allowed[order] = rank_in_row(row[order]) < degree_limit
    by_both: npt.NDArray[np.bool_] = allowed[: len(first)] & allowed[len(first) :]
    return by_both
