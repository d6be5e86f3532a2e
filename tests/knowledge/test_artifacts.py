"""Artifacts in namespaces."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.db.client import Client
from pipeline.embedding.embedder import Embedder
from pipeline.errors import GraphError, SourceError
from pipeline.knowledge import GraphChunk, Knowledge
from pipeline.records import Skipped


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


def test_files_are_read_into_a_namespace(knowledge: Knowledge, tmp_path: Path) -> None:
    texts = {
        "reset.md": "# Password reset\n\nHow to reset a password. See [the lock](help/locked.html).\n",
        "help/locked.html": "<h1>Locked</h1><p>What to do when an account is shut.</p>",
        "notes.jsonl": '{"id": "setup", "title": "Codes", "text": "Setting up codes.", "metadata": {"kind": "how"}}',
        "photo.png": "no text",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    left_out: list[Skipped] = []

    added = knowledge.add("one", [GraphChunk("By hand.", id="own")], paths=[str(tmp_path)], skipped=left_out.append)

    assert {node.id for node in added} == {"own", "reset.md", "help/locked.html", "setup"}
    assert [skipped.source for skipped in left_out] == [str(tmp_path / "photo.png")]
    (setup,) = knowledge.graph("one").get_nodes(["setup"])
    assert setup.type == "artifact"
    assert setup.properties == {"kind": "how", "title": "Codes", "text": "Setting up codes."}
    (link,) = knowledge.graph("one").edges()
    assert (link.source, link.type, link.target) == ("reset.md", "links_to", "help/locked.html")
    found = knowledge.search("one", "password reset", mode="hybrid", graph_hops=1)
    assert [one.node.id for one in found] == ["reset.md", "help/locked.html"]
    with pytest.raises(SourceError, match="photo"):
        knowledge.add("one", paths=[str(tmp_path)], replace=True, strict=True)
    knowledge.add("one", paths=[str(tmp_path / "reset.md")], replace=True)
    assert knowledge.graph("one").size().nodes == 4


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
