"""Configurations of clients: the JSON that makes Claude, Cursor or VS Code use the server."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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
        match self:
            case McpClient.CLAUDE:
                return f"${{{variable}}}"
            case McpClient.CURSOR:
                return f"${{env:{variable}}}"
            case McpClient.VSCODE:
                return f"${{input:{variable}}}"


def command_config(client: McpClient, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the configuration of a client that starts ``hoprank mcp`` with further ``arguments``.

    The variables that name the server of Neo4j are passed on as they are now, its password by reference: programs
    with windows don't have the environment of a shell.
    """
    command, *before = hoprank_command()
    entry: dict[str, Any] = {"type": "stdio", "command": command, "args": [*before, "mcp", *arguments]}
    if environment := dict(_environment(client)):
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
    if found and find_spec("mcp") and not _is_in_cache(here):
        return [found]
    return ["uvx", "--from", "hoprank[mcp]", _NAME]


def _is_in_cache(folder: Path) -> bool:
    return any(part.startswith(("archive-v", "environments-v")) for part in folder.parts)


def _environment(client: McpClient) -> Iterator[tuple[str, str]]:
    for name in _PASSED_ON:
        if os.environ.get(name):
            yield name, os.environ[name]
    if os.environ.get(_PASSWORD):
        yield _PASSWORD, client.reference(_PASSWORD)


def _document(client: McpClient, entry: dict[str, Any], secrets: Sequence[str]) -> dict[str, Any]:
    if client is not McpClient.VSCODE:
        if client is McpClient.CURSOR:
            # Cursor tells the two kinds apart by their keys.
            entry.pop("type")
        return {"mcpServers": {_NAME: entry}}
    inputs = [{"type": "promptString", "id": name, "description": name, "password": True} for name in secrets]
    return {"servers": {_NAME: entry}} | ({"inputs": inputs} if inputs else {})
