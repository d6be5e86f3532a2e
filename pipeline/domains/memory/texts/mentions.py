"""The mentions of entities in texts: edges from the nodes of memories, decided on what is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from pipeline.domains.memory.entities import bare, embed_met, entity_edits, merged
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity
from pipeline.domains.memory.schema import MEMORY, MENTIONS
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.edit import EdgesRead, Edits

_SHARED = "shared"


@dataclass(frozen=True, slots=True)
class Mentioned:
    """The outcome of writing mentions: the mentions that are new, the memories' nodes and the entities that are."""

    mentions: int = 0
    memories: int = 0
    entities: int = 0


def write_mentions(
    memory: AgentMemory,
    nodes: Iterable[KnowledgeNode],
    mentioned: Mapping[str, Sequence[Entity]],
    complete: Iterable[str] = (),
    shared: Mapping[str, Sequence[Entity]] = MappingProxyType({}),
) -> Mentioned:
    """Write the nodes of memories and what they mention, in one edit; return what of it is new but for the concepts.

    ``mentioned`` has entities by the id of a memory's node, ``shared`` concepts, by names that memories have in common;
    a memory without a node is left out of these. An entity counts a mention for each memory once. ``complete`` are the
    nodes all of whose mentions are given: others are removed, as after a change of the text.
    """
    wanted, whole = {node.id: node for node in nodes}, frozenset(complete)
    named, concepts = _once(mentioned), _once(shared)
    entities = _once({"named": list(named.values()), "concepts": list(concepts.values())})
    memory.schema.check([entity.to_node() for entity in entities.values()], ())
    graph = memory.graph(create=True)
    stored = {node.id: node for node in graph.get_nodes([*entities, *whole])}
    embeddings = embed_met(memory, entities, stored)
    pairs_named, pairs_shared = _pairs(mentioned), _pairs(shared)

    def decide(nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, Mentioned]:
        known = {(edge.source, edge.target): edge for edge in edges if edge.type == MENTIONS}
        there = nodes.keys() | wanted.keys()
        pairs = pairs_named | {pair for pair in pairs_shared if pair[0] in there}
        new = sorted(pairs - known.keys())
        gone = sorted(pair for pair in known if pair[0] in whole and pair not in pairs)
        counts = _counts(new, gone)
        met = {id_: replace(entity, mention_count=counts.get(id_, 0)) for id_, entity in entities.items()}
        less = {id_: Entity.of(nodes[id_]) for id_ in counts if id_ not in met and id_ in nodes}
        met |= {id_: replace(bare(entity), mention_count=counts[id_]) for id_, entity in less.items()}
        changed = {id_: entity for id_, entity in met.items() if _adds(nodes.get(id_), entity)}
        edits, _ = entity_edits(nodes, changed, embeddings)
        fresh = [node for id_, node in wanted.items() if not _same(nodes.get(id_), node)]
        edits = replace(
            edits,
            nodes=[*edits.nodes, *fresh],
            edges=[
                KnowledgeEdge(*pair, MENTIONS, properties={} if pair in pairs_named else {_SHARED: True})
                for pair in new
            ],
            removed_edges=[known[pair].id for pair in gone],
        )
        written = Mentioned(
            len(pairs_named - known.keys()),
            sum(node.id not in nodes for node in fresh),
            len((changed.keys() & named.keys()) - nodes.keys()),
        )
        return edits, written

    sources = {*wanted, *mentioned, *shared, *whole}
    before = [id_ for id_ in whole if id_ in stored]
    return graph.edit(
        [*sources, *entities, *(_mentioned_before(memory, before) if before else ())],
        decide,
        node_types={MEMORY, *(entity.type for entity in entities.values())},
        edge_types=[MENTIONS],
        reads=EdgesRead.TOUCHING,
        around=sources,
    )


def _pairs(mentioned: Mapping[str, Sequence[Entity]]) -> set[tuple[str, str]]:
    return {(source, entity.id) for source, entities in mentioned.items() for entity in entities}


def _mentioned_before(memory: AgentMemory, nodes: Iterable[str]) -> list[str]:
    """Return the ids of the entities that these memories mention so far: some may lose a mention."""
    rows = memory.rows("memory_mentioned", keys=memory.keys(nodes), type=MENTIONS)
    return [row["entity"] for row in rows]


def _once(mentioned: Mapping[str, Sequence[Entity]]) -> dict[str, Entity]:
    entities: dict[str, Entity] = {}
    for named in mentioned.values():
        for entity in named:
            known = entities.get(entity.id)
            entities[entity.id] = merged(known, entity) if known and known != entity else entity
    return entities


def _counts(new: Iterable[tuple[str, str]], gone: Iterable[tuple[str, str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for pairs, step in ((new, 1), (gone, -1)):
        for _, target in pairs:
            counts[target] = counts.get(target, 0) + step
    return counts


def _adds(stored: KnowledgeNode | None, met: Entity) -> bool:
    """Return whether an entity that is met says more than the stored one."""
    if stored is None:
        return True
    known = Entity.of(stored)
    return merged(known, met) != known


def _same(stored: KnowledgeNode | None, node: KnowledgeNode) -> bool:
    return stored is not None and (stored.properties, stored.valid_at) == (node.properties, node.valid_at)
