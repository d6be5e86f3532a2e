"""Streamable HTTP: the application with its tokens, limits, and protection against rebinding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from mcp.server.context import ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from pipeline.errors import TooManyRequests, Unauthenticated
from pipeline.files.limits import MEGABYTE
from pipeline.serve.access import Access, Grant
from pipeline.serve.gate import Gate
from pipeline.serve.mcp.server import make_server
from pipeline.serve.mcp.service import Service
from pipeline.serve.mcp.tools.table import Tool
from pipeline.serve.rate import RETRY_SECONDS, LimitRate

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
