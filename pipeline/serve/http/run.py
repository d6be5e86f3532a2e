"""Run the service in uvicorn until a signal stops it."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn
from fastapi import FastAPI

from pipeline.api import HopRank
from pipeline.errors import ConfigurationError
from pipeline.serve.access import Access
from pipeline.serve.http.app import make_app

_BACKLOG = 128


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raises ConfigurationError if the address is taken or isn't this machine's.

    Port 0 takes a free one.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        raise ConfigurationError(
            f"Nothing can listen at {host}:{port}: {error.strerror if isinstance(error, OSError) else error}.",
            "Choose another --port, or stop what listens there.",
        ) from error


def serve(hoprank: HopRank, access: Access, sock: socket.socket, ready: Callable[[], None]) -> None:
    """Serve on a listening socket until SIGINT or SIGTERM; ``ready`` is called when requests are answered.

    Requests under way get ``serve.shutdown_timeout`` seconds to end; a job that runs is queued again.
    """
    app = make_app(hoprank, access)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=round(hoprank.settings.serve.shutdown_timeout),
    )
    _Server(config, app, ready).run(sockets=[sock])


class _Server(uvicorn.Server):
    """uvicorn's server: it tells when it is ready, ends streams when it stops, and returns after a signal."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell that requests are answered."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: at the first signal gracefully, at the second at once."""
        if service := getattr(self._app.state, "service", None):
            service.stopping.set()
        super().handle_exit(sig, frame)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle SIGINT and SIGTERM; uvicorn's own raises them again at the end, as if the service had been killed."""
        previous = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
