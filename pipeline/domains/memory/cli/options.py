"""Options that several commands of a memory share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli import options as shared
from pipeline.cli.connection import connected
from pipeline.domains.memory import deferred as domain

if TYPE_CHECKING:
    from pipeline.domains.memory.api import Memory
    from pipeline.domains.memory.memory import AgentMemory
    from pipeline.domains.memory.records import When

Name = Annotated[str, typer.Option("--memory", "-m", metavar="NAME", help="The memory.")]
Entity = Annotated[str, typer.Argument(metavar="ENTITY", help="The name, an alias or the id of an entity.")]
EntityType = Annotated[
    str | None,
    typer.Option("--entity-type", metavar="TYPE", help="If several entities have the name."),
]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", "-t", metavar="TYPE", help="Only relations of this type; repeatable.", show_default="all"),
]
Scope = Annotated[
    str | None,
    typer.Option("--scope", metavar="NAME", help="Only this scope, such as a repository."),
]
NewScope = Annotated[str | None, typer.Option("--scope", metavar="NAME", help="The scope that it belongs to.")]
AsOf = shared.AsOf
KnownAt = shared.KnownAt
Limit = shared.Limit
Depth = Annotated[int, typer.Option("--depth", min=1, max=3, help="How many facts away.")]


@contextmanager
def opened(name: str, settings: list[str] | None, model: str | None = None) -> Iterator[Memory]:
    """Connect, and yield the memory of that name."""
    with connected(shared.read_settings(model, settings)) as hoprank:
        yield domain.api.Memory(hoprank, name)


def when_of(memory: AgentMemory, as_of: str | None, known_at: str | None) -> When:
    """Return the time of a question; raises InputError if a time is none."""
    return domain.times.when(as_of, known_at, memory.zone)
