"""The hybrid pattern: memories on a topic, the entities that they mention, and what these relate to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.patterns import Related, facts_of
from pipeline.domains.memory.recall.texts import filters_of
from pipeline.domains.memory.records import NOW, Entity, EntityKey, When
from pipeline.domains.memory.schema import MEMORY, MENTIONS
from pipeline.knowledge import Direction
from pipeline.records import Hit
from pipeline.retrieve.legs import Leg


@dataclass(frozen=True, slots=True)
class Topic:
    """Memories on a topic, best first; the entities that they mention, those that most of them mention first."""

    memories: tuple[Hit, ...]
    entities: tuple[Entity, ...]
    facts: tuple[Related, ...]


def hybrid(
    memory: AgentMemory, topic: str, top_k: int = 5, when: When = NOW, *, scope: str | None = None, limit: int = 20
) -> Topic:
    """Return the memories that match a topic by words, the entities that they mention, and the facts of these."""
    memory = memory.opened()
    memory.graph()
    if not memory.has_texts():
        return Topic((), (), ())
    filters = filters_of(memory, when, scope, None)
    hits = memory.hoprank.search(topic, None, top_k, filters, corpus=memory.name, leg=Leg.FULLTEXT).hits
    entities = _mentioned(memory, hits, when)[:limit]
    facts = facts_of(memory, [entity.id for entity in entities], when, direction=Direction.OUT, limit=limit)
    return Topic(tuple(hits), tuple(entities), tuple(related for _, related in facts))


def _mentioned(memory: AgentMemory, hits: Sequence[Hit], when: When) -> list[Entity]:
    ids = [
        EntityKey(str(hit.document_metadata.get("scope", memory.settings.scope)), MEMORY, hit.document).id
        for hit in hits
    ]
    rows = memory.read("memory_mentioned_at", when, ids=dict.fromkeys(ids), type=MENTIONS)
    nodes = memory.graph_at(when).get_nodes([row["entity"] for row in rows])
    return [Entity.of(node) for node in nodes]
