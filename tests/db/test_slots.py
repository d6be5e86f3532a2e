"""Slots of full-text indexes: the scores of an index of one's own, whoever comes and goes, and no index for each."""

from __future__ import annotations

import json
import random
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

import neo4j
import pytest

from pipeline import HopRank
from pipeline.db import slots
from pipeline.db.catalogue import find_corpus
from pipeline.db.client import Client
from pipeline.db.slots import CHUNK_FIELDS, NODE_FIELDS, TextSlot
from pipeline.knowledge.graph import KnowledgeGraph
from pipeline.knowledge.records import KnowledgeNode

Cypher: TypeAlias = Callable[..., list[neo4j.Record]]
WORDS = [f"word{number}" for number in range(300)]
QUESTIONS = ("word1 word2 word3", "word7 word90 word41 word250", "word11 word12")


def test_a_query_names_the_fields_of_the_slot() -> None:
    slot = TextSlot("HopRankTexts_1", 7)
    assert slot.asked("text:(a b^2) title:(a)^0.6") == "hoprank_7_text:(a b^2) hoprank_7_title:(a)^0.6"
    assert slot.asked("filterable:[703 TO 704}") == "hoprank_7_filterable:[703 TO 704}"
    assert {name for name, _ in slot.pairs(CHUNK_FIELDS)} == set(CHUNK_FIELDS)


def documents(seed: int, count: int = 40) -> list[dict[str, str]]:
    """Made-up documents whose words are drawn with ``seed``."""
    drawn = random.Random(seed)  # noqa: S311  # words of a test
    return [
        {"id": f"d{number}", "title": " ".join(drawn.choices(WORDS, k=3)), "text": " ".join(drawn.choices(WORDS, k=60))}
        for number in range(count)
    ]


@pytest.fixture
def ingest(hoprank: HopRank, tmp_path: Path) -> Callable[[str, int], None]:
    def write(corpus: str, seed: int) -> None:
        path = tmp_path / f"{corpus}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in documents(seed)), encoding="utf-8")
        hoprank.ingest(path, corpus=corpus)

    return write


def scores(hoprank: HopRank, corpus: str) -> list[tuple[str, float]]:
    """What the questions find by words, with Lucene's scores."""
    found = [hoprank.search(question, corpus=corpus, leg="fulltext", top_k=20) for question in QUESTIONS]
    return [(item.metadata["document"], item.metadata["score"]) for result in found for item in result.items]


def lone_scores(cypher: Cypher, name: str, client: Client) -> dict[str, float]:
    """Lucene's scores of the first question, by an index of the test's own over the same texts."""
    corpus = find_corpus(client, name)
    assert corpus
    index = f"lone_{uuid.uuid4().hex[:8]}"
    cypher(
        f"CREATE FULLTEXT INDEX {index} FOR (n:{corpus.label}) ON EACH [n.text, n.title, n.heading, n.folded] "
        f"OPTIONS {{indexConfig: {{`fulltext.analyzer`: 'english'}}}}"
    )
    try:
        cypher("CALL db.awaitIndex($index, 60)", index=index)
        terms = QUESTIONS[0]
        asked = f"text:({terms}) title:({terms})^0.6 heading:({terms})^0.6 folded:({terms})"
        found = "CALL db.index.fulltext.queryNodes($index, $asked) YIELD node AS c, score"
        rows = cypher(f"{found} RETURN c.document AS document, score", index=index, asked=asked)
        return {row["document"]: row["score"] for row in rows}
    finally:
        cypher(f"DROP INDEX {index}")


def indexes(cypher: Cypher) -> set[str]:
    return {row["name"] for row in cypher("SHOW INDEXES YIELD name")}


def test_scores_are_those_of_an_index_of_ones_own_whoever_comes_and_goes(
    hoprank: HopRank, client: Client, cypher: Cypher, new_corpus: Callable[[], Any], ingest: Callable[[str, int], None]
) -> None:
    with new_corpus() as name:
        ingest(name, 1)
        before = scores(hoprank, name)
        with ExitStack() as stack:
            for seed in (2, 3):
                ingest(stack.enter_context(new_corpus()), seed)
            beside = scores(hoprank, name)
        after = scores(hoprank, name)
        lone = lone_scores(cypher, name, client)
    assert before
    assert [id_ for id_, _ in beside] == [id_ for id_, _ in before]
    assert [score for _, score in beside] == pytest.approx([score for _, score in before], rel=1e-6)
    assert [score for _, score in after] == pytest.approx([score for _, score in before], rel=1e-6)
    own = before[: min(20, len(lone))]
    assert [score for _, score in own] == pytest.approx(sorted(lone.values(), reverse=True)[: len(own)], rel=1e-6)


def test_corpora_graphs_and_filters_make_no_index(
    hoprank: HopRank, cypher: Cypher, new_corpus: Callable[[], Any], ingest: Callable[[str, int], None], tmp_path: Path
) -> None:
    with new_corpus() as first, new_corpus() as second, new_corpus() as third:
        ingest(first, 1)
        with graph(hoprank) as made:
            made.search("word", mode="bm25")
            made.query([1.0, 0.5])
            before = indexes(cypher)
            ingest(second, 2)
            path = tmp_path / "filtered.jsonl"
            path.write_text(json.dumps({"id": "a", "title": "A", "text": "word1", "year": 7}), encoding="utf-8")
            hoprank.ingest(path, corpus=third, filterable=["year"])
            assert hoprank.search("word1", corpus=third, filters={"year": 7}).items
            with graph(hoprank) as another:
                assert another.search("word", mode="bm25")
                assert another.query([1.0, 0.5])
    assert indexes(cypher) - before == set()


def found(made: KnowledgeGraph) -> list[str]:
    return sorted(hit.node.id for hit in made.search("word", mode="bm25"))


class graph:  # noqa: N801  # reads as a function
    """A graph of two nodes, dropped afterwards."""

    def __init__(self, hoprank: HopRank) -> None:
        self.made = KnowledgeGraph(f"test-{uuid.uuid4().hex}", client=hoprank.client)

    def __enter__(self) -> KnowledgeGraph:
        properties = {"text": "a word", "hoprank_0_text": "of its own"}
        self.made.add_nodes(
            [KnowledgeNode("a", "t", embedding=[1.0, 0.5], properties=properties), KnowledgeNode("b", "t")]
        )
        return self.made

    def __exit__(self, *_: object) -> None:
        self.made.drop()


def test_nodes_that_are_written_after_the_first_search_are_found(hoprank: HopRank) -> None:
    with graph(hoprank) as made:
        assert found(made) == ["a"]
        made.add_node(KnowledgeNode("c", "t", properties={"text": "another word"}))
        assert found(made) == ["a", "c"]
        made.update_node("c", properties={"text": "nothing"})
        assert found(made) == ["a"]
        stored = made.get_node("a")
        assert stored
        assert stored.properties == {"text": "a word", "hoprank_0_text": "of its own"}


def test_many_that_search_a_graph_first_find_all(hoprank: HopRank) -> None:
    made = KnowledgeGraph(f"test-{uuid.uuid4().hex}", client=hoprank.client)
    try:
        made.add_nodes([KnowledgeNode(f"n{number}", "t", properties={"text": "a word"}) for number in range(200)])
        with ThreadPoolExecutor(8) as pool:
            opened = [KnowledgeGraph(made.name, client=hoprank.client, create=False) for _ in range(8)]
            found = list(pool.map(lambda one: len(list(one.search("word", top_k=500, mode="bm25"))), opened))
        assert found == [200] * 8
    finally:
        made.drop()


@pytest.fixture
def of_few_slots(monkeypatch: pytest.MonkeyPatch, client: Client, cypher: Cypher) -> Iterator[str]:
    """An analyser of the test's own whose indexes have four slots, and are rebuilt once three are retired."""
    monkeypatch.setattr(slots, "SLOTS", 4)
    monkeypatch.setattr(slots, "_AHEAD", 0)
    monkeypatch.setattr(slots, "_MOST_RETIRED", 3)
    analyzer = "whitespace"
    yield analyzer
    client.finish_background()
    pools = "MATCH (pool:HopRankTexts {analyzer: $analyzer})"
    for row in cypher(f"{pools} RETURN pool.index AS index", analyzer=analyzer):
        cypher(f"DROP INDEX {row['index']}")
    cypher(f"{pools} DELETE pool", analyzer=analyzer)


def test_slots_are_given_again_once_their_index_is_rebuilt(
    hoprank: HopRank, client: Client, cypher: Cypher, of_few_slots: str
) -> None:
    settings = hoprank.settings.model_copy(
        update={"fulltext": hoprank.settings.fulltext.model_copy(update={"analyzer": of_few_slots})}
    )

    def made() -> KnowledgeGraph:
        graph = KnowledgeGraph(f"test-{uuid.uuid4().hex}", client=client, settings=settings)
        graph.add_nodes(
            [KnowledgeNode(f"n{number}", "t", properties={"text": "a word " * number}) for number in range(1, 9)]
        )
        return graph

    def scored(one: KnowledgeGraph) -> list[tuple[str, float]]:
        return [(hit.node.id, hit.score) for hit in one.search("word", mode="bm25")]

    def pool() -> dict[str, Any]:
        (row,) = cypher("MATCH (pool:HopRankTexts {analyzer: $analyzer}) RETURN pool", analyzer=of_few_slots)
        return dict(row["pool"])

    graphs = [made() for _ in range(4)]
    try:
        first = [scored(one) for one in graphs]
        assert first == [first[0]] * 4
        assert pool()["free"] == []
        for one in graphs[1:]:
            one.drop()
        client.finish_background()
        assert sorted(pool()["free"]) == [1, 2, 3]
        assert pool()["retired"] == []
        assert scored(graphs[0]) == first[0]
        again = [made() for _ in range(3)]
        graphs = [graphs[0], *again]
        assert [scored(one) for one in graphs] == first
        assert len(cypher("MATCH (pool:HopRankTexts {analyzer: $analyzer}) RETURN pool", analyzer=of_few_slots)) == 1
    finally:
        for one in graphs:
            one.drop()


def test_searches_go_on_while_their_index_is_rebuilt(
    hoprank: HopRank, client: Client, of_few_slots: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "_MOST_RETIRED", 0)
    fulltext = hoprank.settings.fulltext.model_copy(update={"analyzer": of_few_slots})
    settings = hoprank.settings.model_copy(update={"fulltext": fulltext})
    made = KnowledgeGraph(f"test-{uuid.uuid4().hex}", client=client, settings=settings)
    try:
        made.add_nodes([KnowledgeNode(f"n{number}", "t", properties={"text": "a word"}) for number in range(9)])
        assert len(found(made)) == 9
        (texts,) = {row["texts"] for row in client.read("texts") if row["analyzer"] == of_few_slots}
        over = threading.Event()

        def ask() -> set[int]:
            seen = set()
            while not over.is_set():
                seen.add(len(made.search("word", mode="bm25")))
            return seen

        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(ask) for _ in range(4)]
            for _ in range(4):
                slots.rebuild_index(client, texts)
            over.set()
            assert [one.result() for one in asked] == [{9}] * 4
    finally:
        made.drop()


def test_the_fields_of_an_index_are_those_of_chunks_and_nodes() -> None:
    assert set(NODE_FIELDS) | set(CHUNK_FIELDS) == set(slots._FIELDS)
