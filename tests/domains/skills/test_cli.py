"""``hoprank skills`` as its users run it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline import KnowledgeGraph
from pipeline.cli.app import app
from pipeline.db.client import Client

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def run(client: Client, server_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Run a command on a graph of two skills."""
    folder = tmp_path_factory.mktemp("skills")
    name = f"test-{uuid.uuid4().hex[:12]}"
    for skill, needs in (("reading", "[writing, torch>=2]"), ("writing", "[]")):
        (folder / skill).mkdir()
        (folder / skill / "SKILL.md").write_text(
            f"---\nname: {skill}\ndescription: Do some {skill}.\ntags: [Text]\ndependencies: {needs}\n---\n# {skill}\n"
        )

    def command(*arguments: str) -> Result:
        return CliRunner().invoke(
            app, ["skills", *arguments, "--graph", name], env={**server_environment, "COLUMNS": "100"}
        )

    assert command("build", str(folder)).exit_code == 0
    yield command
    KnowledgeGraph(name, client=client).drop()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["related", "reading"], "requires it"),
        (["requires", "reading", "--transitive"], "packages  torch"),
        (["search", "read a text"], "reading"),
        (["check", "--strict"], "missing dependencies"),
        (["order", "reading"], "writing\nreading"),
    ],
)
def test_each_question_is_answered(run: Run, arguments: list[str], says: str) -> None:
    result = run(*arguments)

    assert result.exit_code == 0, result.output
    assert says in result.stdout
    assert json.loads(run(*(one for one in arguments if one != "--strict"), "--json").stdout)


def test_wrong_input_ends_with_2(run: Run, tmp_path: Path) -> None:
    for arguments, says in (
        (["order", "riting"], "Did you mean 'writing'"),
        (["build", str(tmp_path)], "holds no skill"),
    ):
        result = run(*arguments)

        assert result.exit_code == 2
        assert says in result.stderr
