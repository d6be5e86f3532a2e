"""Graphs of projects under names of their own, and the town, the indexed example projects."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import find_graph, list_corpora
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.flows import maintain
from tests.domains.routing.town import Town, indexed


@pytest.fixture
def graph_name(hoprank: HopRank) -> Iterator[str]:
    """A name that no graph has; the graph of that name is dropped, and so are new corpora that end with it."""
    name = f"projects-{uuid.uuid4().hex[:12]}"
    yield name
    if find_graph(hoprank.client, name):
        hoprank.graph(name).drop()
    for corpus in list_corpora(hoprank.client):
        if corpus.name.endswith(name):
            maintain.drop(hoprank.client, corpus.name)


@pytest.fixture
def projects(hoprank: HopRank, graph_name: str) -> ProjectGraph:
    """An empty graph of projects."""
    return ProjectGraph.open(hoprank, graph_name)


@pytest.fixture(scope="package")
def town(hoprank: HopRank, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """The example projects, which tests only read."""
    with indexed(hoprank, tmp_path_factory.mktemp("town")) as found:
        yield found
