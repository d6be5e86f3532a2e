"""Similarity links of an update: all links of a new corpus, or the links around changed vectors.

See :mod:`pipeline.ingest.links.similar` for the rules. A chunk's neighbour list changes when a neighbour is removed, or
when a new chunk is nearer than its worst neighbour. A pair is recomputed when the neighbour list of either endpoint
changes, or when an endpoint exceeds the degree limit.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.db.client import batches
from pipeline.db.corpus import CorpusHandle
from pipeline.db.indexes import cosine_of
from pipeline.edges import EdgeKind
from pipeline.embedding.nearest import DIGITS, nearest
from pipeline.ingest.embed import Done, PreparedChunk
from pipeline.ingest.links.similar import VectorFile, similar_pairs
from pipeline.ingest.update.stored import ChunkDiff, Position, Spool
from pipeline.ingest.update.write_session import WriteSession
from pipeline.records import Edge, Vector
from pipeline.settings import LinkSettings

_CANDIDATES_PER_NEIGHBOUR = 5  # the index is approximate; this and the batches are chosen by hand, not measured
_SEARCH_BATCH = 200  # chunks of a query of the vector index
_READ_BATCH = 2000  # chunks of a query
Key = tuple[str, str, str]
_BATCH = 10_000  # edges of a query


class Neighbour(NamedTuple):
    """A chunk near another chunk; ``score`` is their cosine."""

    id: str
    position: Position
    score: float


Neighbours = dict[str, list[Neighbour]]
"""Neighbours by chunk, nearest first."""

Gains = list[tuple[str, Neighbour]]
"""New chunks, each with a chunk that was there before and may list it."""


class ExactSearch:
    """Exact search with all vectors of a corpus's next generation in memory."""

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

    def near(self, ids: Collection[str]) -> Neighbours:
        """Return the nearest chunks of each of ``ids``, at most the length of a neighbour list."""
        neighbours: Neighbours = {id_: [] for id_ in ids}
        listed = nearest(self._vectors, self._rows(ids), self._top_k, self._threshold)
        for row, other, score in zip(*(column.tolist() for column in listed), strict=True):
            neighbours[self._ids[row]].append(Neighbour(self._ids[other], self._positions[other], score))
        return neighbours

    def near_new(self, ids: Collection[str]) -> tuple[Neighbours, Gains]:
        """Return the nearest chunks of each of ``ids``, which are new, and the other chunks that may list one."""
        new = self._rows(ids)
        others = np.setdiff1d(np.arange(len(self._ids)), new)
        listed = nearest(self._vectors, others, self._top_k, self._threshold, among=new)
        gains = [
            (self._ids[other], Neighbour(self._ids[row], self._positions[row], score))
            for row, other, score in zip(*(column.tolist() for column in listed), strict=True)
        ]
        return self.near(ids), gains

    def _rows(self, ids: Collection[str]) -> npt.NDArray[np.int64]:
        return np.array(sorted(self._row[id_] for id_ in ids), dtype=np.int64)


class ApproximateSearch:
    """Approximate search by the server's vector index, which holds staged vectors too; needs no memory here."""

    def __init__(self, corpus: CorpusHandle, top_k: int, threshold: float) -> None:
        # The generation that is being written.
        self._corpus = corpus.at(corpus.generation + 1)
        self._top_k = top_k
        self._threshold = threshold

    def near(self, ids: Collection[str]) -> Neighbours:
        """Return what :meth:`ExactSearch.near` does."""
        return self._near(ids, self._top_k)

    def near_new(self, ids: Collection[str]) -> tuple[Neighbours, Gains]:
        """Return what :meth:`ExactSearch.near_new` does, as far as several times as many neighbours show it."""
        found, new = self._near(ids, self._top_k * _CANDIDATES_PER_NEIGHBOUR), frozenset(ids)
        gains = [(id_, near) for id_, nears in found.items() for near in nears if near.id not in new]
        return {id_: nears[: self._top_k] for id_, nears in found.items()}, gains

    def _near(self, ids: Collection[str], limit: int) -> Neighbours:
        neighbours: Neighbours = {}
        for part in batches(ids, _SEARCH_BATCH):
            for row in self._corpus.read("nearest_chunks", ids=list(part), limit=limit + 1):
                scored = (
                    Neighbour(other, (document, ordinal), round(min(cosine_of(score), 1.0), DIGITS))
                    for other, document, ordinal, score in row["near"]
                    if other != row["id"]
                )
                similar = (neighbour for neighbour in scored if neighbour.score >= self._threshold)
                neighbours[row["id"]] = sorted(similar, key=rank)[:limit]
        return neighbours


NeighbourSearch = ExactSearch | ApproximateSearch


def rank(neighbour: Neighbour) -> tuple[float, Position]:
    """Return the sort key that orders neighbours nearest first, ties by position."""
    return -neighbour.score, neighbour.position


@dataclass(frozen=True, slots=True)
class _Pair:
    """A similar pair seen from an endpoint: it ``lists`` the other endpoint, and is ``listed`` by it."""

    score: float
    position: Position
    lists: bool
    listed: bool
    edge: Edge | None = None


_Pairs = dict[str, dict[str, _Pair]]
"""Pairs by endpoint and other endpoint."""


class IncrementalNeighbours:
    """Finds the similarity links that an update adds and removes."""

    def __init__(self, corpus: CorpusHandle, search: NeighbourSearch, top_k: int, degree_limit: int) -> None:
        self._corpus = corpus
        self._search = search
        self._top_k = top_k
        self._degree_limit = degree_limit
        self._positions: dict[str, Position] = {}

    def changes(self, added: Mapping[str, Position], removed: Collection[str]) -> tuple[list[Edge], list[Key]]:
        """Return the edges to add, and the keys of the edges to remove.

        ``removed`` are the ids of chunks whose vectors are removed, ``added`` maps the ids of chunks with new vectors
        to their positions. A chunk with a changed vector or position is in both.
        """
        self._positions.update(added)
        before = self._stored(removed)
        lists = self._lists(added, set(removed), before)
        before |= self._stored(lists.keys() - added.keys())
        after = self._pairs(lists, before, set(removed))
        self._add_over_limit(before, after, set(removed))
        return self._difference(before, after, set(removed))

    def _lists(self, added: Mapping[str, Position], removed: set[str], removed_pairs: _Pairs) -> Neighbours:
        """Return the neighbour lists that are new or change."""
        lists, gains = self._search.near_new(added.keys())
        gained: Neighbours = defaultdict(list)
        for id_, neighbour in gains:
            self._positions[neighbour.id] = neighbour.position
            gained[neighbour.id].append(Neighbour(id_, added[id_], neighbour.score))
        lost = {other for pairs in removed_pairs.values() for other, pair in pairs.items() if pair.listed} - removed
        full, changed = self._changed(lost, gained)
        stored = self._stored(changed)
        searched = self._search.near(lost & full)
        for id_ in changed:
            kept = (
                Neighbour(other, pair.position, pair.score)
                for other, pair in stored.get(id_, {}).items()
                if pair.lists and other not in removed
            )
            lists[id_] = searched.get(id_) or sorted([*kept, *gained[id_]], key=rank)[: self._top_k]
        return lists

    def _changed(self, lost: set[str], gained: Neighbours) -> tuple[set[str], set[str]]:
        """Return the chunks whose neighbour lists are full, and those whose lists change."""
        full = set()
        changed = set(lost)
        for part in batches(sorted(lost | gained.keys()), _READ_BATCH):
            for row in self._corpus.read("similar_summary", ids=list(part)):
                id_ = row["id"]
                if row["listed"] >= self._top_k:
                    full.add(id_)
                    if any(neighbour.score >= row["worst"] for neighbour in gained.get(id_, ())):
                        changed.add(id_)
                elif id_ in gained:
                    changed.add(id_)
        return full, changed

    def _pairs(self, lists: Neighbours, before: _Pairs, removed: set[str]) -> _Pairs:
        """Return all new pairs of the chunks whose neighbour lists change."""
        listed_ids = {id_: {neighbour.id for neighbour in neighbours} for id_, neighbours in lists.items()}
        after: _Pairs = {id_: {} for id_ in lists}
        for id_, neighbours in lists.items():
            for other, position, score in neighbours:
                self._positions[other] = position
                stored = before.get(id_, {}).get(other)
                listed = id_ in listed_ids[other] if other in listed_ids else bool(stored and stored.listed)
                after[id_][other] = _Pair(score, position, True, listed)
                if other in lists and not listed:
                    after[other][id_] = _Pair(score, self._positions[id_], False, True)
            for other, pair in before.get(id_, {}).items():
                stays = pair.listed and other not in removed and other not in lists
                if stays and other not in after[id_]:
                    after[id_][other] = _Pair(pair.score, pair.position, False, True)
        return after

    def _add_over_limit(self, before: _Pairs, after: _Pairs, removed: set[str]) -> None:
        """Add the chunks that exceed the degree limit before or after: different pairs of theirs are linked then."""
        growth: Counter[str] = Counter()
        for id_ in before.keys() | after.keys():
            old, new = before.get(id_, {}), after.get(id_, {})
            for other in (old.keys() ^ new.keys()) - after.keys() - removed:
                growth[other] += 1 if other in new else -1
        over_limit = set()
        for part in batches(sorted(growth), _READ_BATCH):
            for row in self._corpus.read("similar_summary", ids=list(part)):
                if max(row["degree"], row["degree"] + growth[row["id"]]) > self._degree_limit:
                    over_limit.add(row["id"])
        before |= (stored := self._stored(over_limit))
        for id_ in over_limit:
            kept = {
                other: pair
                for other, pair in stored.get(id_, {}).items()
                if other not in removed and (other not in after or id_ in after[other])
            }
            new = {
                other: _Pair(pairs[id_].score, self._positions[other], pairs[id_].listed, pairs[id_].lists)
                for other, pairs in after.items()
                if id_ in pairs
            }
            after[id_] = kept | new

    def _difference(self, before: _Pairs, after: _Pairs, removed: set[str]) -> tuple[list[Edge], list[Key]]:
        stored_pairs = ((other, pair.edge) for pairs in before.values() for other, pair in pairs.items())
        capped = {other for other, edge in stored_pairs if edge and edge.kind is EdgeKind.CAPPED}
        best = self._best(after | self._stored(capped - after.keys() - removed))
        missing: dict[Key, Edge] = {}
        surplus: set[Key] = set()
        for id_ in before.keys() | after.keys():
            old, new = before.get(id_, {}), after.get(id_, {})
            for other in old.keys() | new.keys():
                stored = old[other].edge if other in old else None
                linked = other in best.get(id_, (other,)) and id_ in best.get(other, (id_,))
                wanted = self._edge(id_, other, new[other], linked) if other in new else None
                if stored and stored != wanted:
                    surplus.add(stored.key)
                if wanted and stored != wanted:
                    missing[wanted.key] = wanted
        return [edge for _, edge in sorted(missing.items())], sorted(surplus)

    def _best(self, pairs: _Pairs) -> dict[str, set[str]]:
        """Return the best pairs of each chunk that exceeds the degree limit, which alone are linked."""
        best = {}
        for id_, others in pairs.items():
            if len(others) > self._degree_limit:
                neighbours = (Neighbour(other, pair.position, pair.score) for other, pair in others.items())
                best[id_] = {neighbour.id for neighbour in sorted(neighbours, key=rank)[: self._degree_limit]}
        return best

    def _edge(self, id_: str, other: str, pair: _Pair, linked: bool) -> Edge:
        first, second = sorted((id_, other), key=lambda end: self._positions.get(end, pair.position))
        mutual = pair.lists and pair.listed
        source = first if mutual else id_ if pair.lists else other
        target = second if source == first else first
        kind = EdgeKind.SIMILAR if linked else EdgeKind.CAPPED
        return Edge(kind, source, target, {"score": pair.score, "mutual": mutual})

    def _stored(self, ids: Iterable[str]) -> _Pairs:
        stored: _Pairs = defaultdict(dict)
        for part in batches(sorted(ids), _READ_BATCH):
            for row in self._corpus.stream("similar_edges", ids=list(part)):
                id_, other, position = row["id"], row["other"], (row["document"], row["ordinal"])
                self._positions.setdefault(other, position)
                source, target = (id_, other) if row["leaves"] else (other, id_)
                evidence = {"score": row["score"], "mutual": row["mutual"]}
                edge = Edge(EdgeKind(row["kind"]), source, target, evidence)
                lists, listed = row["mutual"] or row["leaves"], row["mutual"] or not row["leaves"]
                stored[id_][other] = _Pair(row["score"], position, lists, listed, edge)
        return dict(stored)


def link_similar(
    session: WriteSession, new: Spool[PreparedChunk], diff: ChunkDiff, settings: LinkSettings, done: Done
) -> None:
    """Bring the similarity links of a corpus to those of a fresh ingest: stage the missing, retire the outdated."""
    if settings.similar_top_k == 0:
        return
    if not session.corpus.generation:
        _link_all(session, new, settings, done)
        return
    if not (diff.vectors_added or diff.vectors_removed):
        return
    search = _neighbour_search(session, new, diff, settings)
    neighbours = IncrementalNeighbours(session.corpus, search, settings.similar_top_k, settings.similar_hub_cap)
    missing, surplus = neighbours.changes(diff.vectors_added, diff.vectors_removed)
    session.retire_edges(surplus)
    session.stage_edges(missing, done)


def _link_all(session: WriteSession, new: Spool[PreparedChunk], settings: LinkSettings, done: Done) -> None:
    ids: list[str] = []
    positions: list[Position] = []
    dimension = session.corpus.record.dimension
    with VectorFile(dimension) as written, VectorFile(dimension) as vectors:
        for chunks in new.batches():
            ids += [chunk.chunk.id for chunk in chunks]
            positions += [_position(chunk) for chunk in chunks]
            written.append([chunk.vector for chunk in chunks])
        in_order = sorted(range(len(ids)), key=lambda row: positions[row])
        for rows in batches(in_order, _BATCH):
            vectors.append(written[rows])
        pairs = similar_pairs(
            vectors,
            top_k=settings.similar_top_k,
            threshold=settings.threshold,
            degree_limit=settings.similar_hub_cap,
            exact_up_to=settings.exact_up_to,
        )
        for part in batches(pairs, _BATCH):
            edges = []
            for pair in part:
                kind = EdgeKind.SIMILAR if pair.linked else EdgeKind.CAPPED
                source, target = ids[in_order[pair.source]], ids[in_order[pair.target]]
                edges.append(Edge(kind, source, target, {"score": pair.score, "mutual": pair.mutual}))
            session.stage_edges(edges, done)


def _neighbour_search(
    session: WriteSession, new: Spool[PreparedChunk], diff: ChunkDiff, settings: LinkSettings
) -> NeighbourSearch:
    corpus, top_k, threshold = session.corpus, settings.similar_top_k, settings.threshold
    if diff.chunks_after(corpus.record.chunks, new.count) > settings.exact_up_to:
        return ApproximateSearch(corpus, top_k, threshold)
    ids: list[str] = []
    positions: list[Position] = []
    vectors: list[Vector] = []
    for row in corpus.stream("visible_vectors"):
        if row["id"] not in diff.vectors_removed:
            ids.append(row["id"])
            positions.append((row["document"], row["ordinal"]))
            vectors.append(np.asarray(row["vector"].to_numpy(), dtype=np.float32))
    for chunk in new:
        if chunk.chunk.id in diff.vectors_added:
            ids.append(chunk.chunk.id)
            positions.append(_position(chunk))
            vectors.append(chunk.vector)
    stacked = np.stack(vectors) if vectors else np.empty((0, corpus.record.dimension), dtype=np.float32)
    return ExactSearch(ids, positions, stacked, top_k, threshold)


def _position(chunk: PreparedChunk) -> Position:
    return chunk.chunk.document_key, chunk.chunk.ordinal
