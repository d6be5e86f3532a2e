"""The README and what it speaks of agree."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline.cli.app import app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = "\n".join(re.findall(r"^```sh\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL))
COMMANDS = re.findall(r"(?:^|&& |/bin/|uv run |--no-sync )hoprank (.*?)(?: +#.*)?$", SHELL, flags=re.MULTILINE)


def test_ci_runs_the_readme_s_line() -> None:
    (line,) = (line for line in SHELL.splitlines() if "pytest" in line)

    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1] == line


def test_there_are_commands_to_check() -> None:
    assert len(COMMANDS) > 10


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_one_that_there_is(command: str) -> None:
    # --help ends the command before it does anything, but after its options were read.
    result = CliRunner().invoke(app, [*shlex.split(command), "--help"])

    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#]+)\)", README))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


def test_what_it_sends_newcomers_to_is_there() -> None:
    tree = README[README.index("    pipeline/\n") : README.index("## Licence")]
    entries = re.findall(r"^ {4}( *)(\S+)", tree, flags=re.MULTILINE)

    for indent, name in entries:
        assert (ROOT / ("pipeline" if indent else "") / name).exists()


def test_pinned_versions_name_no_host() -> None:
    constraints = (ROOT / "configs" / "constraints.txt").read_text(encoding="utf-8")
    pins = [line for line in constraints.splitlines() if line and not line.startswith("#")]

    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[^/@]+", pin) for pin in pins)
