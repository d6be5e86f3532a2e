"""Mentions: the entities that a memory knows by name, and the edges from its texts to those that they name."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from pipeline.db.corpus import open_corpus
from pipeline.domains.memory.entities import bare, embed_met, entity_edits, merged
from pipeline.domains.memory.extract.gazetteer import Gazetteer
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity, EntityKey
from pipeline.domains.memory.schema import MEMORY, MENTIONS
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.edit import EdgesRead, Edits
from pipeline.retrieve.legs import Leg


def known_entities(memory: AgentMemory) -> list[Entity]:
    """Return all entities with their names and aliases, and nothing else of them; none if nothing is stored yet.

    They are read again after a change of the graph.
    """
    return memory.cached("known entities", lambda: _read_names(memory)) if memory.exists() else []


def gazetteer(memory: AgentMemory, scope: str | None = None) -> Gazetteer:
    """Return the names that a text of a scope may mention; they are read again after a change of the graph."""
    return memory.cached(("gazetteer", scope), lambda: gazetteer_of(known_entities(memory), scope))


def gazetteer_of(entities: Iterable[Entity], scope: str | None) -> Gazetteer:
    """Return the names of entities. An entity of the scope hides its namesakes of the same type in others."""
    entities = list(entities)
    own = {(entity.type, entity.name) for entity in entities if entity.scope == scope}
    return Gazetteer(entity for entity in entities if entity.scope == scope or (entity.type, entity.name) not in own)


def _read_names(memory: AgentMemory) -> list[Entity]:
    rows = memory.rows("memory_entity_names", label=memory.label)
    return [Entity(row["name"], row["type"], row["scope"], aliases=tuple(row["aliases"])) for row in rows]


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


_FEW = 20
"""So many names are looked up by full text; for more, all texts are read. Chosen by hand; not measured."""

_TEXTS = 100
"""Texts that are looked at for each of a few names: those that hold it come first."""


def mention_in_texts(memory: AgentMemory, entities: Sequence[Entity]) -> int:
    """Find new entities in the texts that are there already, and write these mentions; return their number."""
    if not entities or not memory.has_texts():
        return 0
    memory = memory.opened()  # the entities were written since the last look
    new, known = {entity.key for entity in entities}, gazetteer(memory)
    nodes = {EntityKey.of(id_).name: id_ for id_ in _text_ids(memory)}
    mentioned: dict[str, dict[EntityKey, Entity]] = defaultdict(dict)
    for document, text in _candidates(memory, entities):
        for mention in known.mentions(text) if document in nodes else ():
            if mention.entity in new:
                mentioned[nodes[document]][mention.entity] = bare(known[mention.entity])
    of_nodes = {node_id: list(named.values()) for node_id, named in mentioned.items()}
    return write_mentions(memory, (), of_nodes).mentions if of_nodes else 0


def _candidates(memory: AgentMemory, entities: Sequence[Entity]) -> Iterator[tuple[str, str]]:
    """Yield passages that may hold a name of the entities, each with the key of its document."""
    if len(entities) > _FEW:
        for row in open_corpus(memory.hoprank.client, memory.name).stream("chunk_texts"):
            yield row["document"], row["text"]
        return
    for name in dict.fromkeys(_names(entities)):
        for hit in memory.hoprank.search(name, None, _TEXTS, corpus=memory.name, leg=Leg.FULLTEXT).hits:
            yield hit.document, hit.text


def _names(entities: Iterable[Entity]) -> Iterator[str]:
    for entity in entities:
        yield from (name for name in (entity.name, *entity.aliases) if name.strip())


def _text_ids(memory: AgentMemory) -> list[str]:
    return [row["id"] for row in memory.rows("memory_texts_after", label=memory.label, type=MEMORY, known_at="")]
