"""``hoprank tools``, as a user runs it."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pipeline import HopRank, Tools
from pipeline.cli.app import app
from pipeline.db.catalogue import find_graph

GARDEN = Path(__file__).parent / "fixtures" / "garden_server.py"

LISTING = {
    "tools": [
        {
            "name": "find_parcel",
            "description": "Find a parcel by the name of its sender.",
            "inputSchema": {"type": "object", "properties": {"sender": {"type": "string"}}, "required": ["sender"]},
            "outputSchema": {"type": "object", "properties": {"parcel_id": {"type": "string"}}},
        },
        {
            "name": "track_parcel",
            "description": "Tell where a parcel is. Use the id that `find_parcel` returns.",
            "inputSchema": {
                "type": "object",
                "properties": {"parcel_id": {"type": "string"}},
                "required": ["parcel_id"],
            },
        },
        {"name": "ring_bell", "description": "Ring the bell of the church.", "inputSchema": {"type": "object"}},
    ]
}


@pytest.fixture(scope="module")
def named(hoprank: HopRank, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a graph that was built by the command."""
    name = f"tools-{uuid.uuid4().hex[:12]}"
    file = tmp_path_factory.mktemp("tools") / "post.json"
    file.write_text(json.dumps(LISTING))
    result = run("build", str(file), graph=name)
    assert "tool 3" in result.stdout
    yield name
    if find_graph(hoprank.client, name):
        hoprank.graph(name).drop()


def run(*arguments: str, graph: str = "", code: int = 0) -> Result:
    given = ["tools", *arguments, *(["--graph", graph] if graph else [])]
    result = CliRunner().invoke(app, given, env={"COLUMNS": "100"})
    assert result.exit_code == code, result.output
    return result


def loaded(*arguments: str, graph: str = "") -> Any:
    return json.loads(run(*arguments, "--json", graph=graph).stdout)


@pytest.mark.slow
def test_a_live_server_is_added_to_a_graph(hoprank: HopRank, tmp_path: Path) -> None:
    name = f"tools-{uuid.uuid4().hex[:12]}"
    (tmp_path / "post.json").write_text(json.dumps(LISTING))
    run("build", str(tmp_path / "post.json"), graph=name)

    result = run("connect", sys.executable, str(GARDEN), graph=name)

    services = {tool.service for tool in Tools(hoprank, name).catalogue().tools}
    hoprank.graph(name).drop()
    assert "service 2" in result.stdout
    assert services == {"garden", "post"}


@pytest.mark.parametrize("server", [("http://127.0.0.1:9/mcp",), ("no-such-command-at-all",)])
def test_a_server_that_is_none_is_told_and_changes_nothing(
    hoprank: HopRank, named: str, server: tuple[str, ...]
) -> None:
    before = Tools(hoprank, named).catalogue()

    assert server[0] in run("connect", *server, graph=named, code=2).output
    assert Tools(hoprank, named).catalogue() == before


def test_tools_are_found_and_shown(named: str) -> None:
    assert loaded("find", "where is my parcel", "-k", "1", graph=named)[0]["name"] == "track_parcel"
    assert "ring_bell" in run("find", "ring the church's bell", graph=named).stdout
    shown = run("show", "track_parcel", graph=named).stdout
    assert "post/find_parcel" in shown
    assert "parcel_id" in shown


def test_a_chain_is_printed_as_text_json_and_mermaid(named: str) -> None:
    ends = ("chain", "--from", "sender", "--to", "track_parcel")

    assert "parcel_id = parcel_id of 1" in run(*ends, graph=named).stdout
    (chain, *_) = loaded(*ends, graph=named)
    assert [step["name"] for step in chain["steps"]] == ["find_parcel", "track_parcel"]
    assert run(*ends, "--mermaid", graph=named).stdout.startswith("flowchart LR")
    assert "track_parcel" in run("chain", "tell me where the parcel of my aunt is", graph=named).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("chain",), "Give TASK, or --from and --to."),
        (("chain", "--from", "sender"), "Give TASK, or --from and --to."),
        (("chain", "a task", "--from", "sender", "--to", "x"), "Give TASK, or --from and --to."),
        (("chain", "--from", "submarine", "--to", "track_parcel"), "No tool is named 'submarine'"),
        (("show", "track_parcels"), "track_parcel"),
        (("find", " "), "empty"),
    ],
)
def test_wrong_input_is_told_with_the_fix(named: str, arguments: tuple[str, ...], says: str) -> None:
    result = run(*arguments, graph=named, code=2)

    assert says in " ".join(result.output.split())


@pytest.mark.usefixtures("server_environment")
def test_a_graph_that_is_none_and_a_file_that_is_none_are_told(tmp_path: Path) -> None:
    assert "no-such-graph" in run("find", "x y z", graph="no-such-graph", code=2).output
    assert "gone.json" in run("build", str(tmp_path / "gone.json"), graph="no-such-graph", code=2).output


@pytest.mark.usefixtures("server_environment")
def test_tasks_with_known_tools_are_measured(tmp_path: Path) -> None:
    tools = [{"id": tool["name"], "title": tool["name"], "text": tool["description"]} for tool in LISTING["tools"]]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(tool) + "\n" for tool in tools))
    (tmp_path / "queries.jsonl").write_text(json.dumps({"id": "q", "query": "ring the bell"}) + "\n")
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\tring_bell\t1\n")
    report = tmp_path / "report.json"

    printed = run("evaluate", str(tmp_path), "--json", str(report)).stdout

    assert "recall@5" in printed
    written = json.loads(report.read_text())
    assert written["metrics"].keys() == {"vector", "bm25", "hybrid", "hoprank"}
    assert written["metrics"]["hoprank"] == {"recall@5": 1.0, "recall@10": 1.0, "ndcg@10": 1.0, "perfect@10": 1.0}
