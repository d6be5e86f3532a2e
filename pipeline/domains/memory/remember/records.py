"""Records of reading: what a file holds, and what is extracted from its memories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from pipeline.domains.memory.records import Entity, EntityKey, Fact, Memory
from pipeline.records import Skipped


@dataclass(frozen=True, slots=True)
class Given:
    """Entities and facts that a file gives with a memory, as values of JSON; ``where`` is the memory's position."""

    memory: Memory
    where: str
    entities: Any = None
    facts: Any = None


@dataclass(frozen=True, slots=True)
class Read:
    """Memories of a file in its order, the entities and facts given with them, and what was left out and why."""

    memories: tuple[Memory, ...] = ()
    given: tuple[Given, ...] = ()
    skipped: tuple[Skipped, ...] = ()


class Mention(NamedTuple):
    """A name of ``entity`` at ``text[start:end]`` of a memory's text."""

    entity: EntityKey
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Extracted:
    """Entities and facts of a memory. The memory mentions all of the entities.

    Facts lead between these entities and such as are known already.
    """

    entities: tuple[Entity, ...] = ()
    facts: tuple[Fact, ...] = ()
