"""Entities, each written once by scope, type and name, and the mentions of them in the texts of a memory."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType

from pipeline.db.corpus import open_corpus
from pipeline.domains.memory.dedupe.apply import merges
from pipeline.domains.memory.extract.gazetteer import Gazetteer
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import TEXT, Entity, EntityKey
from pipeline.domains.memory.schema import DEFINITIONS, MEMORY, MENTIONS
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import EdgesRead, Edits
from pipeline.knowledge.sync import NO_EMBEDDINGS, Embeddings
from pipeline.retrieve.legs import Leg

_FEW = 20
"""So many names are looked up by full text; for more, all texts are read. Chosen by hand; not measured."""

_TEXTS = 100
"""Texts that are looked at for each of a few names: those that hold it come first. Chosen by hand; not measured."""


def merged(known: Entity, new: Entity) -> Entity:
    """Return two entities of one id as one: mentions add up, the longer description wins, metadata is merged."""
    return replace(
        known,
        description=max(known.description, new.description, key=lambda text: (len(text), text)),
        aliases=tuple(dict.fromkeys((*known.aliases, *new.aliases))),
        mention_count=known.mention_count + new.mention_count,
        confidence=max(known.confidence, new.confidence),
        metadata={**known.metadata, **new.metadata},
    )


def bare(entity: Entity) -> Entity:
    """Return a placeholder with the entity's key only; merging it changes nothing."""
    return Entity(entity.name, entity.type, entity.scope, mention_count=0, confidence=0.0)


def together(entities: Iterable[Entity]) -> dict[str, Entity]:
    """Return entities by id, those of one id merged."""
    by_id: dict[str, Entity] = {}
    for entity in entities:
        known = by_id.get(entity.id)
        by_id[entity.id] = merged(known, entity) if known else entity
    return by_id


def survivors(memory: AgentMemory) -> dict[str, str]:
    """Return the ids of entities that were merged into others, each with that of its survivor.

    A text that mentions such a name mentions the survivor, not a new entity.
    """
    if (journal := memory.journal()) is None:
        return {}
    into = {
        loser: group.survivor for merge in reversed(merges(journal)) for group in merge.groups for loser in group.losers
    }

    def last(id_: str) -> str:
        seen = {id_}
        while (after := into.get(id_)) is not None and after not in seen:
            id_ = after
            seen.add(id_)
        return id_

    return {loser: last(loser) for loser in into}


def surviving(entity: Entity, into: Mapping[str, str]) -> Entity:
    """Return an entity under the name of its survivor, with its own name as an alias; itself if it wasn't merged."""
    if entity.id not in into:
        return entity
    aliases = tuple(dict.fromkeys((entity.name, *entity.aliases)))
    return replace(entity, **EntityKey.of(into[entity.id])._asdict(), aliases=aliases)


def upsert(memory: AgentMemory, entities: Iterable[Entity]) -> list[Entity]:
    """Write entities, by scope, type and name; return them as stored, in order of id.

    One that is stored already is merged with it (:func:`merged`). Types of the setting ``embedded_types`` are embedded.
    Raises GraphError if a type isn't declared; then nothing is written.
    """
    memory = memory.opened(create=True)
    into = survivors(memory)
    new = together(surviving(entity, into) for entity in entities)
    memory.schema.check([entity.to_node() for entity in new.values()], ())
    if not new:
        return []
    graph = memory.graph()
    embeddings = _embed_new(memory, new, {node.id: node for node in graph.get_nodes(list(new))})
    written = graph.edit(
        new,
        lambda nodes, _: _edits_of(nodes, new, embeddings),
        node_types={entity.type for entity in new.values()},
        reads=EdgesRead.NONE,
    )
    return sorted(written, key=lambda entity: entity.id)


def _edits_of(
    stored: Mapping[str, KnowledgeNode], new: Mapping[str, Entity], embeddings: Embeddings
) -> tuple[Edits, list[Entity]]:
    """Return the edits that write entities over the stored nodes, and the entities as they will be stored."""
    time = now()
    put, after = [], []
    for id_, entity in new.items():
        node = stored.get(id_)
        entity = replace(merged(Entity.of(node), entity), updated_at=time) if node else entity
        put.append(entity.to_node(embeddings.vectors.get(id_) or (node.embedding if node else None)))
        after.append(entity)
    hashes = {id_: hash_ for id_, hash_ in embeddings.hashes.items() if id_ in new}
    return Edits(nodes=put, text_hashes=hashes), after


def _embed_new(memory: AgentMemory, new: Mapping[str, Entity], stored: Mapping[str, KnowledgeNode]) -> Embeddings:
    """Return the embeddings of those of the entities whose text differs from that of their stored node."""

    def changed() -> Iterator[Entity]:
        for id_, entity in new.items():
            node = stored.get(id_)
            after = merged(Entity.of(node), entity) if node else entity
            if node is None or node.embedding is None or Entity.of(node).text != after.text:
                yield after

    return embed(memory, changed())


def embed(memory: AgentMemory, entities: Iterable[Entity]) -> Embeddings:
    """Return the embeddings of entities of the types that are embedded; texts that the graph knows aren't encoded."""
    types = memory.settings.embedded_types
    texts = {entity.id: entity.text for entity in entities if entity.type in types and _is_told(entity)}
    return memory.graph(create=True).embed(texts) if texts else NO_EMBEDDINGS


def _is_told(entity: Entity) -> bool:
    """Return whether more than its name is known of code: the summary of a file, the documentation of a definition.

    Definitions without documentation are most, and found by the words of their names and in the summaries of files.
    """
    if entity.type == "file":
        return bool(entity.metadata.get(TEXT))
    return bool(entity.description) or entity.type not in DEFINITIONS


def known_entities(memory: AgentMemory, *, shared: bool = True) -> list[Entity]:
    """Return all entities with their names and aliases, and nothing else of them; none if nothing is stored yet.

    Without ``shared``, concepts of which no more is known than that texts share their names are left out. They are read
    again after a change of the graph.
    """

    def read() -> list[tuple[Entity, bool]]:
        rows = memory.rows("memory_entity_names", label=memory.label)
        return [
            (Entity(row["name"], row["type"], row["scope"], aliases=tuple(row["aliases"])), row["own"]) for row in rows
        ]

    known = memory.cached("known entities", read) if memory.exists() else []
    return [entity for entity, own in known if own or shared]


def gazetteer(memory: AgentMemory, scope: str | None = None, *, shared: bool = True) -> Gazetteer:
    """Return the names that a text of a scope may mention; see :func:`known_entities`."""
    key = ("gazetteer", scope, shared)
    return memory.cached(key, lambda: gazetteer_of(known_entities(memory, shared=shared), scope))


def gazetteer_of(entities: Iterable[Entity], scope: str | None) -> Gazetteer:
    """Return the names of entities. An entity of the scope hides its namesakes of the same type in others."""
    entities = list(entities)
    own = {(entity.type, entity.name) for entity in entities if entity.scope == scope}
    return Gazetteer(entity for entity in entities if entity.scope == scope or (entity.type, entity.name) not in own)


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
    dropped: Iterable[str] = (),
) -> Mentioned:
    """Write the nodes of memories and what they mention, in one edit; return what is new, except concepts.

    ``mentioned`` has entities by the id of a memory's node, ``shared`` concepts, by names that memories have in common;
    their mentions are kept apart. An entity counts a mention for each memory once. ``complete`` are the nodes all of
    whose mentions are passed: others are removed, as after a change of the text. Mentions of ``dropped`` concepts by
    names in common are removed, with the concepts of which nothing else is known.
    """
    wanted, whole, lost = {node.id: node for node in nodes}, frozenset(complete), frozenset(dropped)
    entities = together(chain.from_iterable((*mentioned.values(), *shared.values())))
    memory.schema.check([entity.to_node() for entity in entities.values()], ())
    graph = memory.graph(create=True)
    stored = {node.id: node for node in graph.get_nodes([*entities, *whole])}
    embeddings = _embed_new(memory, entities, stored)
    named, in_common = _pairs(mentioned), _pairs(shared)

    def decide(nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, Mentioned]:
        known = {(edge.source, edge.target): edge for edge in edges if edge.type == MENTIONS}
        is_shared = {pair: bool(edge.properties.get("shared")) for pair, edge in known.items()}
        pairs = named | {pair for pair in in_common if pair[0] in nodes or pair[0] in wanted}
        new = pairs - known.keys()
        gone = {
            pair
            for pair in known.keys() - named
            if (is_shared[pair] and pair[1] in lost) or (pair[0] in whole and pair not in pairs)
        }
        moved = {  # the text names by itself what it had in common with others, or no more
            pair
            for pair in pairs & known.keys()
            if (pair in named and is_shared[pair]) or (pair not in named and pair[0] in whole and not is_shared[pair])
        }
        counts = Counter(target for _, target in new)
        counts.subtract(target for _, target in gone)
        after = {id_: replace(entity, mention_count=counts[id_]) for id_, entity in entities.items()}
        for id_, count in counts.items():
            if id_ not in after and id_ in nodes:
                after[id_] = replace(bare(Entity.of(nodes[id_])), mention_count=count)
        changed = {id_: entity for id_, entity in after.items() if _changes(entity, nodes.get(id_))}
        fresh = [
            node
            for id_, node in wanted.items()
            if (old := nodes.get(id_)) is None or (old.properties, old.valid_at) != (node.properties, node.valid_at)
        ]
        held = {end for edge in edges if (edge.source, edge.target) not in gone for end in (edge.source, edge.target)}
        empty = (lost & nodes.keys()) - held
        edits, _ = _edits_of(nodes, {id_: entity for id_, entity in changed.items() if id_ not in empty}, embeddings)
        edits = replace(
            edits,
            nodes=[*edits.nodes, *fresh],
            edges=[
                KnowledgeEdge(*pair, MENTIONS, properties={} if pair in named else {"shared": True})
                for pair in sorted(new | moved)
            ],
            removed_nodes=sorted(empty),
            removed_edges=[known[pair].id for pair in sorted(gone)],
        )
        return edits, Mentioned(
            len(named - known.keys()),
            sum(node.id not in nodes for node in fresh),
            len((changed.keys() & entities.keys()) - nodes.keys()),
        )

    before = memory.mentioned_by([id_ for id_ in whole if id_ in stored])
    sources = {*wanted, *mentioned, *shared, *whole, *lost}
    return graph.edit(
        [*sources, *entities, *before],
        decide,
        node_types={MEMORY, *(entity.type for entity in entities.values())},
        edge_types=[MENTIONS],
        reads=EdgesRead.TOUCHING,
        around=sources,
    )


def _pairs(mentioned: Mapping[str, Sequence[Entity]]) -> set[tuple[str, str]]:
    return {(source, entity.id) for source, entities in mentioned.items() for entity in entities}


def _changes(entity: Entity, stored: KnowledgeNode | None) -> bool:
    """Return whether merging an entity changes the stored one."""
    return stored is None or merged(known := Entity.of(stored), entity) != known


def mention_in_texts(memory: AgentMemory, entities: Sequence[Entity]) -> int:
    """Find new entities in the texts that are stored already, and write these mentions; return their number."""
    if not entities or not memory.has_texts():
        return 0
    memory = memory.opened()  # the entities were written since the last look
    mentioned = texts_with(memory, entities, gazetteer(memory, shared=False))
    return write_mentions(memory, (), mentioned).mentions if mentioned else 0


def texts_with(memory: AgentMemory, entities: Sequence[Entity], known: Gazetteer) -> dict[str, list[Entity]]:
    """Return which of the entities the stored texts mention, by ``known`` names, by the id of a memory's node."""
    wanted = {entity.key for entity in entities}
    if not wanted:
        return {}
    nodes = {EntityKey.of(id_).name: id_ for id_ in memory.texts_after("")}
    mentioned: dict[str, dict[EntityKey, Entity]] = defaultdict(dict)
    for document, text in _candidates(memory, entities):
        for mention in known.mentions(text) if document in nodes else ():
            if mention.entity in wanted:
                mentioned[nodes[document]][mention.entity] = bare(known[mention.entity])
    return {node_id: list(named.values()) for node_id, named in mentioned.items()}


def _candidates(memory: AgentMemory, entities: Sequence[Entity]) -> Iterator[tuple[str, str]]:
    """Yield passages that may hold a name of the entities, each with the key of its document."""
    if len(entities) > _FEW:
        for row in open_corpus(memory.hoprank.client, memory.name).stream("chunk_texts"):
            yield row["document"], row["text"]
        return
    for name in dict.fromkeys(name for entity in entities for name in (entity.name, *entity.aliases) if name.strip()):
        for hit in memory.hoprank.search(name, None, _TEXTS, corpus=memory.name, leg=Leg.FULLTEXT).hits:
            yield hit.document, hit.text
