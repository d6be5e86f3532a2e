"""The commands on a server without Graph Data Science, as Aura Free and plain Community servers are.

Each is run as on any server: where GDS would be used, HopRank's own walk answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.client import Client
from pipeline.db.embedded import Address

pytestmark = pytest.mark.slow

DOCUMENTS = {
    "alpha.md": "# Alpha Station\n\nAlpha Station was built by Mira Holt in 1931.\n",
    "holt.md": "# Mira Holt\n\nMira Holt was born in Westfold, and kept bees there.\n",
    "westfold.md": "# Westfold\n\nWestfold lies on the river Ane.\n",
}
QUESTION = "Where was the builder of Alpha Station born?"
MANY = 320
"""More nodes than a page draws, so that it chooses the most important."""


@pytest.fixture(scope="module")
def run(plain_address: Address, hoprank_in: Callable[[dict[str, str]], Any]) -> Any:
    return hoprank_in({f"NEO4J_{name.upper()}": value for name, value in asdict(plain_address).items()})


@pytest.fixture(scope="module")
def plain_client(plain_address: Address) -> Iterator[Client]:
    with Client(plain_address) as client:
        yield client


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def corpus(run: Any, folder: Path) -> str:
    """A corpus of the documents."""
    run("ingest", str(folder), "--corpus", "archive")
    return "archive"


@pytest.fixture(scope="module")
def graph(plain_client: Client) -> str:
    """A graph that is larger than a page shows."""
    graph = KnowledgeGraph("many", client=plain_client)
    graph.add_nodes([KnowledgeNode(f"n{number}", "Item") for number in range(MANY)])
    graph.add_edges([KnowledgeEdge(f"n{number}", "n0", "POINTS") for number in range(1, MANY)])
    return graph.name


def test_the_server_has_no_gds(plain_client: Client, client: Client) -> None:
    assert not plain_client.has_gds
    assert client.has_gds, "the other tests have a server with it"


def test_a_search_walks_and_says_by_which_engine(run: Any, corpus: str) -> None:
    hits = run.json("search", QUESTION, "--corpus", corpus)["items"]

    assert {hit["metadata"]["document"] for hit in hits[:2]} == {"alpha.md", "holt.md"}
    explained = run("search", QUESTION, "--corpus", corpus, "--explain").stdout
    assert "The local engine walked." in explained
    assert run.json("search", QUESTION, "--corpus", corpus, "--leg", "graph")["metadata"]["engine"] == "local"
    assert "Mira Holt" in run("context", QUESTION, "--corpus", corpus).stdout


def test_gds_is_refused_by_name(run: Any, corpus: str) -> None:
    refused = run("search", QUESTION, "--corpus", corpus, "--set", "walk.engine=gds", code=2)

    assert "Graph Data Science" in refused.output


def test_maintenance_of_a_corpus(run: Any, folder: Path, corpus: str, tmp_path: Path) -> None:
    exported = str(tmp_path / "corpus.jsonl")

    run("corpus", "export", corpus, exported)
    run("corpus", "import", exported, "--as", "copy")
    run("calibrate", "--corpus", "copy")
    run("sync", str(folder / "alpha.md"), "--corpus", "copy")
    run("remove", "--document", "alpha.md", "--corpus", "copy")
    run("corpus", "rename", "copy", "other")
    run("corpus", "drop", "other", "--yes")

    assert {row["name"] for row in run.json("corpus", "list")} & {corpus, "copy", "other"} == {corpus}


def test_a_graph_is_imported_twice_drawn_and_dropped(run: Any, graph: str, corpus: str, tmp_path: Path) -> None:
    exported, page = str(tmp_path / "graph.jsonl"), tmp_path / "graph.html"

    run("graph", "export", exported, "--graph", graph)
    for _ in range(2):
        run("graph", "import", exported, "--graph", "again")
    run("graph", "view", "--graph", "again", "--out", str(page))
    run("graph", "drop", "again", "--yes")
    run("graph", "view", "--corpus", corpus, "--limit", "2", "--out", str(tmp_path / "corpus.html"))

    assert (tmp_path / "corpus.html").exists()
    assert '"id": "n0"' in page.read_text(encoding="utf-8"), "the most important node is drawn"
    assert {row["name"] for row in run.json("graph", "list")} & {graph, "again"} == {graph}


def test_every_algorithm_of_a_graph_answers(plain_client: Client, graph: str) -> None:
    opened = KnowledgeGraph(graph, client=plain_client, create=False)

    assert next(iter(opened.importance(1))) == "n0"
    assert opened.walk_from({"n1": 1.0})
    assert len(opened.communities()) == 1
