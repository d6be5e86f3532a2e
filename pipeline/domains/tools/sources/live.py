"""Ask live MCP servers for their tools: a command that talks over its standard streams, or an HTTP address."""

from __future__ import annotations

import logging
import shlex
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, TextIO
from urllib.parse import urlsplit

from pipeline.domains.tools.catalogue import Catalogue, Service
from pipeline.domains.tools.sources.formats import LONGEST_NAME, catalogue_of
from pipeline.domains.tools.sources.paths import merged
from pipeline.errors import ExtraMissing, SourceError
from pipeline.files import well_formed
from pipeline.ids import digest
from pipeline.records import Skipped

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client import Transport
    from mcp_types import Tool

MOST_PAGES = 100
"""Most pages of tools that are read: a server may never end. Chosen by hand."""

# The faults that it logs, with tracebacks, are raised here.
logging.getLogger("mcp").addHandler(logging.NullHandler())


def list_live(target: str | Sequence[str], *, timeout: float = 30, env: Mapping[str, str] | None = None) -> Catalogue:
    """Return the service and the tools of a live MCP server; call it outside of an event loop.

    ``target`` is the address of a server that speaks streamable HTTP (http:// or https://), else a command with its
    arguments, which is started and ended. ``timeout`` is in seconds; to end a command that goes on takes up to seven
    more. ``env`` are further environment variables of the command: of the caller's own it gets PATH, HOME and the like.
    Raises SourceError if there is no such server, and ExtraMissing if the package mcp isn't installed.
    """
    try:
        import anyio
        import mcp  # noqa: F401 - what isn't there is found out before a server is started
    except ImportError as error:
        raise ExtraMissing.of("mcp", error) from error
    server = _Server(target, env)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        try:
            return merged([anyio.run(server.catalogue, timeout, errors)])
        # broad: transports raise errors of many packages, some in groups
        except Exception as error:
            errors.seek(max(0, errors.seek(0, 2) - 10_000))  # bytes; by hand
            last_lines = (_shown(line) for line in reversed(errors.read().splitlines()) if line.strip())
            raise server.error(_first(error), timeout, next(last_lines, "")) from None


class _Server:
    """A server to ask. ``name`` is for messages: the command, or the address without secrets."""

    def __init__(self, target: str | Sequence[str], env: Mapping[str, str] | None) -> None:
        self._env, self._strays = env, 0
        self._command: list[str] = []
        self._url = ""
        if isinstance(target, str) and target.casefold().startswith(("http://", "https://")):
            self._url = target
            self.name, self._fallback = _place(target)
        else:
            self._command = _words(target)
            self.name, self._fallback = shlex.join(self._command), PurePath(self._command[0]).name

    async def catalogue(self, timeout: float, errors: TextIO) -> Catalogue:
        """Return the service and its tools. Raises TimeoutError, and whatever the transport raises."""
        import anyio

        with anyio.fail_after(timeout):
            async with self._connected(errors) as client:
                service = self._service(client)
                tools, skipped = await self._tools(client)
        listed = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
        read = catalogue_of(service, listed, self.name)
        return replace(read, skipped=[*read.skipped, *skipped])

    def error(self, error: Exception, timeout: float, last_line: str) -> SourceError:
        """Return the error to raise; ``last_line`` is what the server last wrote to standard error."""
        from mcp import MCPError

        fix = "Check that the command starts an MCP server that talks over its standard streams."
        if self._url:
            fix = "Check the address; it often ends with /mcp."
        if isinstance(error, TimeoutError):
            strays = ", and prints what isn't MCP" if self._strays else ""
            problem = f"doesn't answer within {timeout:g} seconds{strays}"
        elif isinstance(error, OSError) and not self._url:
            return SourceError(f"{self.name} can't be started: {error.strerror or error}.", "Check the command.")
        elif isinstance(error, MCPError) and not self._url and error.message == "Connection closed":
            strays = ", and printed what isn't MCP" if self._strays else ""
            problem = f"ended before it answered{strays}"
        else:
            problem = f"doesn't answer as an MCP server: {_shown(str(error)) or type(error).__name__}"
        return SourceError(f"{self.name} {problem}.{last_line and f' Its last words: {last_line}'}", fix)

    @asynccontextmanager
    async def _connected(self, errors: TextIO) -> AsyncIterator[Client]:
        """Yield a client: by the versions of the protocol with a handshake, else by those without."""
        from mcp import Client, MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        def client(mode: Literal["legacy", "auto"]) -> Client:
            return Client(self._transport(errors), mode=mode, message_handler=self._count, cache=None)

        async with AsyncExitStack() as stack:
            try:
                connected = await stack.enter_async_context(client("legacy"))
            except Exception as error:
                refusal = _first(error)
                if not isinstance(refusal, MCPError) or refusal.code in (CONNECTION_CLOSED, REQUEST_TIMEOUT):
                    raise
                connected = await stack.enter_async_context(client("auto"))
            yield connected

    def _transport(self, errors: TextIO) -> Transport:
        from mcp.client.stdio import StdioServerParameters, stdio_client
        from mcp.client.streamable_http import streamable_http_client

        if self._url:
            return streamable_http_client(self._url)
        command, *arguments = self._command
        return stdio_client(StdioServerParameters(command=command, args=arguments, env=dict(self._env or {})), errors)

    async def _count(self, message: object) -> None:
        """Count what the server sends besides messages of the protocol."""
        self._strays += isinstance(message, Exception)

    def _service(self, client: Client) -> Service:
        info = client.server_info
        name = well_formed(info.name) if info else ""
        if not name.strip() or len(name) > LONGEST_NAME:
            name = self._fallback[:LONGEST_NAME]
        title = well_formed((info.title if info else None) or "")
        # a digest: arguments may be secret
        origin = digest("server", self.name)
        return Service(name, title[:LONGEST_NAME] or name, well_formed(client.instructions or ""), origin=origin)

    async def _tools(self, client: Client) -> tuple[list[Tool], list[Skipped]]:
        """Return the tools of all pages, up to MOST_PAGES; none of a server that offers none."""
        tools: list[Tool] = []
        if client.server_capabilities.tools is None:
            return tools, []
        cursors: list[str | None] = [None]
        while len(cursors) <= MOST_PAGES:
            page = await client.list_tools(cursor=cursors[-1])
            tools.extend(page.tools)
            if not page.next_cursor:
                return tools, []
            if page.next_cursor in cursors:
                return tools, [Skipped(self.name, "repeats its pages of tools: the rest is left out")]
            cursors.append(page.next_cursor)
        return tools, [Skipped(self.name, f"has more than {MOST_PAGES} pages of tools: the rest is left out")]


def _words(target: str | Sequence[str]) -> list[str]:
    """Return a command and its arguments; a text is split as a shell does it."""
    try:
        words = shlex.split(target) if isinstance(target, str) else list(target)
    except ValueError as error:
        raise SourceError(f"{target} is no command: {str(error).lower()}.", "Close the quotes.") from None
    if not words or not words[0]:
        raise SourceError("No server was given.", "Give a command with its arguments, or an http(s):// address.")
    return words


def _place(url: str) -> tuple[str, str]:
    """Return an address without user, password and query, and its host."""
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.hostname:
            return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}", parts.hostname
    known = url.rpartition("@")[2].partition("?")[0]
    raise SourceError(f"{known} is no address.", "Give one such as https://example.com/mcp.")


def _first(error: BaseException) -> Exception:
    """Return the error itself, or the first in a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, Exception) else RuntimeError(str(error))


def _shown(text: str) -> str:
    """Return the first line of a text, without control characters, and not too long."""
    line = next(iter(text.strip().splitlines()), "")
    return "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in line)[:200]
