"""The entities that a memory knows by name, as texts are read with them."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity
from pipeline.domains.memory.remember.mentions import Gazetteer


def known_entities(memory: AgentMemory) -> list[Entity]:
    """Return all entities with their names and aliases, and nothing else of them; none if nothing is stored yet.

    They are read again after a change of the graph.
    """
    return memory.cached("known entities", lambda: _read(memory)) if memory.exists() else []


def gazetteer(memory: AgentMemory, scope: str | None = None) -> Gazetteer:
    """Return the names that a text of a scope may mention; they are read again after a change of the graph."""
    return memory.cached(("gazetteer", scope), lambda: gazetteer_of(known_entities(memory), scope))


def gazetteer_of(entities: Iterable[Entity], scope: str | None) -> Gazetteer:
    """Return the names of entities. An entity of the scope hides its namesakes of the same type in others."""
    entities = list(entities)
    own = {(entity.type, entity.name) for entity in entities if entity.scope == scope}
    return Gazetteer(entity for entity in entities if entity.scope == scope or (entity.type, entity.name) not in own)


def _read(memory: AgentMemory) -> list[Entity]:
    rows = memory.rows("memory_entity_names", label=memory.label)
    return [Entity(row["name"], row["type"], row["scope"], aliases=tuple(row["aliases"])) for row in rows]
