"""Services on the tests' server, answered in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient

from pipeline import HopRank, KnowledgeGraph
from pipeline.serve.access import Access
from pipeline.serve.http.app import make_app
from pipeline.settings import AskSettings

Start = Callable[..., TestClient]


@pytest.fixture(scope="module")
def start(hoprank: HopRank) -> Iterator[Start]:
    """Start a service with these settings of ``serve``, and of ``ask``; return its client. All end with the file."""
    with ExitStack() as stack:

        def started(ask: Mapping[str, Any] | None = None, **serve: Any) -> TestClient:
            section = hoprank.settings.serve
            values = {**section.model_dump(), "rate": 0, **serve}
            asked = AskSettings.model_validate({**hoprank.settings.ask.model_dump(), **(ask or {})})
            sections = {"serve": type(section).model_validate(values), "ask": asked}
            settings = hoprank.settings.model_copy(update=sections)
            connection = HopRank(hoprank.client, hoprank.embedder, settings)
            app = make_app(connection, Access(settings.serve))
            client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
            return stack.enter_context(client)

        yield started


@pytest.fixture(scope="module")
def service(start: Start) -> TestClient:
    """A service without a token."""
    return start()


@pytest.fixture
def graph(hoprank: HopRank) -> Iterator[KnowledgeGraph]:
    """An empty knowledge graph, which is dropped afterwards."""
    made = hoprank.graph(f"test-{uuid4().hex[:12]}")
    yield made
    made.drop()
