"""A real HTTP server that speaks OpenAI's chat protocol: it streams, errs, breaks off and hangs as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from typing import Any

Reply = Callable[["Handler"], None]

ANSWER = ("Ada met Babbage in 18", "33 [", "1].")


class Handler(BaseHTTPRequestHandler):
    """Answers each request by the next of the server's replies."""

    server: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers), json.loads(content)))
        self.server.asked.set()
        next(self.server.replies)(self)

    def begin(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        """Send a head; the body is in chunks, so that its end is told from a connection that breaks."""
        self.send_response(status)
        for name, value in {"Content_Type": kind, "Transfer_Encoding": "chunked", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def write(self, body: str) -> None:
        content = body.encode()
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        self.wfile.flush()

    def end(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


class Endpoint(ThreadingHTTPServer):
    """The server; ``asked`` is set by a request, ``gone`` when a reply finds that its client has left."""

    daemon_threads = True
    requests: list[tuple[str, dict[str, str], dict[str, Any]]]
    replies: Iterator[Reply]
    gone: threading.Event
    asked: threading.Event

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def prompt(self) -> str:
        """What the last request asked."""
        content: str = self.requests[-1][2]["messages"][-1]["content"]
        return content

    def will(self, *replies: Reply) -> None:
        """Reply by these, and then with an answer."""
        self.requests, self.replies = [], chain(replies, repeat(says(*ANSWER)))
        self.gone, self.asked = threading.Event(), threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        """Print nothing of a client that has left."""
        self.gone.set()


@contextmanager
def chat_endpoint() -> Iterator[Endpoint]:
    """Run an endpoint in a thread."""
    server = Endpoint(("127.0.0.1", 0), Handler)
    server.will()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def event(**delta: Any) -> str:
    """A chunk of an answer as a server-sent event; ``finish`` is no part of its delta."""
    finish = delta.pop("finish", None)
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'id': '1', 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"


def says(*texts: str, finish: str | None = "stop") -> Reply:
    """Stream an answer in these pieces."""
    ends = [event(finish=finish)] if finish else []
    return sends(event(role="assistant", content=""), *(event(content=text) for text in texts), *ends)


def sends(*events: str, done: bool = True) -> Reply:
    def reply(handler: Handler) -> None:
        handler.begin()
        for one in [*events, *(["data: [DONE]\n\n"] if done else [])]:
            handler.write(one)
        handler.end()

    return reply


def errs(status: int, body: object, kind: str = "application/json", **headers: str) -> Reply:
    def reply(handler: Handler) -> None:
        handler.begin(status, kind, **headers)
        handler.write(body if isinstance(body, str) else json.dumps(body))
        handler.end()

    return reply


def dies(*texts: str) -> Reply:
    """Break the connection in the middle of an answer."""

    def reply(handler: Handler) -> None:
        handler.begin()
        for text in texts:
            handler.write(event(content=text))
        handler.close_connection = True

    return reply


def hangs(*events: str) -> Reply:
    """Send these events, and then comments for ever."""

    def reply(handler: Handler) -> None:
        handler.begin()
        for one in events:
            handler.write(one)
        for _ in range(200):
            handler.server.gone.wait(0.02)
            handler.write(": not yet\n\n")

    return reply


def texts_of(events: Sequence[object]) -> str:
    return "".join(getattr(one, "text", "") for one in events)
