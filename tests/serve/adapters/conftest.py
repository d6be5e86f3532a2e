"""The corpora of the adapters' tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.embedding.embedder import Embedder
from pipeline.examples import example_corpus
from tests.serve.adapters.conformance import conformance_corpus

# Before the tests import the frameworks: nothing about them is reported to anyone.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"


@pytest.fixture(scope="session")
def islands(hoprank: HopRank, new_corpus: Callable[[], Any]) -> Iterator[str]:
    """The name of a corpus with the archive of the quickstart, which tests only read."""
    with new_corpus() as name:
        hoprank.ingest(example_corpus(), corpus=name)
        yield name


@pytest.fixture(scope="session")
def conforming(hoprank: HopRank) -> Iterator[str]:
    """The name of the corpus of the conformance suite."""
    with conformance_corpus(hoprank) as name:
        yield name


@pytest.fixture
def server(server_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, embedder: Embedder) -> None:
    """The environment names the tests' server; connections share the tests' embedder."""
    for name, value in server_environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("pipeline.api.make_embedder", lambda _: embedder)
