"""Listening at an address."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from pipeline.errors import ConfigurationError
from pipeline.serve.listening import listen


def test_connections_send_at_once() -> None:
    with listen("127.0.0.1", 0) as sock, socket.create_connection(sock.getsockname()[:2]):
        accepted, _ = sock.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_taken_port_is_told() -> None:
    with (
        listen("127.0.0.1", 0) as sock,
        pytest.raises(ConfigurationError, match=r"Nothing can listen at 127\.0\.0\.1:\d+: Address already in use\.\n"),
    ):
        listen("127.0.0.1", sock.getsockname()[1])


SERVICE = """
from pipeline.serve.listening import listen, serve_app
from pipeline.settings import load_settings

async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    size, message = 0, {"more_body": scope["path"] != "/early"}
    while message.get("more_body"):
        message = await receive()
        size += len(message.get("body", b""))
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"%05d" % size})

sock = listen("127.0.0.1", 0)
settings = load_settings({"serve": {"receive_timeout": 0.6}}).serve
serve_app(app, sock, settings, lambda: print(sock.getsockname()[1], flush=True))
"""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a server in a process of its own, to which requests must arrive within 0.6 s."""
    with subprocess.Popen([sys.executable, "-c", SERVICE], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        yield int(process.stdout.readline())
        process.terminate()
        assert b"Traceback" not in process.stderr.read()


def answer(port: int, *parts: bytes, pause: float = 0.0) -> tuple[bytes, float]:
    """Send the parts with pauses, until the server closes; return what it answers, and after how many seconds."""
    start = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        read = b""
        for part in parts:
            with suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(part)
            client.settimeout(pause or 10)
            with suppress(TimeoutError, ConnectionResetError):
                read += client.recv(65536)
        client.settimeout(10)
        with suppress(ConnectionResetError):
            while more := client.recv(65536):
                read += more
    return read, time.monotonic() - start


HEAD = b"PUT /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    "parts",
    [
        [b""],
        [b"GET"],
        [b"GET / HTTP/1.1\r\n", *(b"X-%d: x\r\n" % number for number in range(100))],
        [HEAD + b"Content-Length: 100\r\n\r\n", *[b"x"] * 50],
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[b"1\r\nx\r\n"] * 50],
        [
            HEAD.replace(b"/x", b"/early").replace(b"close", b"keep-alive") + b"Content-Length: 100\r\n\r\n",
            *[b"x"] * 50,
        ],
        [
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET / HTTP/1.1\r\n",
            *(b"X-%d: x\r\n" % number for number in range(50)),
        ],
    ],
    ids=["silence", "a word", "a head", "a body", "chunks", "an answered body", "the second head"],
)
def test_a_request_that_arrives_slowly_ends_in_time(port: int, parts: list[bytes]) -> None:
    read, seconds = answer(port, *parts, pause=0.1)

    assert 0.5 < seconds < 3
    assert (b"408" in read) == (b"/early" not in parts[0])


def test_a_request_in_time_is_answered_and_so_are_the_next_ones_of_its_connection(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        for _ in range(4):
            client.sendall(b"PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n")
            time.sleep(0.3)
            client.sendall(b"abc")
            read = b""
            while not read.endswith(b"00003"):
                read += client.recv(1000)
            assert read.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("path", [b"/x", b"/early"])
def test_a_broken_body_is_refused_without_a_traceback_in_the_log(port: int, path: bytes) -> None:
    broken = b"PUT " + path + b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

    read, seconds = answer(port, broken, b"no chunk\r\n", pause=0.1)

    assert read.startswith(b"HTTP/1.1 200 " if path == b"/early" else b"HTTP/1.1 400 ")
    assert seconds < 3
