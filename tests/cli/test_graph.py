"""``hoprank graph`` as its users run it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.cli.app import app
from pipeline.db.client import Client

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def run(server_environment: dict[str, str]) -> Run:
    return lambda *arguments: CliRunner().invoke(
        app, ["graph", *arguments], env={**server_environment, "COLUMNS": "100"}
    )


@pytest.fixture
def name(client: Client) -> Iterator[str]:
    """A graph of two nodes."""
    graph = KnowledgeGraph(f"test-{uuid.uuid4().hex[:12]}", client=client)
    graph.add_nodes([KnowledgeNode("a", "t"), KnowledgeNode("b", "t")])
    graph.add_edge(KnowledgeEdge("a", "b", "r"))
    yield graph.name
    KnowledgeGraph(graph.name, client=client).drop()


@pytest.mark.slow
def test_graphs_are_listed_and_dropped(run: Run, name: str) -> None:
    assert name in run("list").stdout
    assert {"name": name, "nodes": 2} in [
        {key: one[key] for key in ("name", "nodes")} for one in json.loads(run("list", "--json").stdout)
    ]
    assert run("drop", name).exit_code == 2, "nobody is there to be asked"
    assert run("drop", name, "--yes").stdout == f"Dropped {name}.\n"
    assert name not in run("list").stdout


@pytest.fixture
def farm(client: Client) -> Iterator[str]:
    """A graph of an owner, a farm that is sold, and a cow."""
    graph = KnowledgeGraph(f"test-{uuid.uuid4().hex[:12]}", client=client)
    graph.add_nodes([KnowledgeNode(id_, id_, properties={"name": f"the {id_}"}) for id_ in ("farm", "owner")])
    graph.add_node(KnowledgeNode("cow", "cow", ["animal"], {"name": "the cow", "colours": ["red", "white"], "age": 3}))
    graph.add_edge(KnowledgeEdge("owner", "farm", "owns", valid_at="2020-01-01", invalid_at="2024-01-01"))
    graph.add_edge(KnowledgeEdge("cow", "farm", "lives_at", weight=0.5, properties={"why": ["a deed", "a map"]}))
    yield graph.name
    graph.drop()


@pytest.mark.slow
def test_nodes_are_listed(run: Run, farm: str) -> None:
    assert json.loads(run("list", farm, "--type", "cow", "--json").stdout) == [
        {
            "id": "cow",
            "type": "cow",
            "name": "the cow",
            "properties": {"name": "the cow", "colours": ["red", "white"], "age": 3},
        }
    ]
    assert [line.split()[-1] for line in run("list", farm, "--limit", "2").stdout.splitlines()[2:]] == ["cow", "farm"]
    assert run("list", farm, "--type", "goat").stderr == f"hoprank: {farm} has no such node.\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (("--where", "name=the farm"), ["farm"]),
        (("--where", "colours=white", "--where", "age=3"), ["cow"]),
        (("--label", "animal"), ["cow"]),
        (("--important", "--limit", "2", "--as-of", "2022-01-01", "--known-at", "2999-01-01"), ["farm", "owner"]),
    ],
)
def test_nodes_are_listed_by_property_label_and_importance(
    run: Run, farm: str, options: tuple[str, ...], ids: list[str]
) -> None:
    assert [node["id"] for node in json.loads(run("list", farm, *options, "--json").stdout)] == ids


@pytest.mark.slow
def test_edges_are_listed_of_a_node_around_it_and_of_the_graph(run: Run, farm: str) -> None:
    then = ("--as-of", "2022-01-01", "--known-at", "2999-01-01", "--json")

    def ends(*options: str) -> list[tuple[str, str]]:
        return [(edge["source"], edge["target"]) for edge in json.loads(run("edges", farm, *options).stdout)]

    assert ends(*then) == [("owner", "farm"), ("cow", "farm")]
    assert ends("the cow", *then) == ends("cow", "--direction", "out", *then) == [("cow", "farm")]
    assert ends("cow", "--depth", "2", *then) == ends(*then)
    assert ends("farm", "--direction", "out", *then) == []
    assert ends("--type", "lives_at", "--limit", "1", *then) == [("cow", "farm")]
    assert run("edges", farm).stdout.splitlines()[-1].split("  ")[-1].strip() == "why: a deed, a map"
    assert run("edges", farm, "owner").stderr == f"hoprank: {farm} has no such edge.\n"
    assert json.loads(run("edges", farm, "--json").stdout) == [
        {
            "source": "cow",
            "target": "farm",
            "type": "lives_at",
            "weight": 0.5,
            "directed": True,
            "valid_at": None,
            "invalid_at": None,
            "properties": {"why": ["a deed", "a map"]},
        }
    ]


@pytest.mark.slow
def test_what_is_near_a_node_is_listed(run: Run, farm: str) -> None:
    assert json.loads(run("near", farm, "the farm", "--json").stdout) == [
        {"id": "cow", "type": "cow", "name": "the cow", "hops": 1, "score": 0.25}
    ]
    then = ["near", farm, "cow", "--depth", "2", "--at", "2022-01-01", "--known-at", "2999-01-01"]
    assert "the owner" in run(*then).stdout
    assert "the owner" not in run(*then, "--type", "lives_at").stdout
    assert run("near", farm, "cow", "--direction", "in").stderr == "hoprank: No edge leads on from cow.\n"


def test_the_path_between_two_nodes_is_printed(run: Run, farm: str) -> None:
    then = ["path", farm, "the owner", "cow", "--as-of", "2022-01-01", "--known-at", "2999-01-01"]

    lines = run(*then).stdout.splitlines()[2:]

    assert [line.split()[1:] for line in lines] == [
        ["owner", "owner", "owner"],
        ["farm", "farm", "farm", "owns"],
        ["cow", "cow", "cow", "lives_at"],
    ]
    document = json.loads(run(*then, "--json").stdout)
    assert [node["id"] for node in document["nodes"]] == ["owner", "farm", "cow"]
    assert document["steps"] == [["owns"], ["lives_at"]]
    assert run("path", farm, "owner", "cow").stderr == "hoprank: No path of 6 edges leads from owner to cow.\n"


@pytest.mark.slow
@pytest.mark.parametrize("file", ["g.json", "g.jsonl", "g.graphml"])
def test_a_graph_is_exported_and_imported(run: Run, name: str, tmp_path: Path, file: str) -> None:
    path = str(tmp_path / file)

    assert run("export", path, "--graph", name).stdout == f"Wrote {path}.\n"
    result = run("import", path, "--graph", name)

    assert result.stdout.startswith(f"Imported 2 nodes and 1 edge into {name}")
    assert json.loads(run("import", path, "--graph", name, "--json").stdout)["edges"] == 1


def test_a_graph_is_drawn_whole_or_around_a_node(run: Run, name: str, tmp_path: Path) -> None:
    page = tmp_path / "graph.html"

    assert run("view", "--graph", name, "--out", str(page)).stdout == f"Wrote {page}.\n"
    assert "cytoscape" in page.read_text(encoding="utf-8")
    assert run("view", "--graph", name, "--node", "b", "--hops", "1", "--limit", "1", "--out", str(page)).exit_code == 0
    assert '"id": "a"' not in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_corpus_is_drawn_and_exported_too(
    run: Run, hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path], tmp_path: Path
) -> None:
    hoprank.ingest(
        jsonl([{"id": "a", "title": "Ada Lovelace", "text": "Ada Lovelace met Charles Babbage."}]), corpus=corpus_name
    )

    assert run("view", "--corpus", corpus_name, "--out", str(tmp_path / "c.html")).exit_code == 0
    assert "Charles Babbage" in run("near", corpus_name, "ada lovelace", "--depth", "2").stdout
    assert "keeps no history" in run("near", corpus_name, "ada lovelace", "--at", "2020-01-01").stderr
    assert run("export", str(tmp_path / "c.json"), "--corpus", corpus_name).exit_code == 0
    assert "Ada Lovelace" in (tmp_path / "c.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["view"], "Which graph isn't said"),
        (["view", "--graph", "a", "--corpus", "b"], "Which graph isn't said"),
        (["view", "--graph", "nowhere"], "no graph 'nowhere'"),
        (["export", "x.json", "--corpus", "nowhere at all"], "no corpus"),
        (["near", "nowhere", "x"], "no graph and no corpus 'nowhere'"),
        (["list", "nowhere", "--where", "colour"], "isn't NAME=VALUE"),
        (["import", "nowhere.json", "--graph", "x"], "nowhere.json can't be read"),
        (["import", "nowhere.xyz", "--graph", "x"], "What format"),
        (["drop", "nowhere", "--yes"], "no graph 'nowhere'"),
    ],
)
def test_wrong_input_ends_with_2(run: Run, arguments: list[str], says: str) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert says in result.stderr
