"""Merges of entities into survivors, over records: what the nodes and edges of some groups become."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.domains.memory.dedupe.plan import Group
from pipeline.domains.memory.records import Entity, Fact
from pipeline.ids import digest
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.edit import Edits
from pipeline.knowledge.records import Json, edge_id


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
    sources: Mapping[str, tuple[str, ...]] | None = None
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

    @property
    def folded(self) -> int:
        """The number of edges that went: into another, or between two entities that became one."""
        return len(self.before_edges) - len(self.after_edges)

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
            versions[_version(moved)].append((moved, edge))
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
    survivor = members[0]
    entities = [Entity.of(node) for node in members]
    first = entities[0]
    aliases = dict.fromkeys(name for entity in entities for name in (entity.name, *entity.aliases))
    metadata: dict[str, Json] = {}
    for entity in entities:
        metadata = _joined(metadata, entity.metadata)
    entity = replace(
        first,
        description=max((entity.description for entity in entities), key=len),
        aliases=tuple(alias for alias in aliases if alias != first.name),
        mention_count=sum(entity.mention_count for entity in entities),
        confidence=max(entity.confidence for entity in entities),
        metadata=metadata,
    )
    embeddings = [node.embedding for node in members if node.embedding is not None]
    return replace(
        survivor,
        labels=tuple(dict.fromkeys(label for node in members for label in node.labels)),
        properties=entity.to_node().properties,
        embedding=embeddings[0] if embeddings else None,
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


def _version(edge: KnowledgeEdge) -> tuple[object, ...]:
    """Return what edges have in common that say the same of the same period, whenever they were written."""
    ends = (edge.source, edge.target) if edge.directed else tuple(sorted((edge.source, edge.target)))
    return (edge.type, edge.directed, *ends, edge.valid_at, edge.invalid_at, edge.expired_at)


def _folded(edges: Sequence[KnowledgeEdge]) -> KnowledgeEdge:
    """Return the earliest of some edges, with what the others add."""
    first, *others = sorted(edges, key=lambda edge: (edge.created_at or "", edge.id))
    if not others:
        return first
    properties: Mapping[str, Json] = first.properties
    for other in others:
        properties = _joined(properties, other.properties)
    confidences = [edge.properties["confidence"] for edge in edges if "confidence" in edge.properties]
    numbers = [float(value) for value in confidences if isinstance(value, int | float)]
    highest: dict[str, Json] = {"confidence": max(numbers)} if numbers else {}
    return replace(first, weight=max(edge.weight for edge in edges), properties={**properties, **highest})


def _joined(first: Mapping[str, Json], second: Mapping[str, Json]) -> dict[str, Json]:
    """Merge two mappings: the first wins, and lists are joined."""
    joined = {**second, **first}
    for name in first.keys() & second.keys():
        own, others = first[name], second[name]
        if isinstance(own, list) and isinstance(others, list):
            joined[name] = [*own, *(item for item in others if item not in own)]
        elif own in ("", None, []):
            joined[name] = others
    return joined
