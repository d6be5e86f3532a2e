"""``hoprank search --routing`` and ``hoprank route evaluate``, as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline import HopRank, Projects
from pipeline.cli.app import app
from pipeline.domains.routing import verbs
from pipeline.domains.routing.learn.log import Log
from pipeline.settings import load_settings
from tests.domains.routing.town import EXAMPLES, Town

CLOSING = "which accounts are set to zero when a year ends"


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "100"})
    assert result.exit_code == code, result.output
    return result


def search(town: Town, *arguments: str, code: int = 0) -> Result:
    return run("search", *arguments, "--set", f"routing.graph={town.graph}", code=code)


def test_a_routed_search_prints_the_project_of_each_hit(town: Town) -> None:
    printed = search(town, CLOSING, "--routing", "graph").stdout

    assert printed.startswith("Searched ledger (100%); passed over 6 other projects.\n\n")
    assert " 1  ledger  " in printed
    assert "set to zero" in printed


def test_a_routed_search_from_a_project_names_the_relation(town: Town) -> None:
    found = search(town, "the hour of high water", "--routing", "graph", "--from", "harbour", "--json").stdout

    items = json.loads(found)["items"]
    assert {item["metadata"]["project"] for item in items} <= {"almanac", "harbour"}
    assert {item["metadata"]["relation"] for item in items if item["metadata"]["project"] == "almanac"} == {"uses"}


def test_the_relation_is_printed_and_with_explain_every_reason(town: Town) -> None:
    question = ("when does the moon cross the meridian", "--routing", "graph", "--from", "harbour")

    printed = search(town, *question).stdout
    explained = search(town, *question, "--explain").stdout

    assert "\nalmanac: harbour uses almanac: tides follow the moon\n" in printed
    assert "almanac: harbour uses almanac: tides follow the moon; a passage has the cosine 0." in explained


FROM_HERE = "Asked from harbour, whose path holds the working directory; --from names another, or none.\n"


def test_the_project_of_the_working_directory_asks_unless_another_or_none_does(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = ("when does the moon cross the meridian", "--routing", "graph")
    by_name = search(town, *question, "--from", "harbour", "--json").stdout
    from_nowhere = search(town, *question, "--json").stdout
    monkeypatch.chdir(EXAMPLES / "harbour")

    here, chosen = json.loads(search(town, *question, "--json").stdout), json.loads(by_name)
    printed = search(town, *question).stdout

    routing = here["metadata"]["routing"]
    assert (routing.pop("from_folder"), routing["from"]) == (str(EXAMPLES / "harbour"), "harbour")
    assert here["items"] == chosen["items"]
    assert routing == {name: value for name, value in chosen["metadata"]["routing"].items() if name != "from_folder"}
    assert printed.startswith(FROM_HERE)
    assert "harbour uses almanac" in printed
    for nobody in ("", "none"):
        assert search(town, *question, "--from", nobody, "--json").stdout == from_nowhere
    assert FROM_HERE not in search(town, *question, "--from", "quay").stdout
    assert FROM_HERE not in search(town, *question[:1], "--routing", "all").stdout


@pytest.fixture
def log() -> Iterator[Log]:
    """The log of the home that the commands have, empty before and after."""
    kept = Log.of(load_settings({"routing": {"log": True}}))
    kept.delete()
    yield kept
    kept.delete()


@pytest.mark.slow
def test_a_log_that_is_kept_proposes_what_was_asked_for_from_a_project(
    town: Town, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES / "quay")
    graph, kept = ("--set", f"routing.graph={town.graph}"), ("--set", "routing.log=true")
    named = "how is the kiln fired"
    run("search", named, "--routing", "graph", *graph)
    assert not log.path.exists()
    run("search", named, "--routing", "graph", *graph, *kept)
    run("search", named, "--routing", "graph", "--from", "none", *graph, *kept)
    run("search", CLOSING, "--routing", "oracle", "--project", "kiln", "--project", "loom", *graph, *kept)
    run("search", CLOSING, "--routing", "all", *graph, *kept)
    run("search", "kiln", "--routing", "all", "--from", "harbour", *graph, *kept)
    run("route", "propose", *graph, *kept)

    shown = json.loads(run("route", "log", "--json", *kept).stdout)
    written = log.path.read_text(encoding="utf-8")
    proposed = json.loads(run("route", "propose", "--json", *graph, *kept, "--set", "routing.proposed=0.15").stdout)
    without = json.loads(run("route", "propose", "--json", *graph, "--set", "routing.proposed=0.15").stdout)

    assert [(one["opened"], one["asked"]) for one in shown["entries"]] == [
        ("quay", ["kiln"]),
        ("", ["kiln"]),
        ("quay", ["kiln", "loom"]),
        ("quay", []),
        ("harbour", ["kiln"]),
        ("quay", []),
    ]
    assert "fired" not in written
    assert str(EXAMPLES) not in written
    assert not [one for one in without if one["detector"] == "log"]
    (learnt,) = (one for one in proposed if one["detector"] == "log")
    assert (learnt["source"], learnt["type"], learnt["target"], learnt["confidence"]) == (
        "quay",
        "learns_from",
        "kiln",
        0.2,
    )


@pytest.mark.slow
def test_a_verb_and_the_python_interface_guess_no_project(
    town: Town, hoprank: HopRank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES / "harbour")

    found = Projects(hoprank, town.graph).search("when does the moon cross the meridian")

    assert found.metadata["routing"]["from"] is None
    assert verbs.search(hoprank, "the moon", graph=town.graph)["metadata"]["routing"]["from"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--from", "harbour"), "--from and --project are for a routed search"),
        (("--project", "harbour"), "--from and --project are for a routed search"),
        (("--routing", "sideways"), "no routing 'sideways'"),
        (("--routing", "graph", "--from", "harbor"), "harbour"),
        (("--routing", "oracle"), "--project NAME"),
        (("--routing", "graph", "--project", "kiln"), "Leave out --project"),
        (("--routing", "graph", "--corpus", "handbook"), "Leave out --corpus or --routing"),
    ],
)
def test_wrong_options_are_refused(town: Town, arguments: tuple[str, ...], said: str) -> None:
    assert said in search(town, CLOSING, *arguments, code=2).output


@pytest.mark.slow
def test_a_field_that_no_project_has_is_told(town: Town) -> None:
    unknown = search(town, CLOSING, "--routing", "graph", "--filter", '{"languag": "python"}')
    known = search(town, CLOSING, "--routing", "graph", "--filter", '{"language": "python"}')

    assert "Nothing in the searched projects has the field 'languag'" in unknown.stderr
    assert "has the field" not in known.stderr


@pytest.mark.slow
def test_evaluate_prints_the_comparison_and_the_failures(town: Town, tmp_path: Path) -> None:
    report = tmp_path / "report.json"

    queryset = str(EXAMPLES / "queryset.json")
    printed = run("route", "evaluate", queryset, "--graph", town.graph, "--json", str(report)).stdout

    for line in ("all projects", "the ceiling", "graph", "Target 80% of the ceiling's MRR", "missing project"):
        assert line in printed
    assert "mended by quay LEARNS_FROM kiln" in printed
    modes = json.loads(report.read_text(encoding="utf-8"))["modes"]
    assert list(modes) == ["all", "oracle", "graph"]
    assert list(modes["graph"]) == ["mrr", "recall@10", "source_recall", "waste", "searched"]


def test_the_commands_take_the_graph_of_the_settings(town: Town) -> None:
    for chosen in (("--set", f"routing.graph={town.graph}"), ("--graph", town.graph)):
        assert "nothing to forget" in run("route", "forget-usage", "--yes", *chosen).stderr
