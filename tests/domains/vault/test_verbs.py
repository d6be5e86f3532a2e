"""The verbs for servers."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from pipeline import HopRank
from pipeline.domains.vault.api import Vault
from pipeline.domains.vault.maps import drop_vault
from tests.domains.verbs import asked

NOTES = {
    "bees.md": "---\ndescription: How bees winter.\n---\n# Bees\n\nBees winter in a cluster. See [[Hives]].\n",
    "hives.md": "---\ndescription: Hives are insulated.\n---\n# Hives\n\nHives keep bees warm in winter.\n",
    "bread.md": "---\ndescription: Bread is baked.\n---\n# Bread\n\nBread needs flour and yeast.\n",
}


@pytest.fixture
def name(hoprank: HopRank, write: Callable[[Mapping[str, str | bytes]], Path]) -> Iterator[str]:
    """The name of a vault of three notes."""
    made = f"vault-{uuid.uuid4().hex[:12]}"
    Vault(hoprank, made).sync(write(dict(NOTES)))
    yield made
    drop_vault(hoprank, made)


@pytest.mark.slow
def test_notes_are_found_by_message_by_meaning_and_by_links(hoprank: HopRank, name: str) -> None:
    knowledge = asked(hoprank, "vault", "context", message="How do bees survive the winter?", vault=name)
    related = asked(hoprank, "vault", "related", note="Bees", top_k=1, vault=name)["notes"]
    backlinks = asked(hoprank, "vault", "links", note="Hives", direction="in", vault=name)

    assert "cluster" in knowledge["text"]
    assert [note["key"] for note in related] == ["hives.md"]
    assert [node["key"] for node in backlinks["nodes"]] == ["bees.md"]
