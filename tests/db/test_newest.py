"""The newest Neo4j, beside the pinned one: its server plans every query, and a corpus and a graph live on it.

HOPRANK_TEST_NEWEST names the folder of its jars, 180 MB, which are fetched if they are missing; without it these tests
are skipped, for they take a minute and more. GDS of this version isn't out: the local engine walks.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import neo4j
import pytest

from pipeline import HopRank, KnowledgeEdge, KnowledgeNode
from pipeline.db.client import Client
from pipeline.db.embedded import Address, ServerOptions, ensure_running, stop
from pipeline.db.embedded.jars import pinned_jars
from pipeline.db.queries import load_queries
from pipeline.embedding.embedder import Embedder
from pipeline.retrieve.legs import Leg
from pipeline.settings import load_settings
from tests.db.test_plans import filled, graph_names, memory, names, params, vault  # noqa: F401 - fixtures

FOLDER = "HOPRANK_TEST_NEWEST"
PINS = Path(__file__).with_name("newest.sha256")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get(FOLDER), reason=f"{FOLDER} names no folder for the jars of the newest Neo4j"),
]


@pytest.fixture(scope="module")
def address() -> Iterator[Address]:
    """A server of the newest version."""
    with tempfile.TemporaryDirectory(prefix="hoprank-newest-", ignore_cleanup_errors=True) as home:
        jars = Path(os.environ[FOLDER])
        options = ServerOptions(
            Path(home), idle_minutes=15, heap_mb=768, page_cache_mb=64, jars=jars, gds=False, pins=PINS
        )
        try:
            yield ensure_running(options)
        finally:
            stop(options)


@pytest.fixture(scope="module")
def client(address: Address) -> Iterator[Client]:
    with Client(address) as client:
        client.verify()
        yield client


@pytest.fixture(scope="module")
def hoprank(client: Client, embedder: Embedder) -> HopRank:
    return HopRank(client, embedder, load_settings())


def test_it_is_the_version_of_its_pins(client: Client) -> None:
    kernel = next(jar.path for jar in pinned_jars(PINS) if jar.path.name.startswith("neo4j-kernel-2"))

    assert client.server_version() == kernel.parent.name
    assert not client.has_gds


def test_it_plans_every_query(client: Client, address: Address, names: Mapping[str, str]) -> None:  # noqa: F811
    refused: dict[str, str] = {}
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        for query in load_queries().values():
            if "gds." in query.text:
                continue
            try:
                driver.execute_query(f"EXPLAIN {query.text_with(filled(query, names))}", params(query))
            except neo4j.exceptions.Neo4jError as error:
                refused[query.name] = str(error.message)

    assert not refused


DOCUMENTS = [
    ("ada", 1833, "Ada Lovelace met Charles Babbage at a party in London."),
    ("babbage", 1837, "Charles Babbage designed the Analytical Engine, which had a mill and a store."),
    ("loom", 1804, "The loom of Joseph Jacquard wove patterns from punched cards at Lyon."),
    ("bread", 1900, "Bread is baked from flour, water, salt and yeast."),
]


def test_a_corpus_is_written_searched_on_every_leg_filtered_and_synced(
    hoprank: HopRank, corpus_name: str, graph_by: Callable[[Client, str], Any]
) -> None:
    rows = [
        {"id": key, "title": key.title(), "text": text, "metadata": {"year": year}} for key, year, text in DOCUMENTS
    ]
    hoprank.add(rows, corpus_name)

    def found(question: str, **options: Any) -> list[str]:
        items = hoprank.search(question, corpus=corpus_name, top_k=2, **options).items
        return [item.metadata["document"] for item in items]

    question = "Who designed the Analytical Engine?"
    assert {leg for leg in Leg if found(question, leg=leg)[:1] != ["babbage"]} == set()
    assert found(question, filters={"year": {"$lt": 1830}}) == ["loom"]
    assert found(question, filters={"year": {"$in": [1804, 1900]}})[0] in {"loom", "bread"}
    before = graph_by(hoprank.client, corpus_name)
    hoprank.add(rows, corpus_name)
    assert graph_by(hoprank.client, corpus_name) == before
    hoprank.replace(rows[:2], corpus_name)
    assert sorted(entry.key for entry in hoprank.documents(corpus_name)) == ["ada", "babbage"]
    assert "loom" not in found("Where were patterns woven from punched cards?")


def test_a_knowledge_graph_is_written_and_asked(hoprank: HopRank) -> None:
    graph = hoprank.graph("test-newest")
    try:
        embedded = zip("abc", ([1.0, 0.0], [1.0, 1.0], [0.0, 1.0]), strict=True)
        nodes = [KnowledgeNode(name, "t", properties={"name": name}, embedding=vector) for name, vector in embedded]
        graph.sync(nodes, [KnowledgeEdge("a", "b", "r"), KnowledgeEdge("b", "c", "r")])

        nearest = max(graph.query([1.0, 0.0]), key=lambda found: found.parts.get("similarity", 0.0))
        assert nearest.node.id == "a"
        assert "c" in {found.node.id for found in graph.search("c")}
        assert [node.id for node in graph.get_neighbors("a")] == ["b"]
    finally:
        graph.drop()
