"""``hoprank route``, as a user runs it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.db.catalogue import find_corpus

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


def test_a_registry_is_synced_planned_and_found_unchanged(registry: Path, graph_name: str) -> None:
    planned = loaded("sync", str(registry), "--dry-run", graph=graph_name)
    assert planned["added"] == ["SDL", "dojo", "patina"]
    assert "no graph" in run("graph", graph=graph_name, code=2).output
    assert "nothing was changed" in run("sync", str(registry), "--dry-run", graph=graph_name).stdout

    first = run("sync", str(registry), graph=graph_name)
    again = run("sync", str(registry), graph=graph_name)

    assert "patina DOMAIN domain:rust" in first.stdout
    assert "nothing was changed" not in first.stdout
    assert "dojo doesn't exist" in " ".join(first.stderr.split())
    assert "it equals the registry" in again.stdout
    assert not any(loaded("sync", str(registry), graph=graph_name)[name] for name in ("added", "changed", "removed"))


def test_projects_and_relations_are_shown_as_tables_json_and_a_page(filled: str, tmp_path: Path) -> None:
    shown = run("graph", graph=filled).stdout
    assert "patina" in shown
    assert "USES" in shown
    assert "USES" not in run("graph", "--nodes", graph=filled).stdout
    assert loaded("graph", "--nodes", graph=filled).keys() == {"nodes"}
    edges = loaded("graph", "--edges", graph=filled)
    assert edges.keys() == {"edges"}
    assert [(one["source"], one["type"], one["target"], one["weight"]) for one in edges["edges"]] == [
        ("dojo", "uses", "SDL", 0.5),
        ("patina", "domain", "domain:rust", 1.0),
    ]
    assert loaded("graph", graph=filled).keys() == {"nodes", "edges"}
    page = tmp_path / "projects.html"
    assert "Wrote" in run("graph", "--view", str(page), graph=filled).stdout
    data = re.search(r'type="application/json">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert data
    sizes = {node["id"]: node["size"] for node in json.loads(data[1])["nodes"]}
    assert sizes == {"patina": 60.0, "dojo": 37.0, "SDL": 37.0, "domain:rust": 14.0}
    assert "--view draws" in run("graph", "--view", str(page), "--nodes", graph=filled, code=2).output


def test_relations_are_linked_followed_and_unlinked(filled: str) -> None:
    linked = loaded("link", "patina", "uses", "dojo", "--evidence", "worlds", "--weight", "0.8", graph=filled)
    assert (linked["type"], linked["weight"], linked["evidence"]) == ("uses", 0.8, "worlds")
    assert "weight 0.80" in run("link", "patina", "Uses", "dojo", graph=filled).stdout
    assert loaded("link", "patina", "USES", "dojo", "--weight", "0.6", graph=filled)["evidence"] == "worlds"

    assert [one["project"] for one in loaded("get-related", "patina", graph=filled)] == ["dojo"]
    assert "worlds" in run("get-related", "patina", "--type", "uses", graph=filled).stdout
    assert "No relation" in run("get-related", "patina", "--type", "sibling", graph=filled).stderr
    steps = loaded("traverse", "patina", graph=filled)
    assert [(step["project"], step["hops"], len(step["relations"])) for step in steps] == [
        ("dojo", 1, 1),
        ("SDL", 2, 2),
    ]
    assert len(loaded("traverse", "patina", "--depth", "1", graph=filled)) == 1
    assert len(loaded("traverse", "patina", "--set", "routing.depth=1", graph=filled)) == 1
    assert "patina USES dojo USES SDL" in run("traverse", "patina", graph=filled).stdout
    assert "leads on" in run("traverse", "SDL", graph=filled).stderr

    assert "Removed patina USES dojo" in run("unlink", "patina", "USES", "dojo", graph=filled).stdout
    assert loaded("get-related", "patina", graph=filled) == []


def test_a_project_is_that_of_the_working_directory(
    filled: str, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(registry.parent / "patina")

    assert loaded("link", ".", "uses", "dojo", graph=filled)["source"] == "patina"
    related = run("get-related", graph=filled).stdout
    assert related.startswith("From patina, whose path holds the working directory.\n")
    assert "dojo" in related
    assert [one["project"] for one in loaded("get-related", graph=filled)] == ["dojo"]
    assert [one["project"] for one in loaded("traverse", graph=filled)] == ["dojo", "SDL"]
    (learned,) = loaded("used", "x", "--project", "dojo", "--rank", "1", graph=filled)
    assert (learned["source"], loaded("explain", ".", "uses", "dojo", graph=filled)["source"]) == ("patina", "patina")
    assert len(loaded("forget-usage", "--edge", ".", "uses", "dojo", graph=filled)) == 1
    assert "Removed patina USES dojo" in run("unlink", ".", "USES", "dojo", graph=filled).stdout

    monkeypatch.chdir(registry.parent)
    refused = " ".join(run("get-related", graph=filled, code=2).output.split())
    assert f"No project of the graph {filled} holds {registry.parent}." in refused.replace("- ", "-")
    assert "Name one" in refused


def test_a_domain_is_linked(filled: str) -> None:
    assert loaded("link", "dojo", "DOMAIN", "cairo", graph=filled)["target"] == "domain:cairo"

    nodes = {one["id"]: one["domains"] for one in loaded("graph", graph=filled)["nodes"]}
    assert nodes == {"SDL": [], "dojo": ["cairo"], "patina": ["rust"]}
    assert loaded("unlink", "dojo", "domain", "cairo", graph=filled)["target"] == "domain:cairo"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("link", "patina", "USES", "dojp"), "Did you mean 'dojo'?"),
        (("link", "patina", "USSE", "dojo"), "Did you mean 'uses'?"),
        (("link", "patina", "USES", "patina"), "related to itself"),
        (("link", "patina", "USES", "dojo", "--weight", "0"), "weight 0"),
        (("link", "patina", "USES", "dojo", "--weight", "2"), "less than or equal to 1"),
        (("unlink", "patina", "USES", "dojo"), "There is no relation patina USES dojo"),
        (("unlink", "patinas", "USES", "dojo"), "Did you mean 'patina'?"),
        (("get-related", "patinas"), "Did you mean 'patina'?"),
        (("traverse", "xyz"), "route sync REGISTRY"),
        (("traverse", "patina", "--depth", "0"), "greater than or equal to 1"),
        (("index", "patinas"), "Did you mean 'patina'?"),
        (("sync", "none.yaml"), "can't be read"),
    ],
)
def test_wrong_input_is_told_with_the_fix(filled: str, arguments: tuple[str, ...], says: str) -> None:
    assert says in " ".join(run(*arguments, graph=filled, code=2).output.split())


@pytest.mark.parametrize(
    "arguments", [("graph",), ("index",), ("link", "a", "USES", "b"), ("unlink", "a", "USES", "b"), ("traverse", "a")]
)
def test_a_graph_that_is_none_is_told(graph_name: str, arguments: tuple[str, ...]) -> None:
    assert graph_name in run(*arguments, graph=graph_name, code=2).output


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
    (patina,) = (one for one in loaded("graph", graph=filled)["nodes"] if one["id"] == "patina")
    assert patina["summary"] == "Patina gives context to coding agents."


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
    assert len(loaded("graph", graph=filled)["nodes"]) == 3
    assert loaded("sync", str(registry), "--drop", "--yes", graph=filled)["corpora_left"] == [corpus]

    assert find_corpus(hoprank.client, corpus) is None
    assert [one["id"] for one in loaded("graph", graph=filled)["nodes"]] == ["other"]


def test_an_empty_graph_says_how_to_fill_it(hoprank: HopRank, graph_name: str) -> None:
    hoprank.graph(graph_name)

    assert "route sync REGISTRY" in run("graph", graph=graph_name).stderr
    assert "No project has a path" in run("index", graph=graph_name).stderr
