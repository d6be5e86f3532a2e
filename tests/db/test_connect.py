"""The connection by the settings: it warns where it isn't encrypted."""

from __future__ import annotations

import logging

import pytest

from pipeline.db.connect import connect
from pipeline.errors import HopRankError
from pipeline.settings import load_settings


@pytest.mark.parametrize(
    ("uri", "warned"),
    [
        ("bolt://server.invalid:7687", True),
        ("neo4j://203.0.113.7:7687", True),
        ("bolt+s://server.invalid:7687", False),
        ("neo4j+ssc://server.invalid:7687", False),
        ("bolt://localhost:1", False),
        ("bolt://127.0.0.1:1", False),
        ("bolt://[::1]:1", False),
    ],
)
def test_a_server_elsewhere_without_tls_is_warned_of(uri: str, warned: bool, caplog: pytest.LogCaptureFixture) -> None:
    flags = {"uri": uri, "connection_timeout": 0.1, "retry_time": 0}
    with caplog.at_level(logging.WARNING, "pipeline.db.connect"), pytest.raises(HopRankError):
        connect(load_settings({"neo4j": flags}))

    assert (f"{uri} is not encrypted" in caplog.text) == warned
