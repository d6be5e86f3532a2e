"""Options that several commands of a memory share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from typer import Argument, Option

from pipeline.cli import completion
from pipeline.cli.options import Run
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
