"""Verbs of the domain for servers: recall memories, and the history of an entity's facts."""

from typing import Annotated, Any

from pydantic import Field

from pipeline.api import HopRank
from pipeline.domains.memory.api import Memory
from pipeline.json_values import plain
from pipeline.registry import Verb

Name = Annotated[str, Field(description="Name of the memory.")]
Scope = Annotated[str | None, Field(description="Only memories and entities of this scope, such as a project.")]


def recall(
    hoprank: HopRank,
    question: Annotated[str, Field(min_length=1, max_length=10_000, description="What to remember.")],
    top_k: Annotated[int, Field(ge=1, le=100, description="Number of memories and entities.")] = 10,
    as_of: Annotated[
        str | None, Field(description="What held at this time of the world, ISO 8601; now by default.")
    ] = None,
    known_at: Annotated[str | None, Field(description="As far as it was known at this time, ISO 8601.")] = None,
    scope: Scope = None,
    memory: Name = "memory",
) -> dict[str, Any]:
    """Return the memories and entities that answer a question best."""
    opened = hoprank.kept(Memory, memory)
    found: dict[str, Any] = plain(opened.search(question, top_k, as_of=as_of, known_at=known_at, scope=scope))
    return found


def history(
    hoprank: HopRank,
    entity: Annotated[str, Field(min_length=1, description="Name, alias or id of an entity.")],
    relation: Annotated[str | None, Field(description="Only facts of this type.")] = None,
    scope: Scope = None,
    memory: Name = "memory",
) -> dict[str, Any]:
    """Return every version of the facts of an entity."""
    return {"facts": plain(hoprank.kept(Memory, memory).history(entity, relation, scope=scope))}


VERBS = (
    Verb("recall", recall, "Recall the memories and entities that answer a question, now or as of an earlier time."),
    Verb("history", history, "List every version of the facts of an entity: when each held, and when it was known."),
)
