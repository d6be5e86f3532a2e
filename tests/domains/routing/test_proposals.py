"""Proposals on a graph: listed, accepted and rejected."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.domains.routing.learn.clues import Proposal
from pipeline.domains.routing.learn.notes import Sources
from pipeline.domains.routing.learn.proposals import accept, decide, detect, propose
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.schema import Project, Relation, RelationType
from pipeline.errors import InputError
from tests.domains.routing.detected import OTHERS, write

Run = Callable[..., Result]

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_a_project_without_a_path_has_not_the_files_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(tmp_path, {"a.py": "import requests\n"}))

    assert detect([Project("patina"), *OTHERS], Sources()) == []


def test_a_project_whose_folder_is_gone_proposes_nothing(tmp_path: Path) -> None:
    projects = [Project("patina", path=str(tmp_path / "gone")), *OTHERS]

    assert detect(projects, Sources()) == []


@pytest.fixture
def graph(hoprank: HopRank, tmp_path: Path) -> Iterator[ProjectGraph]:
    """A graph of ``patina``, whose files use requests and test with dojo, and the other projects."""
    manifest = '[project]\nname = "patina"\ndependencies = ["requests"]\n'
    folder = write(tmp_path / "patina", {"pyproject.toml": manifest, "bench.sh": "patina bench --repo dojo\n"})
    made = ProjectGraph.open(hoprank, f"routes-{uuid.uuid4().hex[:12]}")
    for project in (Project("patina", path=str(folder)), *OTHERS):
        made.add_node(project)
    yield made
    made.graph.drop()


def keys(proposals: Sequence[Proposal]) -> list[tuple[str, str]]:
    return [(one.relation.type, one.relation.target) for one in proposals]


def test_relations_of_the_graph_are_not_proposed(graph: ProjectGraph) -> None:
    before = keys(propose(graph))
    graph.add_edge(Relation("patina", "psf/requests", RelationType.USES))

    assert before == [("uses", "psf/requests"), ("tests_with", "dojo")]
    assert keys(propose(graph)) == [("tests_with", "dojo")]


def test_a_sibling_is_known_in_either_direction(graph: ProjectGraph) -> None:
    for name in ("a", "b"):
        graph.add_node(Project(name, domains=("quilting",)))
    before = keys(propose(graph))
    graph.add_edge(Relation("b", "a", RelationType.SIBLING))

    assert ("sibling", "b") in before
    assert ("sibling", "b") not in keys(propose(graph))


def test_an_accepted_proposal_is_a_relation_with_its_evidence(graph: ProjectGraph) -> None:
    found = propose(graph)

    accept(graph, found[:1], NOW)

    relation = graph.get_edge("patina", "psf/requests", RelationType.USES)
    assert relation is not None
    assert 0.9 < relation.weight < 1
    assert relation.evidence == "pyproject.toml:3: depends on requests"
    assert relation.created.startswith("2026-03-01")
    assert keys(propose(graph)) == [("tests_with", "dojo")]


def test_a_rejected_proposal_is_not_made_again_until_it_is_accepted(graph: ProjectGraph) -> None:
    found = propose(graph)

    decide(graph, found, NOW, rejected=[found[0].id])

    assert keys(propose(graph)) == [("tests_with", "dojo")]
    assert keys(propose(graph, rejected=True)) == [("uses", "psf/requests")]
    accept(graph, found[:1], NOW)
    graph.remove_edge("patina", "psf/requests", RelationType.USES)
    assert propose(graph) == found


def test_a_rejection_outlives_an_update_of_the_project(graph: ProjectGraph) -> None:
    found = propose(graph)
    decide(graph, found, NOW, rejected=[one.id for one in found])
    project = graph.get_node("patina")
    assert project is not None

    graph.update_node(project)

    assert propose(graph) == []


def test_proposals_above_a_confidence_are_accepted_but_for_rejected_ones(graph: ProjectGraph) -> None:
    found = propose(graph)
    by_target = {one.relation.target: one for one in found}

    decisions = decide(graph, found, NOW, rejected=[by_target["psf/requests"].id], sure=0.5)

    assert keys(decisions.accepted) == [("tests_with", "dojo")]
    assert keys(decisions.rejected) == [("uses", "psf/requests")]
    assert decisions.open == ()
    assert {edge.target for edge in graph.get_edges() if edge.source == "patina"} == {"dojo"}


@pytest.mark.slow
def test_a_list_of_proposals_writes_nothing(hoprank: HopRank, graph: ProjectGraph) -> None:
    def version() -> int:
        return int(hoprank.client.read("routing_state", name=graph.graph.name)[0]["version"])

    before = version()

    assert len(decide(graph, propose(graph), NOW).open) == 2

    assert version() == before


def test_an_unknown_id_changes_nothing(graph: ProjectGraph) -> None:
    found = propose(graph)

    with pytest.raises(InputError, match="no proposal 'none'"):
        decide(graph, found, NOW, accepted=[found[0].id, "none"])
    with pytest.raises(InputError, match="accepted and rejected"):
        decide(graph, found, NOW, accepted=[found[0].id], rejected=[found[0].id])

    assert propose(graph) == found


@pytest.fixture
def run(graph: ProjectGraph, server_environment: dict[str, str]) -> Run:
    """Run a command on the graph."""

    def command(*arguments: str, code: int = 0) -> Result:
        given = ["route", "propose", *arguments, "--graph", graph.graph.name]
        result = CliRunner().invoke(app, given, env={**server_environment, "COLUMNS": "100"})
        assert result.exit_code == code, result.output
        return result

    return command


def loaded(run: Run, *arguments: str) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def test_the_command_lists_accepts_and_rejects(run: Run) -> None:
    shown = run().stdout
    uses, tests = loaded(run)
    added = run("--accept", uses["id"], "--reject", tests["id"]).stdout

    assert uses["id"] in shown
    assert "pyproject.toml:3: depends on requests" in shown
    assert (uses["type"], uses["state"], tests["detector"]) == ("uses", "open", "commands")
    assert "Added patina USES psf/requests." in added
    assert "Rejected patina TESTS_WITH dojo." in added
    assert loaded(run) == []
    assert [one["id"] for one in loaded(run, "--rejected")] == [tests["id"]]


def test_the_command_reads_notes_and_names_those_of_no_project(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "notes", {"day.md": "We borrowed the loop from SDL.\n"})

    unassigned = run("--notes", str(tmp_path / "notes"))
    found = loaded(run, "--notes", str(tmp_path / "notes"), "--from", "patina")

    assert "day.md" in unassigned.stderr
    assert "SDL" not in unassigned.stdout
    assert [one["target"] for one in found if one["type"] == "learns_from"] == ["SDL"]
