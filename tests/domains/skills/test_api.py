"""The face of skill graphs: its methods, and the code on the page of Python."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank, KnowledgeGraph, Skills
from tests.domains.python_page import run_section
from tests.domains.skills.conftest import COLLECTION, Write


@pytest.mark.slow
def test_the_code_of_the_page_runs(
    hoprank: HopRank, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(write(COLLECTION), tmp_path / "skills")
    monkeypatch.chdir(tmp_path)
    name = f"skills-{uuid.uuid4().hex[:12]}"

    named: Any = run_section("Skills", hoprank=hoprank, Skills=lambda hoprank, _: Skills(hoprank, name))

    hoprank.graph(name).drop()
    assert named["built"].skills == 7
    assert named["found"][0].node.id in ("chroma", "pinecone")
    assert named["related"][0].node.id == "pinecone"
    assert [skill.id for skill in named["order"]] == ["security", "code-review", "api-design"]


def test_a_skill_is_shown_listed_and_joined(hoprank: HopRank, collection: KnowledgeGraph) -> None:
    skills = Skills(hoprank, collection.name)

    shown, edges = skills.show("Chroma")
    assert shown.id == "chroma"
    assert {"requires", "mentions"} <= {edge.type for edge in edges}
    assert [skill.id for skill in skills.list("review")] == ["code-review"]
    assert [need.id for need, _ in skills.requires("api-design").skills] == ["code-review", "security"]
    nodes, steps = skills.path("chroma", "pinecone")
    assert [node.id for node in nodes] == ["chroma", "pinecone"]
    assert len(steps) == 1
