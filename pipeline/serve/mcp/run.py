"""Run the server: over standard streams for one client, or over HTTP for many, with tokens and limits."""

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from pipeline.errors import TooManyRequests, Unauthenticated
from pipeline.files.limits import MEGABYTE
from pipeline.serve.access import Access, Grant
from pipeline.serve.gate import Gate
from pipeline.serve.listening import serve_app
from pipeline.serve.mcp.server import make_server
from pipeline.serve.mcp.service import Service
from pipeline.serve.mcp.tools.table import Tool
from pipeline.serve.rate import RETRY_SECONDS, LimitRate
from pipeline.telemetry import flush

_FLUSH_SECONDS = 2.0  # for traces that aren't sent yet; chosen by hand: clients kill a server that takes 5


def serve_stdio(service: Service, tools: Sequence[Tool]) -> None:
    """Serve one client over the standard streams until it closes them, or until SIGINT or SIGTERM.

    Nothing but messages of the protocol is written to stdout: what anything else prints goes to stderr.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    # A client may give up on its first search before Neo4j and the model are there.
    threading.Thread(target=service.warm_up, daemon=True).start()
    try:
        anyio.run(_serve_streams, service, tools)
    except* (ConnectionError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        # The client went away, and nobody reads what is left to say.
        _leave(signal.SIGTERM, None)
    finally:
        service.close()


def serve_http(
    service: Service, tools: Sequence[Tool], access: Access, host: str, sock: socket.socket, ready: Callable[[], None]
) -> None:
    """Serve many clients over streamable HTTP on a listening socket until SIGINT or SIGTERM."""
    logging.getLogger("mcp.server.streamable_http").addFilter(_is_news)
    serve_app(make_app(service, tools, access, host), sock, service.settings, ready)


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether to log a record; that a client went away before its request was whole is no error of ours."""
    return not (record.exc_info and isinstance(record.exc_info[1], ClientDisconnect))


async def _serve_streams(service: Service, tools: Sequence[Tool]) -> None:
    # No time limits: the first call waits for Neo4j and the model, and whoever started the server can end it.
    server = make_server(service, tools, Gate(service.settings.max_searches), lambda _: Grant())
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _leave(number: int, _: FrameType | None) -> None:
    # The thread that waits for the next line of stdin can't be interrupted, so no orderly end would come. A write that
    # is under way was not published, and the next one cleans up after it.
    sys.stderr.flush()
    flush(_FLUSH_SECONDS)
    os._exit(130 if number == signal.SIGINT else 0)


PATH = "/mcp"
"""The path at which the protocol is spoken."""

_GRANT = "hoprank.grant"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_ANY = ("0.0.0.0", "::", "")  # noqa: S104 - recognised, not bound


def make_app(service: Service, tools: Iterable[Tool], access: Access, host: str) -> ASGIApp:
    """Return the application of a server that listens at ``host``.

    It keeps no sessions, so that a restart or a second process loses nothing.
    """
    settings = service.settings
    gate = Gate(settings.max_searches, settings.queue_timeout, settings.request_timeout)
    app = make_server(service, list(tools), gate, _grant_of).streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=int(settings.max_megabytes * MEGABYTE),
        transport_security=_security(host, settings.origins),
    )
    guarded: ASGIApp = RequireToken(app, access)
    if settings.rate:
        guarded = LimitRate(guarded, settings.rate, access, _too_many)
    if not settings.origins:
        return guarded
    return CORSMiddleware(
        guarded,
        allow_origins=list(settings.origins),
        allow_methods=["*"],
        allow_headers=["*"],
        expose_headers=["Mcp-Session-Id"],
    )


class RequireToken:
    """Answers requests without a valid token with 401, and hands the rights of the others on."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            try:
                scope[_GRANT] = self._access.grant(Headers(scope=scope).get("authorization"))
            except Unauthenticated as error:
                refusal = PlainTextResponse(f"{error}\n", 401, {"WWW-Authenticate": "Bearer"})
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _too_many(error: TooManyRequests) -> ASGIApp:
    return PlainTextResponse(f"{error}\n", 429, {"Retry-After": str(RETRY_SECONDS)})


def _grant_of(context: ServerRequestContext[Any, Any]) -> Grant:
    if context.request is None:
        raise Unauthenticated("The call came without a request.", "Call over HTTP, with a token.")
    grant: Grant = context.request.scope[_GRANT]
    return grant


def _security(host: str, origins: Iterable[str]) -> TransportSecuritySettings:
    """Return the names by which requests may call the server, and the pages elsewhere that may.

    A web page whose name was made to lead here sends that name. A server that listens at every address has names that
    it doesn't know; there its token, which such a page lacks, is the protection.
    """
    pages = [urlsplit(origin) for origin in origins]
    own = [f"[{host}]" if ":" in host else host, *_LOOPBACK]
    hosts = [*own, *(f"{name}:*" for name in own), *(page.netloc for page in pages)]
    local = [f"{scheme}://{name}" for scheme in ("http", "https") for name in own]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=host not in _ANY,
        allowed_hosts=hosts,
        allowed_origins=[*local, *(f"{one}:*" for one in local), *origins],
    )
