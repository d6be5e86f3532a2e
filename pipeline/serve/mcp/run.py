"""Run the server: over standard streams for one client, or over HTTP for many."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType

import anyio
from mcp.server.stdio import stdio_server

from pipeline.serve.access import Access, Grant
from pipeline.serve.gate import Gate
from pipeline.serve.listening import serve_app
from pipeline.serve.mcp.http import make_app
from pipeline.serve.mcp.server import make_server
from pipeline.serve.mcp.service import Service
from pipeline.serve.mcp.tools.table import Tool

_INTERRUPTED = 130


def serve_stdio(service: Service, tools: Sequence[Tool]) -> None:
    """Serve one client over the standard streams until it closes them, or until SIGINT or SIGTERM.

    Nothing but messages of the protocol is written to stdout: what anything else prints goes to stderr.
    """
    log_to_stderr()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    # A client may give up on its first search before Neo4j and the model are there.
    threading.Thread(target=service.warm_up, daemon=True).start()
    try:
        anyio.run(_serve_streams, service, tools)
    finally:
        service.close()


def serve_http(
    service: Service, tools: Sequence[Tool], access: Access, host: str, sock: socket.socket, ready: Callable[[], None]
) -> None:
    """Serve many clients over streamable HTTP on a listening socket until SIGINT or SIGTERM."""
    log_to_stderr()
    serve_app(make_app(service, tools, access, host), sock, service.settings.shutdown_timeout, ready)


def log_to_stderr() -> None:
    """Write warnings of HopRank, of the protocol and of uvicorn to stderr."""
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")


async def _serve_streams(service: Service, tools: Sequence[Tool]) -> None:
    # No time limits: the first call waits for Neo4j and the model, and whoever started the server can end it.
    server = make_server(service, tools, Gate(service.settings.max_searches), lambda _: Grant())
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _leave(number: int, _: FrameType | None) -> None:
    # The thread that waits for the next line of stdin can't be interrupted, so no orderly end would come. A write that
    # is under way was not published, and the next one cleans up after it.
    sys.stderr.flush()
    os._exit(_INTERRUPTED if number == signal.SIGINT else 0)
