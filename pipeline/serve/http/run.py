"""Run the service until a signal stops it."""

from __future__ import annotations

import socket
from collections.abc import Callable

from pipeline.api import HopRank
from pipeline.serve.access import Access
from pipeline.serve.http.app import make_app
from pipeline.serve.listening import serve_app


def serve(hoprank: HopRank, access: Access, sock: socket.socket, ready: Callable[[], None]) -> None:
    """Serve on a listening socket until SIGINT or SIGTERM; ``ready`` is called when requests are answered.

    Requests under way get ``serve.shutdown_timeout`` seconds to end; a job that runs is queued again.
    """
    app = make_app(hoprank, access)

    def end_streams() -> None:
        if service := getattr(app.state, "service", None):
            service.stopping.set()

    serve_app(app, sock, hoprank.settings.serve.shutdown_timeout, ready, end_streams)
