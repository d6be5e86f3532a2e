"""What the tests of retrieval share."""

from __future__ import annotations

from typing import Any

import neo4j
import pytest

from pipeline.db.client import Client


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the queries that are read, as they come."""
    names: list[str] = []
    reading = Client.read

    def read(client: Client, name: str, /, *args: Any, **params: Any) -> list[neo4j.Record]:
        names.append(name)
        return reading(client, name, *args, **params)

    monkeypatch.setattr(Client, "read", read)
    return names
