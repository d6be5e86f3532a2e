"""A collector of OpenTelemetry: it takes spans by OTLP over HTTP, as a real one does."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """The spans that came so far, each with its attributes, and those of their resource."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.spans: list[Any] = []
        self.resource: dict[str, Any] = {}
        self.raw = b""

    def take(self, body: bytes) -> None:
        """Keep the spans of a request."""
        self.raw += body
        for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resource = attributes(of_resource.resource)
            for of_scope in of_resource.scope_spans:
                self.spans += of_scope.spans

    def wait_for(self, holds: Callable[[Any], bool], seconds: float = 30) -> Any:
        """Return the first span that is as told; fail if none comes in time."""
        deadline = time.monotonic() + seconds
        while not (found := [one for one in list(self.spans) if holds(one)]):
            assert time.monotonic() < deadline, sorted({one.name for one in self.spans})
            time.sleep(0.1)
        return found[0]

    def within(self, parent: Any) -> list[Any]:
        """Return the spans that are directly within another, by their start."""
        inner = [one for one in self.spans if one.parent_span_id == parent.span_id]
        return sorted(inner, key=lambda one: int(one.start_time_unix_nano))

    def below(self, parent: Any) -> list[Any]:
        """Return all spans within another, at any depth."""
        return [span for one in self.within(parent) for span in (one, *self.below(one))]


def attributes(holder: Any) -> dict[str, Any]:
    """Return the attributes of a span or resource."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in holder.attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    """Run a collector on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            assert self.path == "/v1/traces"
            collector.take(body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector = Collector(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
