"""The entities that a memory knows by name, as texts are read with them."""

from __future__ import annotations

from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity
from pipeline.domains.memory.remember.mentions import Gazetteer


def known_entities(memory: AgentMemory) -> list[Entity]:
    """Return all entities with their names and aliases, and nothing else of them; none if nothing is stored yet."""
    if not memory.exists():
        return []
    rows = memory.rows("memory_entity_names", label=memory.label)
    return [Entity(row["name"], row["type"], row["scope"], aliases=tuple(row["aliases"])) for row in rows]


def gazetteer(memory: AgentMemory) -> Gazetteer:
    """Return the names that a question may mention; they are read again after a change of the graph."""
    return memory.cached("gazetteer", lambda: Gazetteer(known_entities(memory)))
