"""Configurations of clients: the JSON that makes Claude, Cursor or VS Code use the server."""

import os
import shutil
import sys
from collections.abc import Sequence
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pipeline.addresses import check_has_no_login

_TOKEN = "HOPRANK_SERVE__TOKEN"  # noqa: S105 - the name of a variable
_PASSED_ON = ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_DATABASE", "HOPRANK_HOME")
_PASSWORD = "NEO4J_PASSWORD"  # noqa: S105 - the name of a variable
_NAME = "hoprank"


class McpClient(StrEnum):
    """A client whose configuration can be printed."""

    CLAUDE = "claude"
    CURSOR = "cursor"
    VSCODE = "vscode"

    def reference(self, variable: str) -> str:
        """Return how the client's configuration refers to a secret."""
        kind = {McpClient.CURSOR: "env:", McpClient.VSCODE: "input:"}.get(self, "")
        return f"${{{kind}{variable}}}"


def command_config(client: McpClient, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the configuration of a client that starts ``hoprank mcp`` with further ``arguments``.

    The variables that name the server of Neo4j are passed on as they are now, its password by reference: programs
    with windows don't have the environment of a shell. Raises ConfigurationError if the address holds a password.
    """
    command, *before = hoprank_command()
    entry: dict[str, Any] = {"type": "stdio", "command": command, "args": [*before, "mcp", *arguments]}
    check_has_no_login(os.environ.get("NEO4J_URI", ""))
    environment = {name: os.environ[name] for name in _PASSED_ON if os.environ.get(name)}
    if os.environ.get(_PASSWORD):
        environment[_PASSWORD] = client.reference(_PASSWORD)
    if environment:
        entry["env"] = environment
    return _document(client, entry, [_PASSWORD] if _PASSWORD in environment else [])


def address_config(client: McpClient, url: str, *, with_token: bool) -> dict[str, Any]:
    """Return the configuration of a client that calls a server at ``url``, if need be with a token by reference."""
    entry: dict[str, Any] = {"type": "http", "url": url}
    if with_token:
        entry["headers"] = {"Authorization": f"Bearer {client.reference(_TOKEN)}"}
    return _document(client, entry, [_TOKEN] if with_token else [])


def hoprank_command() -> list[str]:
    """Return the command that runs this HopRank: its absolute path, else uvx, which installs it.

    uvx is also for a HopRank that uvx itself runs, whose path lasts as long as its cache, and for one that lacks the
    package mcp.
    """
    here = Path(sys.executable).parent
    found = shutil.which(_NAME, path=str(here))
    in_cache = any(part.startswith(("archive-v", "environments-v")) for part in here.parts)
    if found and find_spec("mcp") and not in_cache:
        return [found]
    return ["uvx", "--from", "hoprank[mcp]", _NAME]


def _document(client: McpClient, entry: dict[str, Any], secrets: Sequence[str]) -> dict[str, Any]:
    if client is not McpClient.VSCODE:
        if client is McpClient.CURSOR:
            # Cursor tells the two kinds apart by their keys.
            entry.pop("type")
        return {"mcpServers": {_NAME: entry}}
    inputs = [{"type": "promptString", "id": name, "description": name, "password": True} for name in secrets]
    return {"servers": {_NAME: entry}} | ({"inputs": inputs} if inputs else {})
