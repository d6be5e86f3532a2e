"""Merges of entities into survivors, and their undoing, over records: what nodes and edges become, and were."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple, Self

from pipeline.domains.memory.dedupe.plan import Group
from pipeline.domains.memory.records import Entity, Fact
from pipeline.ids import digest
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.edit import Edits
from pipeline.knowledge.exchange.json_format import edge_of, mapping_of, node_of
from pipeline.knowledge.records import Json, edge_id

_NODES, _EDGES = ("before_nodes", "after_nodes"), ("before_edges", "after_edges")
_CARRIED = ("weight", "valid_at", "invalid_at", "expired_at")
"""Fields of an edge whose changes since a merge stay when it is undone."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A change of nodes and edges that can be undone: what they were and what they became.

    ``before_nodes`` are all members of the groups, ``after_nodes`` the survivors. ``before_edges`` are those that
    changed or went, ``after_edges`` those that replaced them, and ``sources`` the ids of the former for each id of the
    latter. ``kept_edges`` are the ids of edges of survivors that stayed as they were.
    """

    before_nodes: tuple[KnowledgeNode, ...] = ()
    before_edges: tuple[KnowledgeEdge, ...] = ()
    after_nodes: tuple[KnowledgeNode, ...] = ()
    after_edges: tuple[KnowledgeEdge, ...] = ()
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kept_edges: tuple[str, ...] = ()

    @property
    def members(self) -> frozenset[str]:
        """The ids of the merged entities, survivors and losers."""
        return frozenset(node.id for node in self.before_nodes)

    @property
    def survivors(self) -> frozenset[str]:
        """The ids of the survivors."""
        return frozenset(node.id for node in self.after_nodes)

    @property
    def touched(self) -> frozenset[str]:
        """The ids of the merged entities and of the ends of the edges that changed."""
        return self.members | {end for edge in self.before_edges for end in (edge.source, edge.target)}

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        records = {name: list(map(mapping_of, getattr(self, name))) for name in (*_NODES, *_EDGES)}
        return {**records, "sources": dict(self.sources), "kept_edges": self.kept_edges}

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Self:
        """Return the rewrite that :meth:`to_json` made these values of."""
        records: dict[str, Any] = {name: tuple(map(node_of, content[name])) for name in _NODES}
        records |= {name: tuple(map(edge_of, content[name])) for name in _EDGES}
        sources = {id_: tuple(ids) for id_, ids in content["sources"].items()}
        return cls(**records, sources=sources, kept_edges=tuple(content["kept_edges"]))

    def edits(self) -> Edits:
        """Return the edits that make the change."""
        after = {edge.id for edge in self.after_edges}
        return Edits(
            nodes=self.after_nodes,
            edges=self.after_edges,
            removed_nodes=sorted(self.members - self.survivors),
            removed_edges=[edge.id for edge in self.before_edges if edge.id not in after],
        )


def merge(
    groups: Sequence[Group], nodes: Mapping[str, KnowledgeNode], edges: Iterable[KnowledgeEdge], time: str
) -> Rewrite:
    """Return what groups become; ``edges`` are all that touch their members, and ``time`` is when they are merged.

    The losers' edges move to the survivor. An edge between two members goes; of edges that say the same of the same
    period, the earliest stays, with the evidence of all.
    """
    survivor_of = {id_: group.survivor for group in groups for id_ in group.members}
    before = sorted(edges, key=lambda edge: edge.id)
    versions: dict[tuple[object, ...], list[tuple[KnowledgeEdge, KnowledgeEdge]]] = defaultdict(list)
    for edge in before:
        moved = _rewired(edge, survivor_of)
        if moved.source != moved.target or edge.source == edge.target:
            # edges say the same of the same period whenever they were written, and an undirected one from either end
            ends = [moved.source, moved.target] if moved.directed else sorted((moved.source, moved.target))
            period = (moved.valid_at, moved.invalid_at, moved.expired_at)
            versions[(moved.type, moved.directed, *ends, *period)].append((moved, edge))
    after: dict[str, KnowledgeEdge] = {}
    sources: dict[str, tuple[str, ...]] = {}
    for same in versions.values():
        folds = [same] if any(moved != edge for moved, edge in same) else [[pair] for pair in same]
        for fold in folds:
            kept = _folded([moved for moved, _ in fold])
            kept = replace(kept, id=digest("merged", *(edge.id for _, edge in fold))) if kept.id in after else kept
            after[kept.id] = kept
            sources[kept.id] = tuple(edge.id for _, edge in fold)
    unchanged = {edge.id for edge in before if after.get(edge.id) == edge and sources[edge.id] == (edge.id,)}
    return Rewrite(
        tuple(nodes[id_] for id_ in survivor_of),
        tuple(edge for edge in before if edge.id not in unchanged),
        tuple(merged_node([nodes[id_] for id_ in group.members], time) for group in groups),
        tuple(edge for id_, edge in sorted(after.items()) if id_ not in unchanged),
        {id_: ids for id_, ids in sorted(sources.items()) if id_ not in unchanged},
        tuple(sorted(unchanged)),
    )


def merged_node(members: Sequence[KnowledgeNode], time: str) -> KnowledgeNode:
    """Return the node that these become; the first is the survivor.

    Mentions add up, the longest description wins, names and aliases of all lead to it, metadata is merged: the
    survivor's wins, and lists are joined. It was created when the first of them was. Its embedding stays.
    """
    entities = [Entity.of(node) for node in members]
    first = entities[0]
    aliases = dict.fromkeys(name for entity in entities for name in (entity.name, *entity.aliases))
    entity = replace(
        first,
        description=max((entity.description for entity in entities), key=len),
        aliases=tuple(alias for alias in aliases if alias != first.name),
        mention_count=sum(entity.mention_count for entity in entities),
        confidence=max(entity.confidence for entity in entities),
        metadata=reduce(_joined, (entity.metadata for entity in entities)),
    )
    return replace(
        members[0],
        labels=tuple(dict.fromkeys(label for node in members for label in node.labels)),
        properties=entity.to_node().properties,
        embedding=next((node.embedding for node in members if node.embedding is not None), None),
        created_at=min((node.created_at for node in members if node.created_at), default=None),
        updated_at=time,
    )


def _rewired(edge: KnowledgeEdge, survivor_of: Mapping[str, str]) -> KnowledgeEdge:
    """Return an edge between survivors, with the id that one between them has."""
    source, target = survivor_of.get(edge.source, edge.source), survivor_of.get(edge.target, edge.target)
    if (source, target) == (edge.source, edge.target):
        return edge
    id_ = edge.id
    if id_ == edge_id(edge.source, edge.target, edge.type, directed=edge.directed):
        id_ = edge_id(source, target, edge.type, directed=edge.directed)
    elif id_ == (fact := Fact.of(edge)).id:
        id_ = replace(fact, source=source, target=target).id
    return replace(edge, source=source, target=target, id=id_)


def _folded(edges: Sequence[KnowledgeEdge]) -> KnowledgeEdge:
    """Return the earliest of some edges, with what the others add."""
    first, *others = sorted(edges, key=lambda edge: (edge.created_at or "", edge.id))
    if not others:
        return first
    properties = reduce(_joined, (edge.properties for edge in others), first.properties)
    confidences = (edge.properties.get("confidence") for edge in edges)
    numbers = [float(value) for value in confidences if isinstance(value, int | float)]
    highest: dict[str, Json] = {"confidence": max(numbers)} if numbers else {}
    return replace(first, weight=max(edge.weight for edge in edges), properties={**properties, **highest})


def _joined(first: Mapping[str, Json], second: Mapping[str, Json]) -> Mapping[str, Json]:
    """Merge two mappings: the first wins, and lists are joined."""
    joined = {**second, **first}
    for name in first.keys() & second.keys():
        own, others = first[name], second[name]
        if isinstance(own, list) and isinstance(others, list):
            joined[name] = [*own, *(item for item in others if item not in own)]
        elif own in ("", None, []):
            joined[name] = others
    return joined


class Unmerged(NamedTuple):
    """The edits that undo a rewrite, and notes on what differs from before."""

    edits: Edits
    notes: tuple[str, ...]


def unmerge(rewrite: Rewrite, nodes: Mapping[str, KnowledgeNode], edges: Iterable[KnowledgeEdge]) -> Unmerged:
    """Return how to undo a rewrite; ``nodes`` and ``edges`` are its members and their edges as they are now.

    What has come to a survivor since stays with it. A change of an edge since is made to the edges that it came from.
    What was removed since isn't restored.
    """
    stored = {edge.id: edge for edge in edges}
    restored = {node.id: node for node in _nodes(rewrite, nodes)}
    removed = sorted(rewrite.survivors - nodes.keys())
    back, changed = _edges(rewrite, stored, restored.keys() | nodes.keys())
    after = {edge.id for edge in rewrite.after_edges}
    edits = Edits(
        nodes=list(restored.values()),
        edges=back,
        removed_edges=sorted((after & stored.keys()) - {edge.id for edge in back}),
    )
    members, merged = rewrite.members & nodes.keys(), after | set(rewrite.kept_edges)
    new = (edge for edge in stored.values() if edge.id not in merged)
    since = Counter(end for edge in new for end in {edge.source, edge.target} & members)
    notes = [f"{id_} was removed since: it isn't restored" for id_ in removed]
    notes += changed
    notes += (f"{count} facts or mentions that came since stay with {id_}" for id_, count in sorted(since.items()))
    return Unmerged(edits, tuple(notes))


def _nodes(rewrite: Rewrite, nodes: Mapping[str, KnowledgeNode]) -> Iterator[KnowledgeNode]:
    """Yield the members as they were, of those groups whose survivor still exists."""
    after = {node.id: node for node in rewrite.after_nodes}
    survivor = ""
    for before in rewrite.before_nodes:  # in order of the groups, each survivor before its losers
        survivor = before.id if before.id in after else survivor
        now = nodes.get(before.id)
        if survivor not in nodes:
            continue
        if now is None:
            yield before
        elif before.id in after:
            yield _without_merge(before, after[before.id], now)
        else:  # a loser that was written anew since: the mentions of both count
            count = Entity.of(before).mention_count + Entity.of(now).mention_count
            yield replace(before, properties={**before.properties, "mention_count": count}, updated_at=now.updated_at)


def _without_merge(before: KnowledgeNode, after: KnowledgeNode, now: KnowledgeNode) -> KnowledgeNode:
    """Return a survivor as it was before, with what changed since the merge."""
    if now == after:
        return before
    properties = _reverted(before.properties, after.properties, now.properties)
    own, merged, present = (Entity.of(node) for node in (before, after, now))
    properties["mention_count"] = max(0, own.mention_count + present.mention_count - merged.mention_count)
    properties["aliases"] = [name for name in present.aliases if name in own.aliases or name not in merged.aliases]
    same_text = properties["description"] == before.properties["description"]
    return replace(
        now,
        labels=before.labels if now.labels == after.labels else now.labels,
        properties=properties,
        embedding=before.embedding if same_text or now.embedding == after.embedding else now.embedding,
        created_at=before.created_at,
        updated_at=before.updated_at if now.updated_at == after.updated_at else now.updated_at,
    )


def _edges(
    rewrite: Rewrite, stored: Mapping[str, KnowledgeEdge], present: Set[str]
) -> tuple[list[KnowledgeEdge], list[str]]:
    """Return the edges to restore, and notes on those that changed or went since."""
    before = {edge.id: edge for edge in rewrite.before_edges}
    loose = before.keys() - {id_ for ids in rewrite.sources.values() for id_ in ids}
    back = [before[id_] for id_ in sorted(loose) if {before[id_].source, before[id_].target} <= present]
    kept = [(after, stored[after.id]) for after in rewrite.after_edges if after.id in stored]
    back += [_carried(before[id_], after, now) for after, now in kept for id_ in rewrite.sources[after.id]]
    notes = []
    if changed := sum(now != after for after, now in kept):
        notes.append(f"{changed} edges changed since: they keep the change")
    if gone := len(rewrite.after_edges) - len(kept):
        notes.append(f"{gone} edges were removed since: they aren't restored")
    return back, notes


def _carried(before: KnowledgeEdge, after: KnowledgeEdge, now: KnowledgeEdge) -> KnowledgeEdge:
    """Return an edge as it was before, with the changes that were made since to the one that it went into."""
    if now == after:
        return before
    changes = {name: getattr(now, name) for name in _CARRIED if getattr(now, name) != getattr(after, name)}
    return replace(before, properties=_reverted(before.properties, after.properties, now.properties), **changes)


def _reverted(before: Mapping[str, Json], after: Mapping[str, Json], now: Mapping[str, Json]) -> dict[str, Json]:
    """Return the properties of now, but those of before where nothing has changed since the merge."""
    changed = {name: value for name, value in now.items() if name not in after or after[name] != value}
    removed = after.keys() - now.keys()
    return {**{name: value for name, value in before.items() if name not in removed}, **changed}
