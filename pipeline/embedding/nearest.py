"""Nearest vectors by cosine: exact, by blocked matrix products.

Scores are rounded, ties go by the order of rows, and products are summed in double precision, so that the same vectors
give the same neighbours in any arithmetic.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pipeline.records import Vector

DIGITS = 4
"""Decimals of a cosine, unless another number is asked for."""

_BLOCK = 1024  # rows whose cosines to all are held at once; chosen by hand, not measured
_PAIRS = 500_000  # pairs that are scored at once, of 50 bytes each in all; chosen by hand, not measured
_SCORE_ERROR = 5e-4  # at most, from single precision and rounding to four decimals or more

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


class Vectors(Protocol):
    """Vectors by row, in memory or on disk, of shape (n, d)."""

    def __getitem__(self, rows: Rows) -> Vector: ...


class NeighbourLists(NamedTuple):
    """Parallel arrays: ``row`` lists ``other``, with the cosine ``score``. Ordered by row, then best first."""

    row: Rows
    other: Rows
    score: Scores


def nearest(
    vectors: Vector,
    rows: Rows,
    top_k: int | None,
    threshold: float,
    digits: int = DIGITS,
    *,
    among: Rows | None = None,
) -> NeighbourLists:
    """Return each row's ``top_k`` nearest other rows with a cosine of at least ``threshold``; all if top_k is None.

    ``vectors`` are of unit length, shape (n, d). Cosines are rounded to ``digits`` decimals, 4 or more. Only rows
    ``among`` these are listed, which are in order; all if it is None.
    """
    columns = np.arange(len(vectors)) if among is None else among
    columns = columns if top_k is None else columns[_first_of_equal(vectors[columns], top_k + 1)]
    listed = vectors if len(columns) == len(vectors) else vectors[columns]
    parts = [NeighbourLists(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))]
    for at in range(0, len(rows), _BLOCK):
        block = rows[at : at + _BLOCK]
        scores = vectors[block] @ listed.T
        scores[block[:, None] == columns] = -np.inf
        floor = np.full(len(block), threshold - _SCORE_ERROR, dtype=np.float32)
        likely = scores >= floor[:, None]
        if top_k is not None and likely.any() and top_k < scores.shape[1] and likely.sum(axis=1).max() > top_k:
            kth = np.partition(scores, scores.shape[1] - top_k, axis=1)[:, -top_k]
            likely = scores >= np.maximum(floor, kth - _SCORE_ERROR)[:, None]
        for part in _parts(likely):
            place, column = np.nonzero(likely[part])
            row, other = block[part][place], columns[column]
            parts.append(best_neighbours(row, other, cosines(vectors, row, other, digits), top_k, threshold))
    return NeighbourLists(*map(np.concatenate, zip(*parts, strict=True)))


def _first_of_equal(vectors: Vector, most: int) -> npt.NDArray[np.bool_]:
    """Return which vectors are among the first so many of those equal to them.

    Ties go by the order of rows, so no other can be among the nearest. A text that is there ten thousand times would
    else be compared with itself a hundred million times.
    """
    seen = Counter[bytes]()
    is_first = np.ones(len(vectors), dtype=bool)
    for row, vector in enumerate(vectors):
        key = vector.tobytes()
        seen[key] += 1
        is_first[row] = seen[key] <= most
    return is_first


def _parts(likely: npt.NDArray[np.bool_]) -> Iterator[slice]:
    """Yield the rows in runs that have a bounded number of likely pairs, or are a single row."""
    most = int(likely.sum(axis=1).max(initial=0))
    step = max(1, _PAIRS // max(1, most))
    for start in range(0, len(likely), step):
        yield slice(start, start + step)


def unit_vectors(vectors: Sequence[Sequence[float]]) -> Vector:
    """Return vectors, shape (n, d), scaled to unit length; none may be zero."""
    stacked = np.asarray(vectors, dtype=np.float32)
    unit: Vector = stacked / np.linalg.norm(stacked, axis=1, keepdims=True)
    return unit


def cosines(vectors: Vectors, row: Rows, other: Rows, digits: int = DIGITS) -> Scores:
    """Return the cosine of each pair of rows of ``vectors`` (unit length), at most 1."""
    scores = np.empty(len(row), dtype=np.float64)
    for at in range(0, len(row), _BLOCK):
        part = slice(at, at + _BLOCK)
        scores[part] = np.einsum(
            "ij,ij->i", vectors[row[part]].astype(np.float64), vectors[other[part]].astype(np.float64)
        )
    np.minimum(scores, 1.0, out=scores)
    return np.round(scores, digits, out=scores)


def best_neighbours(row: Rows, other: Rows, score: Scores, top_k: int | None, threshold: float) -> NeighbourLists:
    """Return those of these neighbours within the threshold that are among the ``top_k`` best of their row."""
    sufficient = score >= threshold
    row, other, score = row[sufficient], other[sufficient], score[sufficient]
    order = np.lexsort((other, -score, row))
    row, other, score = row[order], other[order], score[order]
    if top_k is not None:
        first = rank_in_row(row) < top_k
        row, other, score = row[first], other[first], score[first]
    return NeighbourLists(row, other, score)


def rank_in_row(row: Rows) -> Rows:
    """Return each entry's rank, from 0, among the entries of its row, which are adjacent."""
    places = np.arange(len(row))
    begins = np.flatnonzero(np.r_[True, row[1:] != row[:-1]]) if len(row) else places
    return places - np.repeat(begins, np.diff(np.r_[begins, len(row)]))
