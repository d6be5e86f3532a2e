"""A web server of files that wants a password and a signature, both in its URLs."""

from __future__ import annotations

import base64
import http.server
from pathlib import Path
from urllib.parse import unquote

SECRET = "s3cr3t-and-signed"


class Web(http.server.ThreadingHTTPServer):
    """A web server of files; it wants a password and a signature."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.asked: list[str] = []


class Handler(http.server.BaseHTTPRequestHandler):
    server: Web

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        path, _, query = self.path.partition("?")
        self.server.asked.append(path)
        wanted = "Basic " + base64.b64encode(f"user:{SECRET}".encode()).decode()
        if self.headers.get("Authorization") != wanted or query != f"sig={SECRET}":
            self.send_error(403)
            return
        file = self.server.folder / unquote(path).lstrip("/")
        if not file.is_file():
            self.send_error(500 if "broken" in path else 404)
            return
        content = file.read_bytes()
        begin, end = 0, len(content)
        if asked := self.headers.get("Range"):
            first, last = asked.removeprefix("bytes=").split("-")
            begin, end = int(first), min(int(last) + 1, end)
        self.send_response(206 if asked else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(end - begin))
        if asked:
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
        self.end_headers()
        if body:
            self.wfile.write(content[begin:end])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


def url_of(web: Web, name: str, secret: str = SECRET) -> str:
    return f"http://user:{secret}@127.0.0.1:{web.server_port}/{name}?sig={secret}"
