"""Middleware: request ids, a limit on bodies, security headers, and metrics. All are plain ASGI."""

import logging
import re
import time
import uuid
from collections.abc import Collection

from fastapi.responses import Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipeline.addresses import is_loopback
from pipeline.errors import Forbidden, TooLarge, Unauthenticated
from pipeline.files.limits import MEGABYTE
from pipeline.serve.access import Access
from pipeline.serve.http.metrics import Metrics, method_of
from pipeline.serve.http.problems import response, response_of
from pipeline.serve.listening import own_path
from pipeline.telemetry import note

_LOG = logging.getLogger("hoprank.access")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
MONITORING = frozenset(("/health", "/ready", "/metrics"))
"""The paths that are asked for every few seconds: no limit of rate and no trace counts them."""

_READS = frozenset(("GET", "HEAD", "OPTIONS"))
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Observe:
    """Gives each request an id, counts and logs it, and adds the security headers.

    A client's own ``X-Request-ID`` is kept if it is plain. Neither log nor trace has questions or tokens.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        start = time.perf_counter()
        started = False

        async def observed(message: Message) -> None:
            nonlocal started
            started = True
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                answered["X-Request-ID"] = request_id
                for name, value in _HEADERS.items():
                    answered.setdefault(name, value)
                self._tell(scope, message["status"], time.perf_counter() - start, request_id)
            await send(message)

        try:
            await self._app(scope, receive, observed)
        except ClientDisconnect:
            _LOG.info("The client of the request %s went away before it had sent it.", request_id)
        except Exception as error:
            # Here and not in a handler of the application, whose answers would have no id and not be counted.
            _LOG.exception("An unexpected error in the request %s.", request_id)
            if started:
                raise
            name = type(error).__name__
            answer: Response = response(500, "Fault", f"An unexpected {name}.", "See the log of the service.")
            await answer(scope, receive, observed)

    def _tell(self, scope: Scope, status: int, seconds: float, request_id: str) -> None:
        """Count and log an answer that begins; its span, which FastAPI records, gets the id and loses the query."""
        method, route = method_of(scope["method"]), getattr(scope.get("route"), "path", "none")
        self._metrics.count(method, route, status, seconds)
        told = {"method": method, "route": route, "status": status, "milliseconds": round(1000 * seconds)}
        told["request_id"] = request_id
        _LOG.info("%s %s %d %d ms %s", *told.values(), extra=told)
        if own_path(scope) not in MONITORING:
            note({"hoprank.request.id": request_id, "url.query": ""})


class RefuseOtherPages:
    """Refuses what web pages elsewhere could send to a service without a token, but for those of ``origins``.

    A page may let its own name lead to 127.0.0.1, and would then read the service (DNS rebinding): the request then
    names another host than this machine. It may also send requests that have no body, whose answer it can't read.
    """

    def __init__(self, app: ASGIApp, origins: Collection[str]) -> None:
        self._app = app
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        refusal = self._refusal(scope["method"], Headers(scope=scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, method: str, headers: Headers) -> Response | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not is_loopback(re.sub(r":\d*$", "", host).strip("[]")):
            fix = "Set HOPRANK_SERVE__TOKEN, if it shall be reached by another name than localhost."
            return response(421, "RequestError", f"The service isn't {host[:80]!r}.", fix)
        if origin is None or method in _READS or origin in self._origins or origin.partition("://")[2] == host:
            return None
        return response_of(Forbidden(f"The page {origin[:80]!r} may not write.", "Add its origin to serve.origins."))


class LimitBody:
    """Refuses bodies of more than ``megabytes``, whether their length is declared or not.

    It reads none without a token: FastAPI would parse it before a route asks for the token.
    """

    def __init__(self, app: ASGIApp, megabytes: float, access: Access) -> None:
        self._app = app
        self._access = access
        self._most = int(megabytes * MEGABYTE)
        fix = "Send less at a time, or raise serve.max_megabytes."
        self._refusal = TooLarge(f"The body is larger than {megabytes:g} MB.", fix)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        declared = headers.get("content-length", "")
        if scope["method"] not in _READS:  # whose bodies nothing reads
            try:
                self._access.token(headers.get("authorization"))
            except Unauthenticated as error:
                await response_of(error)(scope, receive, send)
                return
        if declared.isdecimal() and int(declared) > self._most:
            await response_of(self._refusal)(scope, receive, send)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most:
                # FastAPI lets this one pass when it reads a body; its cause is what is answered with.
                raise HTTPException(413) from self._refusal
            return message

        await self._app(scope, counted, send)
