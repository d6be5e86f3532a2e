"""Neighbour search in a corpus that changes: exact over all vectors, or approximate by the server's vector index."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client, batches
from pipeline.ingest.links.similar import nearest
from pipeline.ingest.update.diff import Position
from pipeline.records import Vector

_REACH = 5
_ASKED_AT_ONCE = 200
_DIGITS = 4


class Neighbour(NamedTuple):
    """A chunk near another one, with their cosine."""

    id: str
    position: Position
    score: float


Neighbours = dict[str, list[Neighbour]]
"""By chunk, from the nearest."""


class NeighbourSearch(Protocol):
    """Search among the vectors that a corpus will have."""

    def best(self, ids: Collection[str]) -> Neighbours:
        """Return the nearest chunks of each of ``ids``, as many as a chunk lists."""

    def candidates(self, ids: Collection[str]) -> Neighbours:
        """Return for each of ``ids`` the chunks that may list it among their nearest."""


class ExactSearch:
    """Exact search, with all vectors in memory."""

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
        """As :class:`NeighbourSearch` has it."""
        return self._nearest(ids, self._top_k)

    def candidates(self, ids: Collection[str]) -> Neighbours:
        """As :class:`NeighbourSearch` has it: all within the threshold."""
        return self._nearest(ids, None)

    def _nearest(self, ids: Collection[str], top_k: int | None) -> Neighbours:
        rows = np.array(sorted(self._row[id_] for id_ in ids), dtype=np.int64)
        found: Neighbours = {id_: [] for id_ in ids}
        listed = nearest(self._vectors, rows, top_k, self._threshold)
        for row, other, score in zip(*(column.tolist() for column in listed), strict=True):
            found[self._ids[row]].append(Neighbour(self._ids[other], self._positions[other], score))
        return found


class ApproximateSearch:
    """Approximate search by the server's vector index, which has staged vectors too; holds nothing in memory."""

    def __init__(self, client: Client, corpus: Corpus, top_k: int, threshold: float) -> None:
        self._client = client
        self._corpus = corpus
        self._top_k = top_k
        self._threshold = threshold

    def best(self, ids: Collection[str]) -> Neighbours:
        """As :class:`NeighbourSearch` has it."""
        return self._nearest(ids, self._top_k)

    def candidates(self, ids: Collection[str]) -> Neighbours:
        """As :class:`NeighbourSearch` has it: some of the nearest."""
        return self._nearest(ids, _REACH * self._top_k)

    def _nearest(self, ids: Iterable[str], limit: int) -> Neighbours:
        found: Neighbours = {}
        for part in batches(ids, _ASKED_AT_ONCE):
            rows = self._client.read(
                "nearest_chunks",
                {"embedding": self._corpus.embedding},
                ids=list(part),
                corpus=self._corpus.id,
                generation=self._corpus.generation + 1,
                limit=limit + 1,
            )
            found.update((row["id"], self._ranked(row["id"], row["near"])[:limit]) for row in rows)
        return found

    def _ranked(self, id_: str, near: Iterable[tuple[str, str, int, float]]) -> list[Neighbour]:
        # The index's scores are (1 + cosine) / 2.
        scored = (
            Neighbour(other, (document, ordinal), round(min(2 * score - 1, 1.0), _DIGITS))
            for other, document, ordinal, score in near
            if other != id_
        )
        return sorted((one for one in scored if one.score >= self._threshold), key=rank)


def rank(neighbour: Neighbour) -> tuple[float, Position]:
    """Position neighbours from the nearest, ties by their place."""
    return -neighbour.score, neighbour.position
