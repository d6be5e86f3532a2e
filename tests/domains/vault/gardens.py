"""A garden of notes that tests of the vault write to and walk through, and an apiary of notes that messages ask of."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

import yaml

from pipeline import HopRank
from pipeline.domains.vault.api import Vault, VaultSync
from pipeline.domains.vault.note import Scope
from pipeline.domains.vault.requests import Traversal

GARDEN, APIARY = Path(__file__).parent / "garden", Path(__file__).parent / "apiary"
NOTES = {path.relative_to(APIARY).as_posix(): path.read_text(encoding="utf-8") for path in sorted(APIARY.rglob("*.md"))}
_SAID = yaml.safe_load((APIARY.parent / "messages.yaml").read_text(encoding="utf-8"))
MESSAGES: dict[str, list[str]] = _SAID["answered"]
OFF_TOPIC: list[str] = _SAID["off_topic"]
ALICE, MALLORY = Scope("alice"), Scope("mallory")


class Garden:
    """A copy of the garden, synced as alice's; a note of mallory's is in it, and links to and from alice's."""

    def __init__(self, hoprank: HopRank, folder: Path) -> None:
        self.hoprank, self.folder = hoprank, folder
        self.name = f"h2-{uuid.uuid4().hex[:12]}"
        shutil.copytree(GARDEN, folder, dirs_exist_ok=True)
        self.write("Poison.md", "---\nuser: mallory\ndescription: Secret.\n---\nPoison the [[Tomatoes]].\n")
        self.write("Shed.md", "The shed holds [[Poison]], and a plan for the [[Greenhouse]].\n")
        self.sync()

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text, encoding="utf-8")

    def text(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    def sync(self) -> VaultSync:
        return self.vault().sync(self.folder)

    def vault(self, scope: Scope = ALICE) -> Vault:
        return Vault(self.hoprank, self.name, *scope)

    def links(self, key: str, scope: Scope = ALICE) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """The notes that a note links to, with the types and sentences of the links."""
        links = self.vault(scope).graph().outgoing.get(key, ())
        return {link.target: (link.relations, link.contexts) for link in links}


def walked(page: Traversal) -> list[tuple[str, int]]:
    return [(node.key, node.distance) for node in page.nodes]
