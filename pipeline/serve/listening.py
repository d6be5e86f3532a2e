"""Listen at an address, and serve an application with uvicorn until a signal."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from pipeline.errors import ConfigurationError
from pipeline.settings import ServeSettings


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raises ConfigurationError if the address is taken or isn't this machine's.

    Port 0 takes a free one.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        sock = socket.create_server(address[:2], family=family, backlog=128)  # asyncio's default is 100
    except (OSError, OverflowError) as error:
        # create_server adds the address once more.
        reason = str(error.strerror if isinstance(error, OSError) else error).partition(" (while")[0]
        fix = "Choose another --port, or stop what listens there."
        raise ConfigurationError(f"Nothing can listen at {host}:{port}: {reason}.", fix) from error
    # Connections inherit it. asyncio sets it only on sockets that name their protocol; without it the body of an
    # answer, sent after its head, waits 40 ms for the client's acknowledgement.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def serve_app(
    app: Any,
    sock: socket.socket,
    settings: ServeSettings,
    ready: Callable[[], None],
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Serve an ASGI application until SIGINT or SIGTERM; ``ready`` is called when requests are answered.

    A client has ``receive_timeout`` seconds to send a request. Requests under way get ``shutdown_timeout`` seconds to
    end; ``stopping`` is called first, so that streams can end. A second signal ends them at once.
    """
    protocol: Any = partial(_Protocol, settings.receive_timeout)
    config = uvicorn.Config(
        _Below(app, settings.root_path) if settings.root_path else app,
        http=protocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        timeout_graceful_shutdown=round(settings.shutdown_timeout),
    )
    _Server(config, ready, stopping).run(sockets=[sock])


class _Below:
    """The application below a path, which it is told, whether or not the proxy leaves that in the requests."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self._app = app
        self._root_path = root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "path" in scope:
            path = scope["path"] if scope["path"].startswith(f"{self._root_path}/") else self._root_path + scope["path"]
            scope = {**scope, "root_path": self._root_path, "path": path}
        await self._app(scope, receive, send)


def own_path(scope: Scope) -> str:
    """Return the path of a request below the one at which a proxy shows the service (``serve.root_path``)."""
    return str(scope["path"]).removeprefix(scope.get("root_path", ""))


class _Protocol(H11Protocol):
    """HTTP/1.1 with a limit on the time in which a request arrives; a client could else hold connections for ever."""

    def __init__(self, seconds: float, **options: Any) -> None:
        super().__init__(**options)
        self._seconds = seconds

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._arriving = self.loop.call_later(self._seconds, self._end_late)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._arriving.cancel()
        elif self._arriving.cancelled():
            self._arriving = self.loop.call_later(self._seconds, self._end_late)

    def connection_lost(self, exc: Exception | None) -> None:
        self._arriving.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)  # uvicorn's own fails if the answer has begun

    def _end_late(self) -> None:
        self._refuse(408, f"The request didn't arrive within {self._seconds:g} s (serve.receive_timeout).")

    def _refuse(self, status: int, text: str) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = [("Content-Type", "text/plain; charset=utf-8"), ("Connection", "close")]
            head = h11.Response(status_code=status, headers=headers, reason=STATUS_PHRASES[status])
            for event in (head, h11.Data(data=f"{text}\n".encode()), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle:  # its application is answered that the client has gone, and sends nothing more
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()


class _Server(uvicorn.Server):
    """uvicorn's server: it tells when it is ready, and returns after a signal."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle SIGINT and SIGTERM; uvicorn's own raises them again at the end, as if the service had been killed."""

        def stop(number: int, frame: FrameType | None) -> None:
            self._stopping()
            self.handle_exit(number, frame)

        previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
