"""The Python interface: connecting, closing, many threads on one connection, and the shape of results."""

from __future__ import annotations

import gc
import uuid
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank, RetrieverResult, RetrieverResultItem
from pipeline.db.embedded import Address
from pipeline.embedding.embedder import Embedder
from pipeline.errors import GraphError, ServerUnreachable
from pipeline.ingest.update.changes import IngestSummary
from pipeline.knowledge import KnowledgeNode
from pipeline.knowledge.load import load
from pipeline.progress import Progress
from pipeline.retrieve.legs import Leg
from pipeline.settings import load_settings

Jsonl = Callable[..., Path]

DOCUMENTS = [
    {"id": "otter", "title": "Otter", "text": "The otter swims in the Severn."},
    {"id": "beaver", "title": "Beaver", "text": "The beaver builds dams on the Severn."},
]


COMPONENTS = "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version"


def test_it_connects_to_the_server_that_is_named(
    address: Address, embedder: Embedder, cypher: Callable[..., list[Any]]
) -> None:
    with HopRank.connect(
        address.uri, address.username, address.password, address.database, embedder=embedder
    ) as hoprank:
        assert hoprank.client.address == address
        assert hoprank.embedder is embedder
        assert hoprank.client.server_version() == cypher(COMPONENTS)[0]["version"]


def test_it_connects_to_the_server_of_the_environment(
    address: Address, embedder: Embedder, server_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in server_environment.items():
        monkeypatch.setenv(name, value)

    with HopRank.connect(embedder=embedder) as hoprank:
        assert hoprank.client.address == address


def test_what_a_connection_keeps_is_made_once_and_goes_with_it(address: Address, embedder: Embedder) -> None:
    class Opened:
        def __init__(self, hoprank: HopRank, name: str) -> None:
            self.hoprank, self.name = hoprank, name

    hoprank = HopRank.connect(address.uri, address.username, address.password, address.database, embedder=embedder)
    first = hoprank.kept(Opened, "notes")

    assert first.hoprank is hoprank
    assert hoprank.kept(Opened, "notes") is first
    assert hoprank.kept(Opened, "other") is not first

    hoprank.close()
    gone = weakref.ref(hoprank)
    del hoprank, first
    gc.collect()
    assert gone() is None


def test_connecting_takes_no_model() -> None:
    settings = load_settings({"neo4j": {"uri": "bolt://127.0.0.1:1"}, "embed": {"model": "/nowhere"}})

    with pytest.raises(ServerUnreachable, match="127"):
        HopRank.connect(settings=settings)


def test_files_folders_and_several_of_them_are_ingested(
    hoprank: HopRank, corpus_name: str, tmp_path: Path, jsonl: Jsonl
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Alpha\n\nThe first note.")

    summary = hoprank.ingest(folder, str(jsonl(DOCUMENTS)), corpus=corpus_name)

    assert isinstance(summary, IngestSummary)
    assert (summary.documents, summary.changed) == (3, 3)


def test_results_have_the_shape_that_neo4j_graphrags_users_know(
    hoprank: HopRank, corpus_name: str, jsonl: Jsonl
) -> None:
    hoprank.ingest(jsonl(DOCUMENTS), corpus=corpus_name)

    by_name = hoprank.search(query_text="Who builds dams?", top_k=1, corpus=corpus_name)
    by_place = hoprank.search("Who builds dams?", None, 1, corpus=corpus_name)

    assert by_name == by_place
    assert isinstance(by_name, RetrieverResult)
    (item,) = by_name.items
    assert isinstance(item, RetrieverResultItem)
    assert [field.name for field in fields(item)] == ["content", "metadata"]
    assert item.content == DOCUMENTS[1]["text"]
    assert item.metadata["score"] > 0
    assert by_name.metadata["corpus"] == corpus_name


@pytest.mark.slow
def test_many_threads_share_one_connection(hoprank: HopRank, corpus_name: str, jsonl: Jsonl) -> None:
    hoprank.ingest(jsonl(DOCUMENTS), corpus=corpus_name)
    asked = [(question, leg) for question in ("Who swims?", "Who builds dams?") for leg in Leg] * 3

    def ask(one: tuple[str, Leg]) -> list[str]:
        found = hoprank.search(one[0], corpus=corpus_name, leg=one[1])
        return [item.metadata["document"] for item in found.items]

    expected = {one: ask(one) for one in asked}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, asked))

    assert answers == [expected[one] for one in asked]


def test_it_opens_knowledge_graphs_on_its_own_connection(
    hoprank: HopRank, new_corpus: Callable[[], Any], jsonl: Callable[..., Path]
) -> None:
    with new_corpus() as name:
        hoprank.ingest(jsonl([{"id": "a", "text": "Ada Lovelace."}]), corpus=name)
        graph = hoprank.graph(name)

        assert graph.size().nodes == 0
        assert [node.properties["key"] for node in hoprank.open_graph(name).find_nodes_by_type("document")] == ["a"]
        graph.drop()


@pytest.fixture
def graph_name(hoprank: HopRank) -> Iterator[str]:
    """A name that no graph has; the one that the test makes under it is dropped."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    yield name
    hoprank.graph(name).drop()


def test_a_graph_stays_open_while_its_name_means_it(hoprank: HopRank, graph_name: str) -> None:
    hoprank.graph(graph_name).add_node(KnowledgeNode("a", "t"))
    opened = hoprank.graph(graph_name)
    assert hoprank.graph(graph_name) is opened

    load(hoprank.client, graph_name, (iter([KnowledgeNode("b", "t"), KnowledgeNode("c", "t")]), iter([])), Progress())
    replaced = hoprank.graph(graph_name)
    assert [node.id for node in replaced.find_nodes_by_type("t")] == ["b", "c"]

    replaced.drop()
    assert hoprank.graph(graph_name).size().nodes == 0


def test_a_graph_that_isn_t_there_is_made_or_refused(hoprank: HopRank, graph_name: str) -> None:
    with pytest.raises(GraphError, match="There is no graph"):
        hoprank.graph(graph_name, create=False)

    made = hoprank.graph(graph_name)

    assert hoprank.graph(graph_name, create=False).name == made.name


def test_threads_open_one_graph(hoprank: HopRank, graph_name: str) -> None:
    hoprank.graph(graph_name)

    with ThreadPoolExecutor(8) as pool:
        graphs = set(pool.map(hoprank.graph, [graph_name] * 32))

    assert graphs == {hoprank.graph(graph_name)}
