"""Options that several commands of a memory share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from typer import Argument, Option

from pipeline.cli import completion
from pipeline.cli.options import AsOf, KnownAt, Run
from pipeline.domains.memory import deferred as domain

Name = Annotated[str, Option("--memory", "-m", metavar="NAME", help="The memory.", autocompletion=completion.corpora)]
Entity = Annotated[str, Argument(metavar="ENTITY", help="The name, an alias or the id of an entity.")]
EntityType = Annotated[str | None, Option("--entity-type", metavar="TYPE", help="If several entities have the name.")]
Scope = Annotated[str | None, Option("--scope", metavar="NAME", help="Only this scope, such as a repository.")]
NewScope = Annotated[str | None, Option("--scope", metavar="NAME", help="The scope that it belongs to.")]


@dataclass(frozen=True)
class Ask(Run):
    """Options that choose a memory and a scope in it, with those of all commands."""

    scope: Scope = None
    name: Name = "memory"

    @contextmanager
    def opened(self) -> Iterator[domain.api.Memory]:
        """Connect, and yield the memory."""
        with self.connect() as hoprank:
            yield domain.api.Memory(hoprank, self.name)


Reading = Annotated[Ask, "name", "as_json", "settings"]
Embedding = Annotated[Ask, "name", "as_json", "model", "settings"]
Scoped = Annotated[Ask, "scope", "name", "as_json", "settings"]


@dataclass(frozen=True)
class Where:
    """Options that choose entities and facts: by type, by scope, and by time."""

    entity_type: EntityType = None
    scope: Scope = None
    as_of: AsOf = None
    known_at: KnownAt = None

    @property
    def then(self) -> str:
        """Words for the time in a sentence: " then"; "" for the present."""
        return " then" if self.as_of or self.known_at else ""

    def when(self, memory: domain.memory.AgentMemory) -> domain.records.When:
        """Return the time; raises InputError if it is malformed."""
        return domain.times.when(self.as_of, self.known_at, memory.zone)

    def find(self, memory: domain.memory.AgentMemory, name: str) -> tuple[domain.records.Entity, domain.records.When]:
        """Return the entity of a name, and the time; raises GraphError if there is none or several."""
        when = self.when(memory)
        return memory.resolve(name, type_=self.entity_type, scope=self.scope, when=when), when
