"""Servers as users start them, one over each transport, and the client of the protocol's own package."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

HOPRANK = [sys.executable, "-c", "from pipeline.cli import main; main()"]
FULL, READER, WRITER = "full-of-rights-0001", "reads-the-library-1", "writes-one-corpus-1"
WRITTEN = "test-mcp-written"
"""The corpus of the one token that writes into a corpus only."""


class Talk:
    """A connected client, called from a test's thread."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client

    def ask(self, method: str, *arguments: Any, **options: Any) -> Any:
        """Call a method of the client; results that a server describes are checked by the client."""

        async def asked() -> Any:
            return await getattr(self.client, method)(*arguments, **options)

        return self._portal.call(asked)

    def result(self, tool: str, **arguments: Any) -> CallToolResult:
        result: CallToolResult = self.ask("call_tool", tool, arguments)
        return result

    def call(self, tool: str, **arguments: Any) -> Any:
        """Return the structured content of a call that succeeds."""
        result = self.result(tool, **arguments)
        assert not result.is_error, text_of(result)
        return result.structured_content

    def refusal(self, tool: str, **arguments: Any) -> str:
        """Return the message of a call that fails."""
        result = self.result(tool, **arguments)
        assert result.is_error
        assert result.structured_content is None
        return text_of(result)


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


Connect = Callable[..., AbstractContextManager[Talk]]


@pytest.fixture(scope="session")
def given_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the servers may read."""
    folder = tmp_path_factory.mktemp("given")
    (folder / "yard.md").write_text("# The yard\n\nAgnes Corrigall founded the yard at Tarrow.\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@contextmanager
def talking(portal: BlockingPortal, transport: Any, mode: Literal["auto", "legacy"] = "auto") -> Iterator[Talk]:
    with portal.wrap_async_context_manager(Client(transport, mode=mode, cache=None)) as client:
        yield Talk(portal, client)


@pytest.fixture(scope="session")
def stdio(portal: BlockingPortal, server_environment: dict[str, str], given_folder: Path) -> Iterator[Talk]:
    """A client of a server of its own, over the standard streams."""
    arguments = [*HOPRANK[1:], "mcp", "--folder", str(given_folder)]
    parameters = StdioServerParameters(command=HOPRANK[0], args=arguments, env=os.environ | server_environment)
    with talking(portal, stdio_client(parameters)) as talk:
        yield talk


@pytest.fixture(scope="session")
def url(server_environment: dict[str, str], library: str, given_folder: Path) -> Iterator[str]:
    """The address of a server over HTTP, with three tokens."""
    tokens = [
        {"token": READER, "corpora": [library]},
        {"token": WRITER, "corpora": [library, WRITTEN], "write": True},
    ]
    named = {"HOPRANK_SERVE__TOKEN": FULL, "HOPRANK_SERVE__TOKENS": json.dumps(tokens)}
    with http_server(server_environment | named, "--folder", str(given_folder)) as server:
        yield server.url


@dataclass
class HttpServer:
    """A running ``hoprank mcp --http``: its address, its process, and the lines that it wrote to stderr."""

    url: str
    process: subprocess.Popen[str]
    said: list[str]


@contextmanager
def http_server(environment: Mapping[str, str], *options: str) -> Iterator[HttpServer]:
    """Start a server on a free port, and end it."""
    with subprocess.Popen(
        [*HOPRANK, "mcp", "--http", "--port", "0", *options],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        said: list[str] = []
        try:
            for line in process.stderr:
                said.append(line)
                if found := re.search(r"serves MCP at (\S+/mcp)\.", line):
                    break
            else:
                pytest.fail("".join(said))
            rest = threading.Thread(target=said.extend, args=[process.stderr], daemon=True)
            rest.start()
            yield HttpServer(found[1], process, said)
        finally:
            process.terminate()
            process.wait(30)


@contextmanager
def talking_over_http(
    portal: BlockingPortal, url: str, token: str, mode: Literal["auto", "legacy"] = "auto"
) -> Iterator[Talk]:
    """Connect a client to a server over HTTP, with a token."""

    def open_client() -> httpx2.AsyncClient:
        return httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60, trust_env=False)

    with (
        portal.wrap_async_context_manager(portal.call(open_client)) as client,
        talking(portal, streamable_http_client(url, http_client=client), mode) as talk,
    ):
        yield talk


@pytest.fixture(scope="session")
def over_http(portal: BlockingPortal, url: str) -> Connect:
    """Connect a client to the server over HTTP, with a token."""

    def connect(token: str = FULL, mode: Literal["auto", "legacy"] = "auto") -> AbstractContextManager[Talk]:
        return talking_over_http(portal, url, token, mode)

    return connect


@pytest.fixture(scope="session")
def http(over_http: Connect) -> Iterator[Talk]:
    """A client over HTTP with all rights."""
    with over_http() as talk:
        yield talk


@pytest.fixture(params=["stdio", "http"])
def talk(request: pytest.FixtureRequest, server_environment: dict[str, str]) -> Talk:
    """A client over each transport; by ``server_environment`` its tests are known to need a server."""
    connected: Talk = request.getfixturevalue(request.param)
    return connected
