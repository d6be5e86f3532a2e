"""Entities: written by name and type, so that each is there once, however often it is met."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pipeline.domains.memory.dedupe.apply import merges
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity, EntityKey
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import EdgesRead, Edits
from pipeline.knowledge.embed import NO_EMBEDDINGS, Embeddings


def merged(known: Entity, met: Entity) -> Entity:
    """Return an entity that is met again: mentions add up, the longer description wins, metadata is merged."""
    longer = len(met.description) > len(known.description)
    return replace(
        known,
        description=met.description if longer else known.description,
        aliases=tuple(dict.fromkeys((*known.aliases, *met.aliases))),
        mention_count=known.mention_count + met.mention_count,
        confidence=max(known.confidence, met.confidence),
        metadata={**known.metadata, **met.metadata},
    )


def bare(entity: Entity) -> Entity:
    """Return an entity of which nothing new is said, not even that it is mentioned."""
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

    What is met under such a name is the survivor, not a new entity.
    """
    journal = memory.journal()
    if journal is None:
        return {}
    into = {
        loser: group.survivor for merge in reversed(merges(journal)) for group in merge.groups for loser in group.losers
    }
    return {loser: _last(into, loser) for loser in into}


def surviving(entity: Entity, into: Mapping[str, str]) -> Entity:
    """Return an entity under the name of its survivor, with its own name as an alias; itself if it wasn't merged."""
    if entity.id not in into:
        return entity
    key = EntityKey.of(into[entity.id])
    aliases = tuple(dict.fromkeys((entity.name, *entity.aliases)))
    return replace(entity, name=key.name, type=key.type, scope=key.scope, aliases=aliases)


def _last(into: Mapping[str, str], id_: str) -> str:
    seen = {id_}
    while (after := into.get(id_)) is not None and after not in seen:
        id_ = after
        seen.add(id_)
    return id_


def upsert(memory: AgentMemory, entities: Iterable[Entity]) -> list[Entity]:
    """Write entities, by scope, type and name; return them as they are then, in order of id.

    An entity that is there already is met again (:func:`merged`). Types of the setting ``embedded_types`` are embedded.
    Raises GraphError if a type isn't declared; then nothing is written.
    """
    memory = memory.opened(create=True)
    into = survivors(memory)
    met = together(surviving(entity, into) for entity in entities)
    memory.schema.check([entity.to_node() for entity in met.values()], ())
    if not met:
        return []
    graph = memory.graph()
    embeddings = embed_met(memory, met, {node.id: node for node in graph.get_nodes(list(met))})

    def decide(nodes: Mapping[str, KnowledgeNode], _: Sequence[KnowledgeEdge]) -> tuple[Edits, list[Entity]]:
        return entity_edits(nodes, met, embeddings)

    written = graph.edit(met, decide, node_types={entity.type for entity in met.values()}, reads=EdgesRead.NONE)
    return sorted(written, key=lambda entity: entity.id)


def entity_edits(
    nodes: Mapping[str, KnowledgeNode], met: Mapping[str, Entity], embeddings: Embeddings
) -> tuple[Edits, list[Entity]]:
    """Return the edits that write entities over the stored ``nodes``, and the entities as they are then."""
    time = now()
    put, after = [], []
    for id_, entity in met.items():
        node = nodes.get(id_)
        entity = replace(merged(Entity.of(node), entity), updated_at=time) if node else entity
        vector = embeddings.vectors.get(id_) or (node.embedding if node else None)
        put.append(entity.to_node(vector))
        after.append(entity)
    hashes = {id_: hash_ for id_, hash_ in embeddings.hashes.items() if id_ in met}
    return Edits(nodes=put, text_hashes=hashes), after


def embed_met(memory: AgentMemory, met: Mapping[str, Entity], stored: Mapping[str, KnowledgeNode]) -> Embeddings:
    """Return the embeddings of those of the entities whose text is new beside the ``stored`` nodes."""
    after = {id_: merged(Entity.of(stored[id_]), entity) if id_ in stored else entity for id_, entity in met.items()}
    return embed(memory, (entity for id_, entity in after.items() if not _is_embedded(stored.get(id_), entity)))


def _is_embedded(node: KnowledgeNode | None, entity: Entity) -> bool:
    return node is not None and node.embedding is not None and Entity.of(node).text == entity.text


def embed(memory: AgentMemory, entities: Iterable[Entity]) -> Embeddings:
    """Return the embeddings of entities of the types that are embedded; texts that the graph knows aren't encoded."""
    texts = {entity.id: entity.text for entity in entities if entity.type in memory.settings.embedded_types}
    return memory.graph(create=True).embed(texts) if texts else NO_EMBEDDINGS
