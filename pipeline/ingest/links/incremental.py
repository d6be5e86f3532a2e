"""Incremental kNN: the similar pairs that appear, vanish or change with an update.

See :mod:`pipeline.ingest.links.similar` for the rules. A chunk's neighbour list changes when a neighbour is removed, or
when a new chunk is nearer than its worst neighbour. A pair is recomputed when the neighbour list of either endpoint
changes, or when an endpoint exceeds the degree limit.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pipeline.db.client import batches
from pipeline.db.corpus import CorpusHandle
from pipeline.edges import EdgeKind
from pipeline.ingest.links.neighbours import Neighbour, Neighbours, NeighbourSearch, rank
from pipeline.ingest.update.diff import Position
from pipeline.records import Edge

_READ_BATCH = 2000

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Pair:
    """A similar pair seen from an endpoint: it ``lists`` the other endpoint, and is ``listed`` by it."""

    score: float
    position: Position
    lists: bool
    listed: bool
    edge: Edge | None = None

    @property
    def over_limit(self) -> bool:
        return self.edge is not None and self.edge.kind is EdgeKind.CAPPED


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
        candidates = self._search.candidates(added.keys())
        lists = {id_: neighbours[: self._top_k] for id_, neighbours in candidates.items()}
        gained: Neighbours = defaultdict(list)
        for id_, neighbours in candidates.items():
            for neighbour in neighbours:
                self._positions[neighbour.id] = neighbour.position
                if neighbour.id not in added:
                    gained[neighbour.id].append(Neighbour(id_, added[id_], neighbour.score))
        lost = {other for pairs in removed_pairs.values() for other, pair in pairs.items() if pair.listed} - removed
        full, changed = self._changed(lost, gained)
        stored = self._stored(changed)
        searched = self._search.best(lost & full)
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
        limit = _DegreeLimit(after, self._degree_limit)
        over_limit = {other for pairs in before.values() for other, pair in pairs.items() if pair.over_limit}
        limit.add(self._stored(over_limit - after.keys() - removed))
        missing: dict[Key, Edge] = {}
        surplus: set[Key] = set()
        for id_ in before.keys() | after.keys():
            old, new = before.get(id_, {}), after.get(id_, {})
            for other in old.keys() | new.keys():
                stored = old[other].edge if other in old else None
                wanted = self._edge(id_, other, new[other], limit.allows(id_, other)) if other in new else None
                if stored and stored != wanted:
                    surplus.add(stored.key)
                if wanted and stored != wanted:
                    missing[wanted.key] = wanted
        return [edge for _, edge in sorted(missing.items())], sorted(surplus)

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


class _DegreeLimit:
    """Selects the pairs within the degree limit of both endpoints, i.e. among the best pairs of each."""

    def __init__(self, pairs: _Pairs, degree_limit: int) -> None:
        self._degree_limit = degree_limit
        self._allowed: dict[str, set[str]] = {}
        self.add(pairs)

    def add(self, pairs: _Pairs) -> None:
        """Add chunks with all their pairs."""
        for id_, others in pairs.items():
            if len(others) > self._degree_limit and id_ not in self._allowed:
                neighbours = (Neighbour(other, pair.position, pair.score) for other, pair in others.items())
                self._allowed[id_] = {neighbour.id for neighbour in sorted(neighbours, key=rank)[: self._degree_limit]}

    def allows(self, first: str, second: str) -> bool:
        """Return whether a pair is within the limit of both endpoints."""
        of_first, of_second = self._allowed.get(first), self._allowed.get(second)
        return (of_first is None or second in of_first) and (of_second is None or first in of_second)
