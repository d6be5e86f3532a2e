"""Artifacts in namespaces."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from pipeline.db.client import Client
from pipeline.embedding.embedder import Embedder
from pipeline.errors import GraphError
from pipeline.knowledge import GraphChunk, Knowledge


@pytest.fixture
def knowledge(client: Client, embedder: Embedder) -> Iterator[Knowledge]:
    made = Knowledge(f"test {uuid.uuid4().hex[:8]}", client=client, embedder=embedder)
    yield made
    for namespace in made.namespaces():
        made.graph(namespace).drop()


def test_namespaces_share_neither_ids_nor_statistics(knowledge: Knowledge) -> None:
    knowledge.add("one", [GraphChunk("rare word", id="a"), GraphChunk("common word", id="b")])
    before = [(found.node.id, found.score, found.parts) for found in knowledge.search("one", "rare word", mode="bm25")]

    knowledge.add("two", [GraphChunk(f"rare {number}", id=f"a{number}" if number else "a") for number in range(50)])

    after = [(found.node.id, found.score, found.parts) for found in knowledge.search("one", "rare word", mode="bm25")]
    assert after == before
    assert knowledge.namespaces() == ["one", "two"]


def test_artifacts_are_found_by_meaning_too(knowledge: Knowledge) -> None:
    knowledge.add("one", [GraphChunk("A cat sleeps.", id="cat"), GraphChunk("Interest rates.", id="rates")], embed=True)

    assert knowledge.search("one", "dozing animal", 1, mode="vector")[0].node.id == "cat"


def test_artifacts_are_removed(knowledge: Knowledge) -> None:
    knowledge.add("one", [GraphChunk("word", id="a"), GraphChunk("word", id="b")])

    knowledge.remove("one", ["a"])

    assert [found.node.id for found in knowledge.search("one", "word")] == ["b"]


def test_a_way_that_was_not_enabled_is_refused(client: Client) -> None:
    knowledge = Knowledge("test", bm25=True, graph=False, client=client)

    with pytest.raises(GraphError, match="isn't searched by 'hybrid'"):
        knowledge.search("one", "word", mode="hybrid")


@pytest.mark.parametrize("name", ["", "a/b", "x" * 91])
def test_names_that_cannot_be_are_refused(client: Client, knowledge: Knowledge, name: str) -> None:
    with pytest.raises(GraphError, match="A knowledge's id"):
        Knowledge(name, client=client)
    with pytest.raises(GraphError, match="A namespace"):
        knowledge.add(name, [])


def test_a_namespace_that_is_not_there_is_named(knowledge: Knowledge) -> None:
    with pytest.raises(GraphError, match="no namespace 'two'"):
        knowledge.search("two", "word")
