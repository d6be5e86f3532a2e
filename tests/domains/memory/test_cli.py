"""``hoprank memory``, as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pipeline.cli.app import app
from pipeline.db.catalogue import get_corpus
from pipeline.domains.memory.memory import AgentMemory
from tests.domains.memory.conftest import NewMemory
from tests.domains.memory.test_conversations import HARBOUR


def run(memory: AgentMemory, *arguments: str, code: int = 0, stdin: str | None = None) -> Result:
    given = ["memory", *arguments, *([] if arguments[0] == "drop" else ["--memory", memory.name])]
    result = CliRunner().invoke(app, given, env={"COLUMNS": "100"}, input=stdin)
    assert result.exit_code == code, result.output
    return result


def loaded(memory: AgentMemory, *arguments: str) -> Any:
    return json.loads(run(memory, *arguments, "--json").stdout)


@pytest.fixture
def harbour(memory: AgentMemory) -> AgentMemory:
    """The conversation, imported by the command."""
    assert "12 new memories" in run(memory, "import", str(HARBOUR)).stdout
    return memory


@pytest.fixture(scope="module")
def shared_harbour(new_memory: NewMemory) -> Iterator[AgentMemory]:
    """The same, for tests that change nothing."""
    with new_memory() as memory:
        run(memory, "import", str(HARBOUR))
        yield memory


@pytest.fixture(scope="module")
def content_before(shared_harbour: AgentMemory) -> list[Any]:
    return content(shared_harbour)


def content(memory: AgentMemory) -> list[Any]:
    """Return all that the memory's graph holds, and the generation of its corpus."""
    graph = memory.graph()
    return [list(graph.nodes()), list(graph.edges()), get_corpus(memory.hoprank.client, memory.name).generation]


def test_mentions_are_listed_from_both_ends(shared_harbour: AgentMemory) -> None:
    listed = run(shared_harbour, "mentions", "hono").stdout
    before = run(shared_harbour, "mentions", "hono", "--as-of", "2026-01-31").stderr

    assert "2026-02-10  Marten  harbour/migration:1" in listed
    assert "We moved the tide-service from express to hono" in listed
    assert "No text mentions hono" in before
    of_text = loaded(shared_harbour, "mentions", "--text", "harbour/migration:1")
    assert {"tide-service", "express", "hono", "Marten"} <= {one["name"] for one in of_text}
    assert "hono" in run(shared_harbour, "mentions", "--text", "harbour/migration:1").stdout


@pytest.mark.slow
def test_a_search_says_what_it_found_and_by_which_level(shared_harbour: AgentMemory) -> None:
    explained = run(
        shared_harbour, "search", "Where does Marten sit since last May?", "--now", "2026-06-30", "--explain"
    ).stdout
    found = loaded(shared_harbour, "search", "What does tide-service depend on?", "--level", "low")

    assert "“last May”: 2026-05-01 to now" in explained
    assert "I sit in the lighthouse" in explained
    assert "texts 1" in explained
    assert found["answered"] == "low"
    assert found["items"][0]["entity"]["name"] == "tide-service"


@pytest.mark.slow
def test_facts_are_added_ended_replaced_and_withdrawn(memory: AgentMemory) -> None:
    why = ("--evidence", "package.json")
    run(memory, "fact", "api", "depends_on", "express", "--create", "library", "--valid-at", "2026-01-15", *why)
    run(memory, "fact", "api", "depends_on", "hono", "--create", "library", "--valid-at", "2026-03-01", *why)

    moved = run(memory, "supersede", "api", "depends_on", "express", "hono", "--at", "2026-02-10", *why).stdout
    run(memory, "retract", "api", "depends_on", "hono", *why)
    versions = loaded(memory, "history", "api")

    assert "api depends_on express (2026-01-15 to 2026-02-10)" in moved
    assert len(versions) == 4
    assert "No facts contradict" in run(memory, "conflicts").stdout
    again = "fact api depends_on express --valid-at 2026-01-15 --invalid-at 2026-02-10".split()
    assert "known already" in run(memory, *again, *why).stdout


@pytest.mark.slow
def test_a_text_from_stdin_is_kept_as_it_is(memory: AgentMemory) -> None:
    run(memory, "add", "-", "--date", "2026-03-02", "--key", "note", stdin="Two lines,\nand `code`.\n")

    (item,) = memory.hoprank.search("two lines", corpus=memory.name).items
    assert item.content == "Two lines,\nand `code`."
    assert item.metadata["document"] == "note"


@pytest.mark.slow
def test_merging_is_planned_applied_listed_and_undone(memory: AgentMemory, tmp_path: Path) -> None:
    why = ("--evidence", "package.json")
    run(memory, "fact", "api", "depends_on", "surrealdb", "--create", "library", *why)
    run(memory, "fact", "api", "depends_on", "SurrealDB", "--create", "library", *why)
    plan = str(tmp_path / "plan.json")

    assert "surrealdb" in run(memory, "dedupe", "plan", "--output", plan).stdout
    assert "Merged 1 entity into 1" in run(memory, "dedupe", "apply", plan).stdout
    assert len(memory.graph().find_nodes_by_type("library")) == 2
    assert len(loaded(memory, "dedupe", "list")) == 1
    assert "there again" in run(memory, "dedupe", "undo").stdout
    assert len(memory.graph().find_nodes_by_type("library")) == 3


@pytest.mark.slow
def test_forgetting_asks_and_shows_what_goes(harbour: AgentMemory) -> None:
    assert "would be forgotten" in run(harbour, "forget", "--session", "summer", "--dry-run").stdout
    assert "Give --yes" in run(harbour, "forget", "--session", "summer", code=2).output
    run(harbour, "forget", "--session", "summer", "--yes")

    assert "summer" not in run(harbour, "search", "lighthouse").stdout


def test_a_repository_is_scanned(memory: AgentMemory, tmp_path: Path) -> None:
    (tmp_path / "gauge.py").write_text("def read_gauge():\n    pass\n", encoding="utf-8")

    assert "facts were added" in run(memory, "scan", str(tmp_path), "--scope", "tide").stdout
    assert "gauge.py::read_gauge" in {node.properties["name"] for node in memory.graph().nodes()}


@pytest.mark.slow
def test_a_memory_is_dropped(harbour: AgentMemory) -> None:
    run(harbour, "drop", harbour.name, "--yes")

    assert "There is no memory" in run(harbour, "conflicts", code=2).output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("mentions", "tide-servce"), "tide-service"),
        (("history", "tide-service", "--type", "depend_on"), "depends_on"),
        (("mentions", "tide-service", "--as-of", "yesterday"), "is no time"),
        (("search", "x", "--level", "middle"), "no level"),
        (("search", "x", "--filter", "{"), "isn't JSON"),
        (("invalidate", "tide-service", "depends_on", "hono", "--at", "1999", "--evidence", "x"), "is no time"),
        (("invalidate", "tide-service", "depends_on", "hono", "--at", "1999-01-01", "--evidence", "x"), "holds at"),
        (("invalidate", "tide-service", "depends_on", "hono", "--at", "2026-03-01", "--evidence", " "), "evidence"),
        (("fact", "tide-service", "imports", "hono", "--evidence", "x"), "has an end of type"),
        (("forget", "--dry-run"), "Nothing says what to forget"),
        (("scan", "/nonexistent-folder"), "no folder"),
        (("import", "/nonexistent.json"), "nonexistent.json"),
        (("add", " "), "empty"),
        (("dedupe", "undo"), "merge"),
    ],
)
def test_wrong_input_is_named_with_the_fix_and_changes_nothing(
    shared_harbour: AgentMemory, content_before: list[Any], arguments: tuple[str, ...], said: str
) -> None:
    result = run(shared_harbour, *arguments, code=2)

    assert said in result.output
    assert content(shared_harbour) == content_before


def test_hostile_names_reach_neither_cypher_nor_the_terminal(memory: AgentMemory) -> None:
    hostile = "x`}) DETACH DELETE n //[bold]\x1b[31m"

    run(memory, "fact", hostile, "depends_on", "y", "--create", "library", "--evidence", "z", "--scope", "a`b")

    shown = run(memory, "history", hostile).stdout
    assert "DETACH DELETE n //[bold]" in shown
    assert "\x1b" not in shown
