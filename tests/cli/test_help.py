"""What the command says of itself, and how little it loads to say it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from pipeline.cli.app import app
from pipeline.retrieve.legs import Leg

HEAVY = "torch sentence_transformers transformers neo4j numpy jpype jgo pooch requests"
COMMANDS = {
    "": "Graph RAG on Neo4j without an LLM",
    "quickstart": "Ingest an example",
    "ingest": "Bring a corpus to hold the documents",
    "remove": "Remove documents from a corpus",
    "search": "Print the passages of a corpus",
    "evaluate": "answer its questions by each leg",
    "calibrate": "what each cosine threshold would do",
    "compare": "Compare two evaluations",
    "context": "Print passages for a language model",
    "help": "Show a page of the documentation",
    "corpus": "Corpora",
    "corpus list": "List the corpora",
    "corpus drop": "Delete a corpus",
    "graph": "Knowledge graphs",
    "graph list": "List the graphs",
    "graph import": "Make a graph hold what a file holds",
    "graph export": "Write a graph",
    "graph view": "Draw a graph",
    "graph drop": "Delete a graph",
    "skills": "Skills",
    "skills build": "Make a graph hold the skills",
    "skills list": "List the skills",
    "skills show": "Show a skill",
    "skills related": "why each is related",
    "skills requires": "what a skill requires",
    "skills path": "strongest way between two skills",
    "skills search": "Print the skills that fit",
    "skills check": "Look for missing dependencies",
    "skills order": "what to load",
    "config": "Settings",
    "config show": "where it came from",
    "db": "The embedded Neo4j server",
    "db start": "Start the server",
    "db stop": "stop the server",
    "db status": "Say whether the server runs",
    "db logs": "server's log",
    "db uri": "Print the URI",
}


@pytest.mark.parametrize(("command", "says"), COMMANDS.items())
def test_every_command_explains_itself(command: str, says: str) -> None:
    result = CliRunner().invoke(app, [*command.split(), "--help"])

    assert result.exit_code == 0
    assert says in " ".join(result.stdout.split())


def test_every_option_has_a_help_text() -> None:
    result = CliRunner().invoke(app, ["search", "--help"], env={"COLUMNS": "200"})

    for option in ("--corpus", "--top-k", "--leg", "--explain", "--full", "--filter", "--json", "--model", "--set"):
        assert option in result.stdout
    assert "|".join(Leg) in result.stdout


def test_version() -> None:
    result = CliRunner().invoke(app, ["--version"])

    assert result.stdout == version("hoprank") + "\n"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["help", "graph"], ["config", "show"], ["db", "status"]]
)
def test_what_needs_no_model_and_no_driver_loads_none(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom pipeline.cli.app import app\n"
        f"try: app({arguments})\nexcept SystemExit: pass\n"
        f"print(sorted(set({HEAVY.split()}) & sys.modules.keys()), file=sys.stderr)"
    )

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert result.stderr == "[]\n"


def test_the_shell_completes_commands() -> None:
    asked = {"_HOPRANK_COMPLETE": "complete_bash", "COMP_WORDS": "hoprank ev", "COMP_CWORD": "1"}
    code = "from pipeline.cli import main; main()"

    result = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True, check=True
    )

    assert result.stdout.split() == ["evaluate"]
