"""Similar pairs: each chunk's nearest chunks by cosine, and the pairs that are linked.

A pair is similar if one chunk lists the other among its ``top_k`` nearest of at least a threshold. Each chunk has a
degree limit, ``hub_cap``: a pair is linked if it is among the best ``hub_cap`` pairs of both chunks. Each rule looks at
a chunk's own neighbourhood alone, so that an update can follow them from what it changed.

Scores are rounded to four decimals, ties go by the rows' order, and products are summed in double precision: so the
same vectors give the same links in any arithmetic.
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
_DOUBT = 5e-4
"""By how much single precision and rounding may be wrong about a score, generously."""

_CONNECTIVITY = 24
_EXPANSION = 128
_ADDED_AT_ONCE = 20_000

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


class Listed(NamedTuple):
    """Parallel arrays: ``row`` lists ``other``, at the cosine ``score``. Ordered by row, then from the best."""

    row: Rows
    other: Rows
    score: Scores


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two chunks, by row: ``source`` lists ``target``; if ``mutual``, each lists the other, and source < target.

    ``linked`` says whether the pair is within the degree limit of both.
    """

    source: int
    target: int
    score: float
    mutual: bool
    linked: bool


def similar_pairs(
    vectors: Vector | VectorFile, *, top_k: int, threshold: float, hub_cap: int, exact_up_to: int
) -> Iterator[SimilarPair]:
    """Yield the similar pairs of the rows of ``vectors`` (unit length, shape (n, d)), ordered by their lesser row.

    Neighbours are exact, by blocked matrix products, for up to ``exact_up_to`` rows; beyond, approximate by HNSW
    (usearch).
    """
    if len(vectors) < 2 or top_k == 0:
        return
    exact = len(vectors) <= exact_up_to
    listed = (
        nearest(vectors[:], np.arange(len(vectors)), top_k, threshold)
        if exact
        else _by_graph(vectors, top_k, threshold)
    )
    size = len(vectors)
    first, second = np.minimum(listed.row, listed.other), np.maximum(listed.row, listed.other)
    _, at, counts = np.unique(first * size + second, return_index=True, return_counts=True)
    mutual = counts == 2
    first, second, score = first[at], second[at], listed.score[at]
    source = np.where(mutual, first, listed.row[at])
    linked = _within(first, second, score, hub_cap)
    for values in zip(source, first + second - source, score, mutual, linked, strict=True):
        yield SimilarPair(int(values[0]), int(values[1]), float(values[2]), bool(values[3]), bool(values[4]))


def nearest(vectors: Vector, rows: Rows, top_k: int | None, threshold: float) -> Listed:
    """Return for each of ``rows`` its ``top_k`` nearest other rows of at least ``threshold``; all, if that is None."""
    parts = [_block(vectors, rows[at : at + _BLOCK], top_k, threshold) for at in range(0, len(rows), _BLOCK)]
    return Listed(*(np.concatenate(column) for column in zip(*parts, strict=True))) if parts else _NOBODY


def _block(vectors: Vector, rows: Rows, top_k: int | None, threshold: float) -> Listed:
    scores = vectors[rows] @ vectors.T
    scores[np.arange(len(rows)), rows] = -np.inf
    floor = np.full(len(rows), threshold - _DOUBT, dtype=np.float32)
    likely = scores >= floor[:, None]
    if top_k is not None and likely.any() and top_k < scores.shape[1] and likely.sum(axis=1).max() > top_k:
        kth = np.partition(scores, scores.shape[1] - top_k, axis=1)[:, -top_k]
        likely = scores >= np.maximum(floor, kth - _DOUBT)[:, None]
    place, other = np.nonzero(likely)
    row = rows[place]
    return _best(row, other.astype(np.int64), _cosines(vectors, row, other), top_k, threshold)


def _by_graph(vectors: Vector | VectorFile, top_k: int, threshold: float) -> Listed:
    from usearch.index import Index

    index = Index(
        ndim=vectors.shape[1],
        metric="ip",
        dtype="f16",  # half the memory and quicker; what it finds is scored exactly
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION,
        expansion_search=_EXPANSION,
    )
    for start in range(0, len(vectors), _ADDED_AT_ONCE):
        added = vectors[start : start + _ADDED_AT_ONCE]
        index.add(np.arange(start, start + len(added)), added)
    parts = []
    for start in range(0, len(vectors), _BLOCK):
        matches = index.search(vectors[start : start + _BLOCK], top_k + 1)
        counts = np.asarray(matches.counts).astype(np.int64)
        row = np.repeat(np.arange(start, start + len(counts)), counts)
        other = np.concatenate([np.asarray(keys[:count]) for keys, count in zip(matches.keys, counts, strict=True)])
        other = other.astype(np.int64)
        apart = row != other
        row, other = row[apart], other[apart]
        parts.append(_best(row, other, _cosines(vectors, row, other), top_k, threshold))
    return Listed(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _cosines(vectors: Vector | VectorFile, row: Rows, other: Rows) -> Scores:
    scores = np.empty(len(row), dtype=np.float64)
    for at in range(0, len(row), _BLOCK):
        part = slice(at, at + _BLOCK)
        scores[part] = np.einsum(
            "ij,ij->i", vectors[row[part]].astype(np.float64), vectors[other[part]].astype(np.float64)
        )
    np.minimum(scores, 1.0, out=scores)
    return np.round(scores, _DIGITS, out=scores)


def _best(row: Rows, other: Rows, score: Scores, top_k: int | None, threshold: float) -> Listed:
    reaches = score >= threshold
    row, other, score = row[reaches], other[reaches], score[reaches]
    order = np.lexsort((other, -score, row))
    row, other, score = row[order], other[order], score[order]
    if top_k is not None:
        first = _rank(row) < top_k
        row, other, score = row[first], other[first], score[first]
    return Listed(row, other, score)


def _rank(row: Rows) -> Rows:
    """Return each entry's place among those of its row; entries of one row are adjacent."""
    places = np.arange(len(row))
    begins = np.flatnonzero(np.r_[True, row[1:] != row[:-1]]) if len(row) else places
    return places - np.repeat(begins, np.diff(np.r_[begins, len(row)]))


def _within(first: Rows, second: Rows, score: Scores, hub_cap: int) -> npt.NDArray[np.bool_]:
    row, other, scores = np.r_[first, second], np.r_[second, first], np.r_[score, score]
    order = np.lexsort((other, -scores, row))
    counts = np.empty(len(row), dtype=bool)
    counts[order] = _rank(row[order]) < hub_cap
    both: npt.NDArray[np.bool_] = counts[: len(first)] & counts[len(first) :]
    return both


_NOBODY = Listed(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))
