"""Configurations of clients: valid JSON with each client's own keys, and a command that works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pipeline.cli.app import app
from pipeline.serve.mcp import client_config
from pipeline.serve.mcp.client_config import hoprank_command


def printed(*options: str, **environment: str | None) -> Any:
    result = CliRunner().invoke(app, ["mcp", "--print-config", *options], env=environment)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE", "HOPRANK_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_each_client_has_its_own_keys() -> None:
    command, *before = hoprank_command()
    entry = {"command": command, "args": [*before, "mcp"]}

    assert printed("claude") == {"mcpServers": {"hoprank": {"type": "stdio"} | entry}}
    assert printed("cursor") == {"mcpServers": {"hoprank": entry}}
    assert printed("vscode") == {"servers": {"hoprank": {"type": "stdio"} | entry}}


def test_the_options_of_the_command_are_repeated(tmp_path: Path) -> None:
    given = {"--folder": str(tmp_path), "--domain": "vault", "--set": "embed.device=cpu"}
    options = ["--corpus", "docs", "--read-only", *(word for option in given.items() for word in option)]

    entry = printed("claude", *options)["mcpServers"]["hoprank"]

    assert entry["args"][-len(options) :] == options


def test_the_server_is_passed_on_without_its_password() -> None:
    given = {"NEO4J_URI": "neo4j+s://graph.example.org", "NEO4J_PASSWORD": "very-secret"}

    for client, reference in (
        ("claude", "${NEO4J_PASSWORD}"),
        ("cursor", "${env:NEO4J_PASSWORD}"),
        ("vscode", "${input:NEO4J_PASSWORD}"),
    ):
        config = printed(client, **given)
        (entry,) = next(iter(config.values())).values()
        assert entry["env"] == {"NEO4J_URI": given["NEO4J_URI"], "NEO4J_PASSWORD": reference}
        assert "very-secret" not in json.dumps(config)
        assert [one["id"] for one in config.get("inputs", ())] == ["NEO4J_PASSWORD"] * (client == "vscode")


def test_over_http_the_token_is_referred_to() -> None:
    token = {"HOPRANK_SERVE__TOKEN": "full-of-rights-0001"}

    assert printed("cursor", "--http") == {"mcpServers": {"hoprank": {"url": "http://127.0.0.1:8766/mcp"}}}
    assert printed("claude", "--http", "--port", "80", **token)["mcpServers"]["hoprank"] == {
        "type": "http",
        "url": "http://127.0.0.1:80/mcp",
        "headers": {"Authorization": "Bearer ${HOPRANK_SERVE__TOKEN}"},
    }
    remote = printed("vscode", "--http", "--host", "search.example.org")
    assert remote["servers"]["hoprank"]["headers"] == {"Authorization": "Bearer ${input:HOPRANK_SERVE__TOKEN}"}
    assert remote["inputs"] == [
        {
            "type": "promptString",
            "id": "HOPRANK_SERVE__TOKEN",
            "description": "HOPRANK_SERVE__TOKEN",
            "password": True,
        }
    ]


def test_the_command_is_this_hoprank() -> None:
    command = hoprank_command()

    assert Path(command[0]).is_absolute()
    done = subprocess.run([*command, "mcp", "--help"], capture_output=True, text=True, check=True)
    assert "Model Context Protocol" in " ".join(done.stdout.split())


@pytest.mark.parametrize("reason", ["no command", "no package", "a cache"])
def test_otherwise_uvx_installs_it(reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    match reason:
        case "no command":
            monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
        case "no package":
            monkeypatch.setattr(client_config, "find_spec", lambda _: None)
        case _:
            home = tmp_path / "archive-v0" / "abc" / "bin"
            home.mkdir(parents=True)
            (home / "hoprank").touch(mode=0o755)
            monkeypatch.setattr(sys, "executable", str(home / "python"))

    assert hoprank_command() == ["uvx", "--from", "hoprank[mcp]", "hoprank"]


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--http",)])
def test_without_the_extra_it_is_named(options: tuple[str, ...]) -> None:
    code = (
        "import sys\nsys.modules['mcp'] = None\n"
        f"sys.argv = {['hoprank', 'mcp', *options]}\nfrom pipeline.cli import main\nmain()"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert 'uv pip install -e ".[mcp]"' in done.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--domain", "skill"], "Did you mean 'skills'?"),
        (["--http", "--host", "0.0.0.0"], "HOPRANK_SERVE__TOKEN"),  # noqa: S104 - what is refused
    ],
)
def test_what_can_t_be_served_is_wrong_input(options: list[str], says: str) -> None:
    result = CliRunner().invoke(app, ["mcp", *options])

    assert result.exit_code == 2
    assert says in result.stderr
