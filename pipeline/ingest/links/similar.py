"""Similar pairs: each chunk's nearest chunks by cosine, and the pairs that are linked.

A pair is similar if either chunk lists the other, i.e. has it among its ``top_k`` nearest within a threshold. It is
linked if it is among the best ``degree_limit`` pairs of both chunks. Both rules depend only on a chunk's neighbourhood,
so that an update can apply them around its changes.

Scores are rounded to four decimals, ties go by the order of rows, and products are summed in double precision, so that
the same vectors give the same links in any arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.ingest.links.vector_file import VectorFile
from pipeline.records import Vector

_BLOCK = 1024
_DIGITS = 4
_SCORE_ERROR = 5e-4
"""Upper bound of a score's error from single precision and rounding."""

_CONNECTIVITY = 24
_EXPANSION = 128
_INDEX_BATCH = 20_000

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


class NeighbourLists(NamedTuple):
    """Parallel arrays: ``row`` lists ``other``, with the cosine ``score``. Ordered by row, then best first."""

    row: Rows
    other: Rows
    score: Scores


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
    vectors: Vector | VectorFile, *, top_k: int, threshold: float, degree_limit: int, exact_up_to: int
) -> Iterator[SimilarPair]:
    """Yield the similar pairs of the rows of ``vectors`` (unit length, shape (n, d)), ordered by the lower row.

    For up to ``exact_up_to`` rows neighbours are exact, by blocked matrix products; beyond, approximate by HNSW
    (usearch).
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


def nearest(vectors: Vector, rows: Rows, top_k: int | None, threshold: float) -> NeighbourLists:
    """Return each row's ``top_k`` nearest other rows with a cosine of at least ``threshold``; all if top_k is None."""
    parts = [_block(vectors, rows[at : at + _BLOCK], top_k, threshold) for at in range(0, len(rows), _BLOCK)]
    return NeighbourLists(*(np.concatenate(column) for column in zip(*parts, strict=True))) if parts else _NO_NEIGHBOURS


def _block(vectors: Vector, rows: Rows, top_k: int | None, threshold: float) -> NeighbourLists:
    scores = vectors[rows] @ vectors.T
    scores[np.arange(len(rows)), rows] = -np.inf
    floor = np.full(len(rows), threshold - _SCORE_ERROR, dtype=np.float32)
    likely = scores >= floor[:, None]
    if top_k is not None and likely.any() and top_k < scores.shape[1] and likely.sum(axis=1).max() > top_k:
        kth = np.partition(scores, scores.shape[1] - top_k, axis=1)[:, -top_k]
        likely = scores >= np.maximum(floor, kth - _SCORE_ERROR)[:, None]
    place, other = np.nonzero(likely)
    row = rows[place]
    return _best(row, other.astype(np.int64), _cosines(vectors, row, other), top_k, threshold)


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
        parts.append(_best(row, other, _cosines(vectors, row, other), top_k, threshold))
    return NeighbourLists(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _cosines(vectors: Vector | VectorFile, row: Rows, other: Rows) -> Scores:
    scores = np.empty(len(row), dtype=np.float64)
    for at in range(0, len(row), _BLOCK):
        part = slice(at, at + _BLOCK)
        scores[part] = np.einsum(
            "ij,ij->i", vectors[row[part]].astype(np.float64), vectors[other[part]].astype(np.float64)
        )
    np.minimum(scores, 1.0, out=scores)
    return np.round(scores, _DIGITS, out=scores)


def _best(row: Rows, other: Rows, score: Scores, top_k: int | None, threshold: float) -> NeighbourLists:
    sufficient = score >= threshold
    row, other, score = row[sufficient], other[sufficient], score[sufficient]
    order = np.lexsort((other, -score, row))
    row, other, score = row[order], other[order], score[order]
    if top_k is not None:
        first = _rank(row) < top_k
        row, other, score = row[first], other[first], score[first]
    return NeighbourLists(row, other, score)


def _rank(row: Rows) -> Rows:
    """Return each entry's rank, from 0, among the entries of its row, which are adjacent."""
    places = np.arange(len(row))
    begins = np.flatnonzero(np.r_[True, row[1:] != row[:-1]]) if len(row) else places
    return places - np.repeat(begins, np.diff(np.r_[begins, len(row)]))


def _within_limit(first: Rows, second: Rows, score: Scores, degree_limit: int) -> npt.NDArray[np.bool_]:
    row, other, scores = np.r_[first, second], np.r_[second, first], np.r_[score, score]
    order = np.lexsort((other, -scores, row))
    allowed = np.empty(len(row), dtype=bool)
    allowed[order] = _rank(row[order]) < degree_limit
    by_both: npt.NDArray[np.bool_] = allowed[: len(first)] & allowed[len(first) :]
    return by_both


_NO_NEIGHBOURS = NeighbourLists(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))
