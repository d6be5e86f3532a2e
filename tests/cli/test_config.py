"""``hoprank config show``: values, where they came from, and no secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline.cli.app import app
from pipeline.settings import provenance


def show(*arguments: str, **environment: str) -> dict[str, dict[str, str]]:
    result = CliRunner().invoke(app, ["config", "show", "--json", *arguments], env=environment)
    assert result.exit_code == 0, result.stderr
    shown: dict[str, dict[str, str]] = json.loads(result.stdout)
    return shown


def test_stronger_sources_win_and_are_named(tmp_path: Path) -> None:
    chosen = tmp_path / "mine.toml"
    chosen.write_text("[walk]\ndamping = 0.5\nlink = 1.0\n[retrieve]\nfuse_k = 1.0\n")

    shown = show("--set", "walk.link=4", HOPRANK_CONFIG=str(chosen), HOPRANK_RETRIEVE__FUSE_K="2.5")

    assert shown["walk.damping"] == {"value": "0.5", "origin": str(chosen)}
    assert shown["retrieve.fuse_k"] == {"value": "2.5", "origin": "HOPRANK_RETRIEVE__FUSE_K"}
    assert shown["walk.link"] == {"value": "4.0", "origin": "flag"}


def test_secrets_are_masked() -> None:
    result = CliRunner().invoke(app, ["config", "show"], env={"NEO4J_PASSWORD": "correct-horse"})

    assert "correct-horse" not in result.output
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("neo4j.password"))
    assert line.split()[1:] == ["**********", "NEO4J_PASSWORD"]


def test_every_setting_is_one_line() -> None:
    result = CliRunner().invoke(app, ["config", "show"])

    assert [line.split()[0] for line in result.stdout.splitlines()] == [row.name for row in provenance()]


@pytest.mark.parametrize(
    ("assignments", "says"),
    [
        ("walk=1 walk.damping=0.5", "contradicts"),
        ("walk.damping", "isn't NAME=VALUE"),
        ("walk..damping=1", "isn't NAME=VALUE"),
        ("walk.damping=2", "walk.damping (flag)"),
    ],
)
def test_a_wrong_assignment_is_wrong_input(assignments: str, says: str) -> None:
    given = [word for assignment in assignments.split() for word in ("--set", assignment)]
    result = CliRunner().invoke(app, ["config", "show", *given])

    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stdout == ""
