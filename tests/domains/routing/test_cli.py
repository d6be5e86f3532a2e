"""``hoprank route``, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pipeline import HopRank, Projects
from pipeline.cli.app import app
from pipeline.db.catalogue import find_corpus, find_graph

REGISTRY = """
projects:
  patina: {path: patina, domains: [rust], corpus: patina-NAME, importance: 4}
references:
  dojo: {path: dojo, corpus: dojo-NAME}
  SDL: {}
relations:
  - {from: dojo, type: USES, to: SDL, weight: 0.5}
"""


@pytest.fixture
def registry(graph_name: str, tmp_path: Path) -> Path:
    """A registry with the files of one of its projects; the other's path doesn't exist."""
    path = tmp_path / "registry.yaml"
    path.write_text(REGISTRY.replace("NAME", graph_name), encoding="utf-8")
    (tmp_path / "patina").mkdir()
    (tmp_path / "patina" / "README.md").write_text("Patina gives context to coding agents.", encoding="utf-8")
    return path


@pytest.fixture
def filled(registry: Path, graph_name: str) -> str:
    """The name of a graph that was synced by the command."""
    assert "added" in run("sync", str(registry), graph=graph_name).stdout
    return graph_name


def run(*arguments: str, graph: str = "", code: int = 0) -> Result:
    given = ["route", *arguments, *(["--graph", graph] if graph else [])]
    result = CliRunner().invoke(app, given, env={"COLUMNS": "100"})
    assert result.exit_code == code, result.output
    return result


def loaded(*arguments: str, graph: str = "", code: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", graph=graph, code=code).stdout)


def test_a_registry_is_synced_planned_and_found_unchanged(registry: Path, graph_name: str, hoprank: HopRank) -> None:
    planned = loaded("sync", str(registry), "--dry-run", graph=graph_name)
    assert planned["added"] == ["SDL", "dojo", "patina"]
    assert find_graph(hoprank.client, graph_name) is None
    assert "nothing was changed" in run("sync", str(registry), "--dry-run", graph=graph_name).stdout

    first = run("sync", str(registry), graph=graph_name)
    again = run("sync", str(registry), graph=graph_name)

    assert "patina DOMAIN domain:rust" in first.stdout
    assert "nothing was changed" not in first.stdout
    assert "dojo doesn't exist" in " ".join(first.stderr.split())
    assert "it equals the registry" in again.stdout
    assert not any(loaded("sync", str(registry), graph=graph_name)[name] for name in ("added", "changed", "removed"))


def test_relations_are_linked_and_unlinked(filled: str, hoprank: HopRank) -> None:
    projects = Projects(hoprank, filled)
    linked = loaded("link", "patina", "uses", "dojo", "--evidence", "worlds", "--weight", "0.8", graph=filled)
    assert (linked["type"], linked["weight"], linked["evidence"]) == ("uses", 0.8, "worlds")
    assert "weight 0.80" in run("link", "patina", "Uses", "dojo", graph=filled).stdout
    assert loaded("link", "patina", "USES", "dojo", "--weight", "0.6", graph=filled)["evidence"] == "worlds"

    assert [(other.id, relation.weight) for other, relation in projects.related("patina")] == [("dojo", 0.6)]
    assert "Removed patina USES dojo" in run("unlink", "patina", "USES", "dojo", graph=filled).stdout
    assert projects.related("patina") == []


def test_a_project_is_that_of_the_working_directory(
    filled: str, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(registry.parent / "patina")

    linked = run("link", ".", "uses", "dojo", graph=filled).stdout
    assert linked.startswith("From patina, whose path holds the working directory.\n")
    assert loaded("link", ".", "uses", "dojo", graph=filled)["source"] == "patina"
    (learned,) = loaded("used", "x", "--project", "dojo", "--rank", "1", graph=filled)
    assert learned["source"] == "patina"
    assert len(loaded("forget-usage", "--edge", ".", "uses", "dojo", graph=filled)) == 1
    assert "Removed patina USES dojo" in run("unlink", ".", "USES", "dojo", graph=filled).stdout

    monkeypatch.chdir(registry.parent)
    refused = " ".join(run("link", ".", "uses", "dojo", graph=filled, code=2).output.split())
    assert f"No project of the graph {filled} holds {registry.parent}." in refused.replace("- ", "-")
    assert "Name one" in refused


@pytest.mark.parametrize("arguments", [("index",), ("link", "a", "USES", "b"), ("unlink", "a", "USES", "b")])
def test_a_graph_that_is_none_is_told(graph_name: str, arguments: tuple[str, ...]) -> None:
    assert graph_name in run(*arguments, graph=graph_name, code=2).output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("link", "patina", "USES", "dojp"), "Did you mean 'dojo'?"), (("sync", "none.yaml"), "can't be read")],
)
def test_wrong_input_is_told_with_the_fix(filled: str, arguments: tuple[str, ...], says: str) -> None:
    assert says in " ".join(run(*arguments, graph=filled, code=2).output.split())


@pytest.mark.slow
def test_an_index_names_what_it_left_out_and_exits_with_1(filled: str, hoprank: HopRank) -> None:
    result = run("index", graph=filled, code=1)

    stages = [line.split(":")[:2] for line in result.stderr.splitlines() if line.startswith(("read", "embed", "link"))]
    assert ["embed", " patina"] in stages
    assert {name for _, name in stages} == {" patina"}
    assert f"patina-{filled}" in "".join(result.stdout.split())
    assert "dojo doesn't exist" in " ".join(result.stderr.split())
    assert find_corpus(hoprank.client, f"patina-{filled}")
    (done,) = loaded("index", "patina", graph=filled)
    assert (done["documents"], done["changed"], done["problem"]) == (1, 0, "")
    (patina,) = (one for one in Projects(hoprank, filled).graph.list_nodes() if one.id == "patina")
    assert patina.summary == "Patina gives context to coding agents."


@pytest.mark.slow
def test_a_corpus_is_dropped_only_after_a_question(
    filled: str, registry: Path, hoprank: HopRank, tmp_path: Path
) -> None:
    run("index", "patina", graph=filled)
    corpus = f"patina-{filled}"
    registry.write_text("projects: {other: {}}", encoding="utf-8")

    refused = run("sync", str(registry), "--drop", graph=filled, code=2)
    assert "--yes" in refused.output
    assert find_corpus(hoprank.client, corpus)
    assert len(Projects(hoprank, filled).graph.list_nodes()) == 3
    assert loaded("sync", str(registry), "--drop", "--yes", graph=filled)["corpora_left"] == [corpus]

    assert find_corpus(hoprank.client, corpus) is None
    assert [one.id for one in Projects(hoprank, filled).graph.list_nodes()] == ["other"]
