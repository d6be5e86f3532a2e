"""Listening at an address."""

from __future__ import annotations

import socket

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
