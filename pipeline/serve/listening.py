"""Listen at an address, and serve an application with uvicorn until a signal."""

import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import uvicorn

from pipeline.errors import ConfigurationError


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
    shutdown_timeout: float,
    ready: Callable[[], None],
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Serve an ASGI application until SIGINT or SIGTERM; ``ready`` is called when requests are answered.

    Requests under way get ``shutdown_timeout`` seconds to end; ``stopping`` is called first, so that streams can end.
    A second signal ends them at once.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=round(shutdown_timeout),
    )
    _Server(config, ready, stopping).run(sockets=[sock])


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
