"""Neighbour search in a corpus being updated: exact over all vectors, or approximate by the server's vector index."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from pipeline.db.client import batches
from pipeline.db.corpus import CorpusHandle
from pipeline.db.indexes import cosine_of
from pipeline.embedding.nearest import DIGITS, nearest
from pipeline.ingest.update.diff import Position
from pipeline.records import Vector

_CANDIDATES_PER_NEIGHBOUR = 5
_READ_BATCH = 200


class Neighbour(NamedTuple):
    """A chunk near another chunk; ``score`` is their cosine."""

    id: str
    position: Position
    score: float


Neighbours = dict[str, list[Neighbour]]
"""Neighbours by chunk, nearest first."""


class NeighbourSearch(Protocol):
    """Search among the vectors of a corpus's next generation."""

    def best(self, ids: Collection[str]) -> Neighbours:
        """Return the nearest chunks of each of ``ids``, at most the length of a neighbour list."""

    def candidates(self, ids: Collection[str]) -> Neighbours:
        """Return for each of ``ids`` the chunks that may list it among their nearest."""


class ExactSearch:
    """Exact search with all vectors in memory."""

    def __init__(
        self, ids: Sequence[str], positions: Sequence[Position], vectors: Vector, top_k: int, threshold: float
    ) -> None:
        in_order = sorted(range(len(ids)), key=lambda row: positions[row])
        self._ids = [ids[row] for row in in_order]
        self._positions = [positions[row] for row in in_order]
        self._vectors = vectors[in_order]
        self._row = {id_: row for row, id_ in enumerate(self._ids)}
        self._top_k = top_k
        self._threshold = threshold

    def best(self, ids: Collection[str]) -> Neighbours:
        """Implement :meth:`NeighbourSearch.best`."""
        return self._nearest(ids, self._top_k)

    def candidates(self, ids: Collection[str]) -> Neighbours:
        """Implement :meth:`NeighbourSearch.candidates`: all chunks within the threshold."""
        return self._nearest(ids, None)

    def _nearest(self, ids: Collection[str], top_k: int | None) -> Neighbours:
        rows = np.array(sorted(self._row[id_] for id_ in ids), dtype=np.int64)
        neighbours: Neighbours = {id_: [] for id_ in ids}
        listed = nearest(self._vectors, rows, top_k, self._threshold)
        for row, other, score in zip(*(column.tolist() for column in listed), strict=True):
            neighbours[self._ids[row]].append(Neighbour(self._ids[other], self._positions[other], score))
        return neighbours


class ApproximateSearch:
    """Approximate search by the server's vector index, which holds staged vectors too; needs no memory here."""

    def __init__(self, corpus: CorpusHandle, top_k: int, threshold: float) -> None:
        # The generation that is being written.
        self._corpus = corpus.at(corpus.generation + 1)
        self._top_k = top_k
        self._threshold = threshold

    def best(self, ids: Collection[str]) -> Neighbours:
        """Implement :meth:`NeighbourSearch.best`."""
        return self._nearest(ids, self._top_k)

    def candidates(self, ids: Collection[str]) -> Neighbours:
        """Implement :meth:`NeighbourSearch.candidates`: several times as many of the nearest as a chunk lists."""
        return self._nearest(ids, _CANDIDATES_PER_NEIGHBOUR * self._top_k)

    def _nearest(self, ids: Iterable[str], limit: int) -> Neighbours:
        neighbours: Neighbours = {}
        for part in batches(ids, _READ_BATCH):
            rows = self._corpus.read("nearest_chunks", ids=list(part), limit=limit + 1)
            neighbours.update((row["id"], self._ranked(row["id"], row["near"])[:limit]) for row in rows)
        return neighbours

    def _ranked(self, id_: str, near: Iterable[tuple[str, str, int, float]]) -> list[Neighbour]:
        scored = (
            Neighbour(other, (document, ordinal), round(min(cosine_of(score), 1.0), DIGITS))
            for other, document, ordinal, score in near
            if other != id_
        )
        return sorted((neighbour for neighbour in scored if neighbour.score >= self._threshold), key=rank)


def rank(neighbour: Neighbour) -> tuple[float, Position]:
    """Return the sort key that orders neighbours nearest first, ties by position."""
    return -neighbour.score, neighbour.position
