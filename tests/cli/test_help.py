"""What the command says of itself, and how little it loads to say it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

import pytest
import rich.markup
import typer.main
from typer.core import TyperGroup
from typer.testing import CliRunner

from pipeline.cli.app import COMMANDS, app
from pipeline.cli.lazy import LazyCommand
from pipeline.edges import MOST_HOPS
from pipeline.registry import registry

HEAVY = "torch sentence_transformers transformers neo4j numpy jpype jgo pooch requests"
FOR_HELP = f"{HEAVY} pydantic_settings watchfiles matplotlib pipeline.api pipeline.settings"
MODULES = {
    **{name: f"pipeline.cli.commands.{target.split(':')[0]}" for name, (target, _) in COMMANDS.items()},
    **{domain.group_name: f"{domain.package}.cli" for domain in registry().domains},
}
"""The module of each command and group."""


def test_every_command_and_option_explains_itself() -> None:
    every = dict(commands(typer.main.get_group(app).commands))
    options = [
        (path, option) for path, command in every.items() for option in command.params if option.opts[0][0] == "-"
    ]

    assert len(every) > 60
    assert [path for path, command in every.items() if not (command.help or "").strip()] == []
    assert [(path, option.opts) for path, option in options if not option.help] == []


def test_no_help_loses_a_word_in_brackets_to_markup() -> None:
    texts = [one.help or "" for _, one in parameters(typer.main.get_group(app).commands)]
    extras = [text for text in texts if "[" in text]

    assert "(needs matplotlib: hoprank[plot])" in " ".join(rich.markup.render(text).plain for text in extras)
    assert [
        text for text in extras if "\\" in rich.markup.render(text).plain or re.search(r"(?<!\\)\[[a-z]", text)
    ] == []


def test_version() -> None:
    result = CliRunner().invoke(app, ["--version"])

    assert result.stdout == version("hoprank") + "\n"


@pytest.mark.parametrize("name", MODULES)
def test_the_root_lists_a_command_by_the_first_paragraph_of_its_help(name: str) -> None:
    listed = typer.main.get_group(app).commands[name]
    assert isinstance(listed, LazyCommand)

    command = listed.load()

    assert command.name == name
    assert command.help.split("\n\n")[0] == listed.help


ALIKE = {
    "--top-k": "--limit",
    "--show": "--limit",
    "--lines": "--limit",
    "--limit": "-n",
    "--hops": "--depth",
    "--as-of": "--at",
    "--valid-at": "--since",
    "--invalid-at": "--until",
    "--out": "--output",
}
"""Names of options, each with the name by which the same is asked for in every command."""


def commands(group: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """All commands below a group, each with its path."""
    for name, listed in group.items():
        command = listed.load() if isinstance(listed, LazyCommand) else listed
        here = f"{path} {name}".strip()
        if isinstance(command, TyperGroup):
            yield from commands(command.commands, here)
        else:
            yield here, command


def parameters(group: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The arguments and options of all commands, each with the path of its command."""
    return ((path, parameter) for path, command in commands(group) for parameter in command.params)


@pytest.fixture(scope="module")
def every_option() -> list[tuple[str, Any]]:
    every = parameters(typer.main.get_group(app).commands)
    return [(command, option) for command, option in every if option.opts[0].startswith("-")]


@pytest.mark.parametrize(("name", "other"), ALIKE.items())
def test_what_means_the_same_is_named_alike_in_every_command(
    every_option: list[tuple[str, Any]], name: str, other: str
) -> None:
    named = {command: option.opts for command, option in every_option if name in option.opts}

    assert named
    assert [command for command, names in named.items() if other not in names] == []


def test_every_depth_has_one_bound(every_option: list[tuple[str, Any]]) -> None:
    bounds = {command: option.max for command, option in every_option if "--depth" in option.opts}

    assert bounds.pop("graph view") is None
    assert set(bounds.values()) == {MOST_HOPS}


def loaded(arguments: list[str], modules: str) -> str:
    """Which of ``modules`` a command loads, and which modules of commands."""
    code = (
        f"import sys\nfrom pipeline.cli.app import app\ntry: app({arguments})\nexcept SystemExit: pass\n"
        f"found = sys.modules.keys() & {set(MODULES.values())}\n"
        f"print(*sorted(found | (set({modules.split()}) & sys.modules.keys())), file=sys.stderr)"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.splitlines()[
        -1
    ]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["nonsense"]])
def test_the_root_loads_no_command(arguments: list[str]) -> None:
    assert loaded(arguments, f"{FOR_HELP} {'importlib.metadata' if '--help' in arguments else ''}") == ""


def test_the_help_of_a_command_loads_neither_driver_nor_settings() -> None:
    """One process asks for all: what a help has loaded is forgotten, so that another that loads it is seen, too."""
    code = (
        "import contextlib, io, json, sys\nfrom pipeline.cli.app import app\n"
        f"told, watched = {{}}, {set(MODULES.values()) | set(FOR_HELP.split())}\n"
        f"for name in {list(MODULES)}:\n"
        "    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): app([name, '--help'])\n"
        "    told[name] = sorted(watched & sys.modules.keys())\n"
        "    for module in told[name]: del sys.modules[module]\n"
        "print(json.dumps(told))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert json.loads(ran.stdout) == {name: [module] for name, module in MODULES.items()}


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["config", "show"], ["db", "status"], ["help", "graph"]])
def test_what_needs_no_model_and_no_driver_loads_none(arguments: list[str]) -> None:
    assert loaded(arguments, HEAVY) == f"pipeline.cli.commands.{arguments[0]}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("hoprank ev", ["evaluate"]),
        ("hoprank corpus re", ["rename"]),
        ("hoprank search --top", ["--top-k"]),
        ("hoprank search question --leg gr", ["graph"]),
        ("hoprank help sca", ["scale"]),
    ],
)
def test_the_shell_completes_commands_options_and_values(words: str, completions: list[str]) -> None:
    asked = {"_HOPRANK_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": f"{len(words.split()) - 1}"}
    code = "from pipeline.cli import main; main()"

    result = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True, check=True
    )

    assert result.stdout.split() == completions
