"""Entities, each written once by scope, type and name."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pipeline.domains.memory.dedupe.apply import merges
from pipeline.domains.memory.extract.gazetteer import Gazetteer
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import TEXT, Entity, EntityKey
from pipeline.domains.memory.schema import DEFINITIONS
from pipeline.knowledge import KnowledgeGraph, KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import EdgesRead, Edits
from pipeline.knowledge.sync import NO_EMBEDDINGS, Embeddings


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


def met_again(stored: KnowledgeNode | None, entity: Entity) -> Entity:
    """Return an entity merged with its stored node; as it is without one, or if that has expired."""
    return entity if stored is None or stored.expired_at else merged(Entity.of(stored), entity)


def bare(entity: Entity | EntityKey) -> Entity:
    """Return a placeholder with the entity's key only; merging it changes nothing."""
    return Entity(entity.name, entity.type, entity.scope, mention_count=0, confidence=0.0)


def together(entities: Iterable[Entity]) -> dict[str, Entity]:
    """Return entities by id, those of one id merged."""
    by_id: dict[str, Entity] = {}
    for entity in entities:
        known = by_id.get(entity.id)
        by_id[entity.id] = merged(known, entity) if known else entity
    return by_id


def survivors(memory: AgentMemory) -> Mapping[str, str]:
    """Return the ids of entities that were merged into others, each with that of its survivor.

    A text that mentions such a name mentions the survivor, not a new entity.
    """
    return memory.of_merges(_survivors) or {}


def _survivors(journal: KnowledgeGraph) -> dict[str, str]:
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
    embeddings = embed_new(memory, new, {node.id: node for node in graph.get_nodes(list(new))})
    written = graph.edit(
        new,
        lambda nodes, _: entity_edits(nodes, new, embeddings),
        node_types={entity.type for entity in new.values()},
        reads=EdgesRead.NONE,
    )
    return sorted(written, key=lambda entity: entity.id)


def entity_edits(
    stored: Mapping[str, KnowledgeNode], new: Mapping[str, Entity], embeddings: Embeddings
) -> tuple[Edits, list[Entity]]:
    """Return the edits that write entities over the stored nodes, and the entities as they will be stored."""
    time = now()
    put, after = [], []
    for id_, entity in new.items():
        node = stored.get(id_)
        if node is not None:
            entity = replace(met_again(node, entity), created_at=node.created_at, updated_at=time)
        put.append(entity.to_node(embeddings.vectors.get(id_) or (node.embedding if node else None)))
        after.append(entity)
    hashes = {id_: hash_ for id_, hash_ in embeddings.hashes.items() if id_ in new}
    return Edits(nodes=put, text_hashes=hashes), after


def embed_new(memory: AgentMemory, new: Mapping[str, Entity], stored: Mapping[str, KnowledgeNode]) -> Embeddings:
    """Return the embeddings of those of the entities whose text differs from that of their stored node."""

    def changed() -> Iterator[Entity]:
        for id_, entity in new.items():
            node = stored.get(id_)
            after = met_again(node, entity)
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


def gazetteer(memory: AgentMemory, scope: str | None = None) -> Gazetteer:
    """Return the names that a text of a scope may mention; see :func:`known_entities`."""
    return memory.cached(("gazetteer", scope), lambda: gazetteer_of(known_entities(memory), scope))


def gazetteer_of(entities: Iterable[Entity], scope: str | None) -> Gazetteer:
    """Return the names of entities. An entity of the scope hides its namesakes of the same type in others."""
    entities = list(entities)
    own = {(entity.type, entity.name) for entity in entities if entity.scope == scope}
    return Gazetteer(entity for entity in entities if entity.scope == scope or (entity.type, entity.name) not in own)
