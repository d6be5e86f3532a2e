"""Similar pairs: each chunk's nearest chunks by cosine, and the pairs that are linked.

A pair is similar if either chunk lists the other, i.e. has it among its ``top_k`` nearest within a threshold. It is
linked if it is among the best ``degree_limit`` pairs of both chunks. Both rules depend only on a chunk's neighbourhood,
so that an update can apply them around its changes.

The same vectors give the same links in any arithmetic: see :mod:`pipeline.embedding.nearest`.
"""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from pipeline.embedding.nearest import NeighbourLists, Rows, best_neighbours, cosines, nearest, rank_in_row
from pipeline.records import Vector

_BLOCK = 1024  # vectors searched at once; this and the next three are chosen by hand, not measured
_CONNECTIVITY = 24  # edges of a vector in the HNSW graph; usearch's default is 16
_EXPANSION = 128  # candidates looked at when adding and searching; usearch's defaults are 128 and 64
_INDEX_BATCH = 20_000  # vectors in memory: 30 MB at 384 dimensions
_INDEX_ROWS = 1_000_000  # vectors of one HNSW index: 1.1 GB at 384 dimensions
_RUN = 250_000  # rows whose pairs are in memory: 0.3 GB at ten neighbours each; chosen by hand, not measured

_ENTRY = np.dtype([("row", np.int64), ("other", np.int64), ("score", np.float64)])
_END = np.dtype([*_ENTRY.descr, ("pair", np.int64)])
_PAIR = np.dtype([("source", np.int64), ("target", np.int64), ("score", np.float64), ("mutual", np.bool_)])


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
        indices = np.arange(*rows.indices(self._rows)) if isinstance(rows, slice) else np.asarray(rows)
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
    beyond, approximate by HNSW (usearch). What is in memory then doesn't grow with the rows: an index holds a million
    of them at most, and lists and pairs are in temporary files.
    """
    size = len(vectors)
    if size < 2 or top_k == 0:
        return
    lists = (
        iter([nearest(vectors[:], np.arange(size), top_k, threshold)])
        if size <= exact_up_to
        else _by_hnsw(vectors, top_k, threshold)
    )
    with _Pairs(size, lists) as pairs:
        yield from pairs.within_limit(degree_limit)


def _by_hnsw(vectors: Vector | VectorFile, top_k: int, threshold: float) -> Iterator[NeighbourLists]:
    """Yield the neighbour lists of runs of rows, in order; of several indexes each gives candidates for all rows."""
    starts = range(0, len(vectors), _INDEX_ROWS)
    if len(starts) == 1:
        yield from _lists_among(vectors, range(len(vectors)), top_k, threshold)
        return
    with ExitStack() as files:
        parts = [files.enter_context(_temporary_file()) for _ in starts]
        for start, file in zip(starts, parts, strict=True):
            indexed = range(start, min(start + _INDEX_ROWS, len(vectors)))
            for listed in _lists_among(vectors, indexed, top_k, threshold):
                np.save(file, _records(_ENTRY, listed))
        for file in parts:
            file.seek(0)
        for _ in range(0, len(vectors), _BLOCK):
            candidates = np.concatenate([np.load(file) for file in parts])
            yield best_neighbours(candidates["row"], candidates["other"], candidates["score"], top_k, threshold)


def _lists_among(
    vectors: Vector | VectorFile, indexed: range, top_k: int, threshold: float
) -> Iterator[NeighbourLists]:
    """Yield the lists of all rows among the ``indexed`` ones, ``_BLOCK`` rows at a time."""
    from usearch.index import Index

    index = Index(
        ndim=vectors.shape[1],
        metric="ip",
        dtype="f16",  # half the memory, and faster; the results are scored exactly below
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION,
        expansion_search=_EXPANSION,
    )
    for start in range(indexed.start, indexed.stop, _INDEX_BATCH):
        added = np.arange(start, min(start + _INDEX_BATCH, indexed.stop))
        index.add(added, vectors[added[0] : added[-1] + 1])
    for start in range(0, len(vectors), _BLOCK):
        matches = index.search(vectors[start : start + _BLOCK], top_k + 1)
        counts = np.asarray(matches.counts).astype(np.int64)
        row = np.repeat(np.arange(start, start + len(counts)), counts)
        other = np.concatenate([np.asarray(keys[:count]) for keys, count in zip(matches.keys, counts, strict=True)])
        other = other.astype(np.int64)
        distinct = row != other
        row, other = row[distinct], other[distinct]
        yield best_neighbours(row, other, cosines(vectors, row, other), top_k, threshold)


class _Pairs(AbstractContextManager["_Pairs"]):
    """The similar pairs of ``size`` rows, made from their neighbour lists, in temporary files by ``_RUN`` rows."""

    def __init__(self, size: int, lists: Iterable[NeighbourLists]) -> None:
        self._files = ExitStack()
        self._runs = range(0, size, _RUN)
        self._entries = self._by_run()
        self._ends = self._by_run()
        self._pairs = self._files.enter_context(_temporary_file())
        self._count = 0
        for part in lists:
            self._spread(self._entries, np.minimum(part.row, part.other), _records(_ENTRY, part))
        for entries in self._entries:
            self._pair(_all_of(entries, _ENTRY), size)

    def within_limit(self, degree_limit: int) -> Iterator[SimilarPair]:
        """Yield the pairs, ordered by the lower row; those among the ``degree_limit`` best of both rows are linked."""
        linked = np.ones(self._count, dtype=np.bool_)
        for run in self._ends:
            ends = _all_of(run, _END)
            order = np.lexsort((ends["other"], -ends["score"], ends["row"]))
            ends = ends[order]
            linked[ends["pair"][rank_in_row(ends["row"]) >= degree_limit]] = False
        self._pairs.seek(0)
        for start in range(0, self._count, _INDEX_BATCH):
            pairs = np.frombuffer(self._pairs.read(_INDEX_BATCH * _PAIR.itemsize), dtype=_PAIR)
            are_linked = linked[start : start + _INDEX_BATCH].tolist()
            for (source, target, score, mutual), is_linked in zip(pairs.tolist(), are_linked, strict=True):
                yield SimilarPair(source, target, score, mutual, is_linked)

    def _pair(self, listed: npt.NDArray[np.void], size: int) -> None:
        """Append the pairs of the entries whose lower row is in one run; tell both ends of each."""
        first = np.minimum(listed["row"], listed["other"])
        second = np.maximum(listed["row"], listed["other"])
        _, at, counts = np.unique(first * size + second, return_index=True, return_counts=True)
        first, second, score, mutual = first[at], second[at], listed["score"][at], counts == 2
        source = np.where(mutual, first, listed["row"][at])
        self._pairs.write(_records(_PAIR, (source, first + second - source, score, mutual)).data)
        numbers = np.arange(self._count, self._count + len(at))
        self._count += len(at)
        for row, other in ((first, second), (second, first)):
            self._spread(self._ends, row, _records(_END, (row, other, score, numbers)))

    def _by_run(self) -> list[BinaryIO]:
        return [self._files.enter_context(_temporary_file()) for _ in self._runs]

    @staticmethod
    def _spread(files: Sequence[BinaryIO], rows: Rows, records: npt.NDArray[np.void]) -> None:
        """Append each record to the file of the run that its row is in."""
        run = rows // _RUN
        for number in np.unique(run).tolist():
            files[number].write(records[run == number].data)

    def __exit__(self, *raised: object) -> None:
        self._files.close()


def _temporary_file() -> BinaryIO:
    return tempfile.TemporaryFile(prefix="hoprank-")


def _records(dtype: np.dtype[np.void], columns: Sequence[npt.NDArray[np.generic]]) -> npt.NDArray[np.void]:
    """Return the records of parallel ``columns``, which are in the order of the dtype's fields."""
    records = np.empty(len(columns[0]), dtype=dtype)
    for name, column in zip(dtype.names or (), columns, strict=True):
        records[name] = column
    return records


def _all_of(file: BinaryIO, dtype: np.dtype[np.void]) -> npt.NDArray[np.void]:
    file.seek(0)
    return np.frombuffer(file.read(), dtype=dtype)
