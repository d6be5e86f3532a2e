"""GDS projections: made when they are missing, by whoever comes first; one generation a corpus; within their memory."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import neo4j
import pytest

from pipeline import HopRank, KnowledgeGraph, KnowledgeNode
from pipeline.db.catalogue import Corpus, get_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.db.projections import Projection, drop_projection, drop_projections
from pipeline.retrieve.rankers.gds_walk import GdsWalk, walk_projection
from pipeline.settings import load_settings

Cypher = Callable[..., list[neo4j.Record]]
Jsonl = Callable[..., Path]

WALK = load_settings().walk
DOCUMENTS = [
    {"id": "a", "title": "Ada", "text": "Ada met Ben and Cleo."},
    {"id": "b", "title": "Ben", "text": "Ben met Cleo in Dover."},
]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("met") / "met.jsonl"
    path.write_text("\n".join(map(json.dumps, DOCUMENTS)))
    return path


@pytest.fixture(scope="module")
def ingested(hoprank: HopRank, shared_corpus_name: str, documents: Path) -> Corpus:
    hoprank.ingest(documents, corpus=shared_corpus_name)
    return get_corpus(hoprank.client, shared_corpus_name)


@pytest.fixture(scope="module")
def library(hoprank: HopRank, new_corpus: Callable[[], Any], documents: Path) -> Iterator[str]:
    """The name of another corpus."""
    with new_corpus() as name:
        hoprank.ingest(documents, corpus=name)
        yield name


@pytest.fixture
def corpus(hoprank: HopRank, ingested: Corpus) -> Corpus:
    """A corpus to read, without a projection."""
    drop_projections(hoprank.client, ingested.id)
    return ingested


@pytest.fixture
def foreign(cypher: Cypher) -> Iterator[str]:
    """A projection of somebody else's."""
    name = "somebody-elses"
    cypher("CALL gds.graph.drop($name, false) YIELD graphName RETURN 1", name=name)
    cypher("MATCH (n:HopRankCorpus) WITH n LIMIT 1 RETURN gds.graph.project($name, n, null)", name=name)
    yield name
    cypher("CALL gds.graph.drop($name, false) YIELD graphName RETURN 1", name=name)


def projections(client: Client, corpus: Corpus) -> list[str]:
    return [row["name"] for row in client.read("projections") if corpus.id in row["name"]]


def ensure(hoprank: HopRank, corpus: Corpus, **settings: Any) -> None:
    walk = hoprank.settings.walk.model_copy(update=settings)
    GdsWalk(CorpusHandle(hoprank.client, corpus), walk).prepare(corpus.generation, corpus.chunks)


def ask(hoprank: HopRank, corpus: Corpus) -> list[str]:
    """The documents that GDS ranks; with engine auto the local walk would answer while the projection is missing."""
    walk = hoprank.settings.walk.model_copy(update={"engine": "gds"})
    waiting = HopRank(hoprank.client, hoprank.embedder, hoprank.settings.model_copy(update={"walk": walk}))
    found = waiting.search("Who met Cleo?", corpus=corpus.name, leg="graph")
    assert found.metadata["engine"] == "gds"
    return [item.metadata["document"] for item in found.items]


@pytest.mark.slow
def test_the_first_question_makes_it_and_the_next_uses_it(hoprank: HopRank, corpus: Corpus, cypher: Cypher) -> None:
    assert projections(hoprank.client, corpus) == []
    first = ask(hoprank, corpus)
    made = "CALL gds.graph.list($name) YIELD creationTime RETURN creationTime AS at"
    (row,) = cypher(made, name=walk_projection(corpus, 1, WALK).name)

    assert ask(hoprank, corpus) == first
    assert projections(hoprank.client, corpus) == [walk_projection(corpus, 1, WALK).name]
    assert cypher(made, name=walk_projection(corpus, 1, WALK).name) == [row]

    cypher("CALL gds.graph.drop($name) YIELD graphName RETURN 1", name=walk_projection(corpus, 1, WALK).name)
    assert ask(hoprank, corpus) == first
    assert projections(hoprank.client, corpus) == [walk_projection(corpus, 1, WALK).name], "it is made again"


@pytest.mark.slow
def test_those_that_ask_at_once_get_one_and_the_same_answer(hoprank: HopRank, corpus: Corpus) -> None:
    """Whether one finds the projection made, or another makes it in the meantime, which takes several tries to see."""
    answers: list[list[str]] = []
    ready = threading.Barrier(8)

    def question() -> None:
        ready.wait()
        answers.append(ask(hoprank, corpus))

    for _ in range(4):
        drop_projections(hoprank.client, corpus.id)
        threads = [threading.Thread(target=question) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(answers) == 32
    assert len({tuple(answer) for answer in answers}) == 1
    assert projections(hoprank.client, corpus) == [walk_projection(corpus, 1, WALK).name]


def test_it_holds_the_chunks_and_the_names_that_join_them(hoprank: HopRank, corpus: Corpus) -> None:
    ensure(hoprank, corpus)

    (row,) = [row for row in hoprank.client.read("projections") if corpus.id in row["name"]]
    # Two chunks, and Ben and Cleo, whom both mention; five edges, each both ways, as Ada refers to Ben's document.
    assert (row["nodes"], row["relationships"]) == (4, 10)


@pytest.mark.slow
def test_a_new_generation_has_its_own_and_the_old_one_goes(hoprank: HopRank, corpus_name: str, jsonl: Jsonl) -> None:
    hoprank.ingest(jsonl(DOCUMENTS), corpus=corpus_name)
    corpus = get_corpus(hoprank.client, corpus_name)
    ask(hoprank, corpus)
    hoprank.ingest(jsonl([{"id": "c", "title": "Cleo", "text": "Cleo met nobody."}]), corpus=corpus.name)

    assert set(ask(hoprank, corpus)) == {"a", "b", "c"}
    assert projections(hoprank.client, corpus) == [walk_projection(corpus, 2, WALK).name]


@pytest.mark.slow
def test_dropping_takes_those_of_one_corpus(hoprank: HopRank, corpus: Corpus, library: str) -> None:
    other = get_corpus(hoprank.client, library)
    ask(hoprank, corpus)
    ensure(hoprank, other)

    drop_projections(hoprank.client, corpus.id)
    drop_projections(hoprank.client, corpus.id)

    assert projections(hoprank.client, corpus) == []
    assert projections(hoprank.client, other) == [walk_projection(other, other.generation, WALK).name]


def test_many_drop_one_at_once(client: Client, corpus: Corpus, cypher: Cypher) -> None:
    for number in range(20):
        name = f"hoprank-{corpus.id}-once-{number}"
        cypher("MATCH (n:HopRankCorpus) WITH n LIMIT 1 RETURN gds.graph.project($name, n, null)", name=name)
        together = threading.Barrier(6)

        def drop(name: str = name, together: threading.Barrier = together) -> None:
            together.wait()
            drop_projection(client, name)

        with ThreadPoolExecutor(6) as pool:
            for dropped in [pool.submit(drop) for _ in range(6)]:
                dropped.result()
        assert name not in [row["name"] for row in client.read("projections")]


@pytest.mark.slow
def test_beyond_the_budget_older_ones_go_but_nobody_elses(
    hoprank: HopRank, corpus: Corpus, library: str, foreign: str
) -> None:
    other = get_corpus(hoprank.client, library)
    ensure(hoprank, other)

    ensure(hoprank, corpus, projection_megabytes=0)

    names = [row["name"] for row in hoprank.client.read("projections")]
    assert walk_projection(other, other.generation, WALK).name not in names
    assert {walk_projection(corpus, 1, WALK).name, foreign} <= set(names)
    assert ask(hoprank, other)


@pytest.mark.slow
def test_corpora_and_knowledge_graphs_share_the_budget(hoprank: HopRank, corpus: Corpus) -> None:
    poor = hoprank.settings.walk.model_copy(update={"projection_megabytes": 0})
    settings = hoprank.settings.model_copy(update={"walk": poor})
    with KnowledgeGraph(f"test-{corpus.id}", client=hoprank.client, settings=settings) as graph:
        graph.add_node(KnowledgeNode("a", "thing"))
        try:
            ensure(hoprank, corpus)

            graph.importance()
            assert projections(hoprank.client, corpus) == []
            ensure(hoprank, corpus, projection_megabytes=0)
            assert [row["name"] for row in hoprank.client.read("projections") if "-view-" in row["name"]] == []
        finally:
            graph.drop()


@pytest.mark.parametrize(
    "projection", [Projection("a1", "walk", 3), Projection("a1", "view", 0, "both")], ids=lambda one: one.name
)
def test_a_name_tells_which_it_is(projection: Projection) -> None:
    assert Projection.named(projection.name) == projection


@pytest.mark.parametrize("name", ["", "hoprank", "hoprank-a-walk-x", "other-a-walk-1", "hoprank-a-walk-1-b-c"])
def test_other_names_are_nobodys(name: str) -> None:
    assert Projection.named(name) is None


@pytest.mark.slow
def test_a_corpus_without_chunks_needs_none(hoprank: HopRank, corpus_name: str, jsonl: Jsonl) -> None:
    hoprank.ingest(jsonl([{"id": "blank", "text": ""}]), corpus=corpus_name)

    hoprank.retriever(corpus_name).prepare()

    assert hoprank.search("Who?", corpus=corpus_name, leg="graph").items == ()
