"""Options that several commands of a vault share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

import pipeline
from pipeline.cli import completion
from pipeline.domains.vault import deferred as domain

Folder = Annotated[Path, Argument(metavar="DIR", help="The folder of the vault.")]
Vault = Annotated[
    str, Option("--vault", metavar="NAME", help="The vault: a corpus of that name.", autocompletion=completion.corpora)
]
Include = Annotated[
    list[str] | None, Option("--include", metavar="PATTERN", help="Only notes at this path or pattern; repeatable.")
]
Exclude = Annotated[
    list[str] | None, Option("--exclude", metavar="PATTERN", help="No notes at this path or pattern; repeatable.")
]
User = Annotated[str, Option("--user", help="The user whose notes these are.")]
Skill = Annotated[str, Option("--skill", help="The skill whose notes these are.")]
Agent = Annotated[str, Option("--agent", help="The agent whose notes these are.")]


@dataclass(frozen=True)
class Notes:
    """Options that choose notes: those of a vault, of a user, of a skill, of an agent."""

    vault: Vault = "vault"
    user: User = ""
    skill: Skill = ""
    agent: Agent = ""

    def open(self, hoprank: pipeline.HopRank) -> domain.api.Vault:
        """Return the vault, limited to these notes."""
        return domain.api.Vault(hoprank, self.vault, self.user, self.skill, self.agent)


Whose = Annotated[Notes, "user", "skill", "agent"]
