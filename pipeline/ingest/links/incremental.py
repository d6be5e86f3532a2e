"""Incremental kNN: the similar pairs that appear, vanish or change when chunks do.

See :mod:`pipeline.ingest.links.similar` for the rules. The list of a chunk's nearest changes when one of them is
removed, or when a new chunk is nearer than the worst of them. A pair is recomputed when the list of either endpoint
changes, or when an endpoint exceeds the degree limit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pipeline.db.client import Client, batches
from pipeline.ingest.links.neighbours import Neighbour, Neighbours, NeighbourSearch, rank
from pipeline.ingest.update.diff import Position
from pipeline.records import Edge, EdgeKind

_ASKED_AT_ONCE = 2000

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Pair:
    """A similar pair as one of its ends sees it: it ``lists`` the other, and is ``listed`` by it."""

    score: float
    position: Position
    lists: bool
    listed: bool
    edge: Edge | None = None

    @property
    def capped(self) -> bool:
        return self.edge is not None and self.edge.kind is EdgeKind.CAPPED


_Pairs = dict[str, dict[str, _Pair]]
"""By end and other end."""


class IncrementalNeighbours:
    """Finds the similarity links that one update adds and removes."""

    def __init__(self, client: Client, generation: int, search: NeighbourSearch, top_k: int, hub_cap: int) -> None:
        self._client = client
        self._generation = generation
        self._search = search
        self._top_k = top_k
        self._hub_cap = hub_cap
        self._positions: dict[str, Position] = {}

    def changes(self, added: Mapping[str, Position], removed: Collection[str]) -> tuple[list[Edge], list[Key]]:
        """Return the edges to add and the keys of those to remove.

        ``removed`` are the vectors that are removed, ``added`` those that are added with their positions; a chunk that
        gets another vector or position is both.
        """
        self._positions.update(added)
        before = self._stored(removed)
        lists = self._lists(added, set(removed), before)
        before |= self._stored(lists.keys() - added.keys())
        after = self._pairs(lists, before, set(removed))
        self._add_over_limit(before, after, set(removed))
        return self._difference(before, after, set(removed))

    def _lists(self, added: Mapping[str, Position], removed: set[str], gone: _Pairs) -> Neighbours:
        """Return the neighbour lists that are new or change."""
        reach = self._search.candidates(added.keys())
        lists = {id_: near[: self._top_k] for id_, near in reach.items()}
        gained: Neighbours = defaultdict(list)
        for id_, near in reach.items():
            for one in near:
                self._positions[one.id] = one.position
                if one.id not in added:
                    gained[one.id].append(Neighbour(id_, added[id_], one.score))
        lost = {other for pairs in gone.values() for other, pair in pairs.items() if pair.listed} - removed
        full, changed = self._changed(lost, gained)
        stored = self._stored(changed)
        again = self._search.best(lost & full)
        for id_ in changed:
            kept = (
                Neighbour(other, pair.position, pair.score)
                for other, pair in stored.get(id_, {}).items()
                if pair.lists and other not in removed
            )
            lists[id_] = again.get(id_) or sorted([*kept, *gained[id_]], key=rank)[: self._top_k]
        return lists

    def _changed(self, lost: set[str], gained: Neighbours) -> tuple[set[str], set[str]]:
        """Return the chunks whose lists are full, and those whose lists change."""
        full = set()
        changed = set(lost)
        for part in batches(sorted(lost | gained.keys()), _ASKED_AT_ONCE):
            for row in self._client.read("similar_summary", ids=list(part), generation=self._generation):
                id_ = row["id"]
                if row["listed"] >= self._top_k:
                    full.add(id_)
                    if any(one.score >= row["worst"] for one in gained.get(id_, ())):
                        changed.add(id_)
                elif id_ in gained:
                    changed.add(id_)
        return full, changed

    def _pairs(self, lists: Neighbours, before: _Pairs, removed: set[str]) -> _Pairs:
        """Return all pairs of the chunks whose lists change, as they will be."""
        listing = {id_: {one.id for one in near} for id_, near in lists.items()}
        after: _Pairs = {id_: {} for id_ in lists}
        for id_, near in lists.items():
            for one in near:
                self._positions[one.id] = one.position
                stored = before.get(id_, {}).get(one.id)
                back = id_ in listing[one.id] if one.id in listing else bool(stored and stored.listed)
                after[id_][one.id] = _Pair(one.score, one.position, True, back)
                if one.id in lists and not back:
                    after[one.id][id_] = _Pair(one.score, self._positions[id_], False, True)
            for other, pair in before.get(id_, {}).items():
                stays = pair.listed and other not in removed and other not in lists
                if stays and other not in after[id_]:
                    after[id_][other] = _Pair(pair.score, pair.position, False, True)
        return after

    def _add_over_limit(self, before: _Pairs, after: _Pairs, removed: set[str]) -> None:
        """Add the chunks that exceed or exceeded the degree limit: others of their pairs are linked than before."""
        growth: Counter[str] = Counter()
        for id_ in before.keys() | after.keys():
            old, new = before.get(id_, {}), after.get(id_, {})
            for other in (old.keys() ^ new.keys()) - after.keys() - removed:
                growth[other] += 1 if other in new else -1
        over_limit = set()
        for part in batches(sorted(growth), _ASKED_AT_ONCE):
            for row in self._client.read("similar_summary", ids=list(part), generation=self._generation):
                if max(row["degree"], row["degree"] + growth[row["id"]]) > self._hub_cap:
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
        limit = _DegreeLimit(after, self._hub_cap)
        outside = {other for pairs in before.values() for other, pair in pairs.items() if pair.capped} - after.keys()
        limit.add(self._stored(outside - removed))
        missing: dict[Key, Edge] = {}
        surplus: set[Key] = set()
        for id_ in before.keys() | after.keys():
            old, new = before.get(id_, {}), after.get(id_, {})
            for other in old.keys() | new.keys():
                there = old[other].edge if other in old else None
                wanted = self._edge(id_, other, new[other], limit.both(id_, other)) if other in new else None
                if there and there != wanted:
                    surplus.add(there.key)
                if wanted and there != wanted:
                    missing[wanted.key] = wanted
        return [edge for _, edge in sorted(missing.items())], sorted(surplus)

    def _edge(self, id_: str, other: str, pair: _Pair, linked: bool) -> Edge:
        first, second = sorted((id_, other), key=lambda one: self._positions.get(one, pair.position))
        mutual = pair.lists and pair.listed
        source = first if mutual else id_ if pair.lists else other
        target = second if source == first else first
        kind = EdgeKind.SIMILAR if linked else EdgeKind.CAPPED
        return Edge(kind, source, target, {"score": pair.score, "mutual": mutual})

    def _stored(self, ids: Iterable[str]) -> _Pairs:
        found: _Pairs = defaultdict(dict)
        for part in batches(sorted(ids), _ASKED_AT_ONCE):
            for row in self._client.stream("similar_edges", ids=list(part), generation=self._generation):
                id_, other, position = row["id"], row["other"], (row["document"], row["ordinal"])
                self._positions.setdefault(other, position)
                source, target = (id_, other) if row["leaves"] else (other, id_)
                evidence = {"score": row["score"], "mutual": row["mutual"]}
                edge = Edge(EdgeKind(row["kind"]), source, target, evidence)
                lists, listed = row["mutual"] or row["leaves"], row["mutual"] or not row["leaves"]
                found[id_][other] = _Pair(row["score"], position, lists, listed, edge)
        return dict(found)


class _DegreeLimit:
    """Tells the pairs that are within the degree limit of both ends: the best ones of each."""

    def __init__(self, pairs: _Pairs, hub_cap: int) -> None:
        self._hub_cap = hub_cap
        self._counted: dict[str, set[str]] = {}
        self.add(pairs)

    def add(self, pairs: _Pairs) -> None:
        """Take in all pairs of some chunks."""
        for id_, others in pairs.items():
            if len(others) > self._hub_cap and id_ not in self._counted:
                near = (Neighbour(other, pair.position, pair.score) for other, pair in others.items())
                self._counted[id_] = {one.id for one in sorted(near, key=rank)[: self._hub_cap]}

    def both(self, one: str, other: str) -> bool:
        """Whether a pair is within the limit of both its ends."""
        first, second = self._counted.get(one), self._counted.get(other)
        return (first is None or other in first) and (second is None or one in second)
