"""A reverse proxy that shows a service below a path, as nginx does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests

_HOP_BY_HOP = frozenset(("connection", "keep-alive", "transfer-encoding", "content-encoding", "content-length"))


@contextmanager
def proxying(target: str, prefix: str, *, strips: bool = True) -> Iterator[str]:
    """Run a proxy on a free port; yield the URL at which it shows ``target``, a URL without a path.

    It tells the address that a request's header ``X-Test-Client`` names as the client's.
    """

    class Handler(BaseHTTPRequestHandler):
        def forward(self) -> None:
            if not self.path.startswith(f"{prefix}/"):
                self.send_error(404)
                return
            path = self.path.removeprefix(prefix) if strips else self.path
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
            headers |= {"X-Forwarded-For": self.headers.get("X-Test-Client", "127.0.0.1"), "X-Forwarded-Proto": "https"}
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = requests.request(
                self.command, target + path, headers=headers, data=body, allow_redirects=False, timeout=60
            )
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                if name.lower() not in _HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = forward  # noqa: N815 - the base class's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{prefix}"
    finally:
        server.shutdown()
        server.server_close()
