"""Names of corpora and graphs that a shell completes."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from pipeline import HopRank, KnowledgeGraph, KnowledgeNode
from pipeline.cli.app import app
from tests.cli.test_help import parameters


def completed(words: str, environment: Mapping[str, str]) -> list[str]:
    asked = {"_HOPRANK_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": f"{len(words.split()) - 1}"}
    result = CliRunner().invoke(app, prog_name="hoprank", env={**environment, **asked})
    assert result.stderr == ""
    return result.stdout.split()


@pytest.mark.parametrize(
    "words", ["hoprank search x --corpus {}", "hoprank corpus stats {}", "hoprank vault index --vault {}"]
)
def test_names_of_corpora_are_completed(library: str, server_environment: dict[str, str], words: str) -> None:
    assert completed(words.format(library[:-3]), server_environment) == [library]


def test_names_of_graphs_are_completed(hoprank: HopRank, server_environment: dict[str, str]) -> None:
    graph = KnowledgeGraph(name := f"test-{uuid.uuid4().hex[:12]}", client=hoprank.client)
    graph.add_nodes([KnowledgeNode("a", "concept")])
    try:
        assert completed(f"hoprank graph drop {name[:-2]}", server_environment) == [name]
        assert completed(f"hoprank corpus drop {name[:-2]}", server_environment) == []
    finally:
        graph.drop()


def test_without_a_server_nothing_is_completed_started_or_said(tmp_path: Path) -> None:
    home, nowhere = {"HOPRANK_HOME": str(tmp_path / "home"), "NEO4J_URI": ""}, {"NEO4J_URI": "bolt://127.0.0.1:1"}
    bare = {name: "" for name in os.environ if name.startswith(("HOPRANK_", "NEO4J_"))}

    for environment in (home, nowhere, {**home, "HOPRANK_SERV__TOKEN": "x"}, {"NEO4J_URI": "no address"}):
        assert completed("hoprank search x --corpus a", {**bare, **environment}) == []
    assert list(tmp_path.iterdir()) == []


def test_every_name_of_a_corpus_or_graph_is_completed() -> None:
    about = {"The corpus.", "The graph.", "A graph.", "The corpora.", "The vault.", "The memory.", "A corpus instead."}
    named = [(path, one) for path, one in parameters(typer.main.get_group(app).commands) if one.help in about]

    assert len(named) > 20
    assert [(path, one.name) for path, one in named if one._custom_shell_complete is None] == []
