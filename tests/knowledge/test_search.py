"""Queries by meaning with a walk from there, and searches by words and graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.errors import GraphError, QuestionError, Superseded
from pipeline.knowledge import Direction
from pipeline.knowledge.search import GraphRankings, random_walks
from pipeline.knowledge.store.memory import MemoryStore
from pipeline.knowledge.traverse import support

from .conftest import NewGraph

Filled = Callable[..., KnowledgeGraph]
VECTORS = {"a": [1.0, 0.0], "b": [0.8, 0.6], "c": [0.0, 1.0], "d": [-1.0, 0.1]}


@pytest.fixture
def small(filled: Filled) -> KnowledgeGraph:
    """a, b, c and d, embedded; and e, which is not and is reached from c only."""
    nodes = [
        KnowledgeNode(one, "t", embedding=vector, properties={"text": f"word{one}"}) for one, vector in VECTORS.items()
    ]
    edges = [
        KnowledgeEdge("a", "b", "r", weight=0.5, directed=False),
        KnowledgeEdge("b", "c", "r", weight=2.0),
        KnowledgeEdge("c", "e", "r"),
    ]
    return filled(edges, nodes)


def shares(found: list[Any]) -> dict[str, float]:
    return {one.node.id: one.score for one in found}


@pytest.mark.parametrize("memory", [False, True])
def test_a_query_walks_from_what_is_similar(small: KnowledgeGraph, memory: bool) -> None:
    graph = small.to_memory() if memory else small

    found = graph.query([1.0, 0.0], top_k=5, random_walk_steps=None)

    assert {one.node.id for one in found} == {"a", "b", "c", "e"}
    assert sum(one.score for one in found) == pytest.approx(1)
    assert {one.node.id: one.parts.get("similarity") for one in found} == {
        "a": pytest.approx(1.0),
        "b": pytest.approx(0.8, abs=1e-6),
        "c": pytest.approx(0.0, abs=1e-6),
        "e": None,
    }


def test_a_query_walks_without_end_unless_steps_are_asked_for(
    small: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = small.query([1.0, 0.2], 4, random_walk_steps=None)
    monkeypatch.setattr(small._store, "steps", lambda *_: pytest.fail("a step was asked for"))

    assert small.query([1.0, 0.2], 4) == exact


@pytest.mark.slow
@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("restart_prob", [0.15, 0.5])
def test_long_walks_come_to_the_exact_limit(small: KnowledgeGraph, direction: Direction, restart_prob: float) -> None:
    seeds = {"a": 0.7, "b": 0.3}

    exact = small._store.pagerank(seeds, restart_prob, direction, 10)
    walked = random_walks(small._store, seeds, steps=20_000, restart_prob=restart_prob, direction=direction, seed=1)

    assert walked.keys() == exact.keys()
    assert walked == pytest.approx(dict(exact), abs=0.01)


def test_the_same_seed_gives_the_same_walk(small: KnowledgeGraph) -> None:
    first, again, other = (small.query([1.0, 0.2], random_walk_steps=50, seed=seed) for seed in (3, 3, 4))

    assert first == again
    assert shares(first) != shares(other)


@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.booleans()),
        max_size=15,
    ),
    st.sampled_from(list(Direction)),
)
def test_the_limit_is_networkx_s_personalised_pagerank(
    emptied_graph: NewGraph, as_networkx: Callable[..., nx.MultiDiGraph], rows: list[Any], direction: Direction
) -> None:
    seeds = {"0": 2.0, "3": 1.0}
    with emptied_graph() as graph:
        graph.add_nodes(KnowledgeNode(str(number), "t") for number in range(7))
        graph.add_edges(
            KnowledgeEdge(str(one), str(other), "r", id=str(number), weight=weight, directed=directed)
            for number, (one, other, weight, directed) in enumerate(rows)
        )
        theirs = as_networkx(graph.nodes(), (edge for edge in graph.edges() if edge.weight), direction.value)
        start = {node: seeds.get(node, 0.0) for node in theirs}
        expected = nx.pagerank(theirs, 0.85, seeds, 1000, 1e-12, nstart=start)
        for one in (graph, graph.to_memory()):
            found = one._store.pagerank(seeds, 0.15, direction, 10)
            assert dict(found) == pytest.approx(
                {node: share for node, share in expected.items() if share > 0}, abs=1e-6
            )
            assert list(found) == sorted(found, key=lambda node: (-found[node], node))


def test_a_change_is_seen_by_the_next_query(small: KnowledgeGraph) -> None:
    before = shares(small.query([1.0, 0.0], 4, random_walk_steps=None))
    small.remove_node("b")
    after = shares(small.query([1.0, 0.0], 4, random_walk_steps=None))

    assert "b" in before
    assert "b" not in after


def test_a_text_is_embedded(graph: KnowledgeGraph) -> None:
    texts = {"cat": "A cat sleeps on the sofa.", "car": "The engine of a car.", "bread": "Bake bread in an oven."}
    vectors = graph._embedder.encode(list(texts.values())).tolist()
    graph.add_nodes(
        KnowledgeNode(one, "t", embedding=vector, properties={"text": text})
        for (one, text), vector in zip(texts.items(), vectors, strict=True)
    )

    assert graph.query("a sleeping animal", 1)[0].node.id == "cat"
    assert graph.search("a sleeping animal", 1, mode="vector")[0].node.id == "cat"


@pytest.mark.parametrize("memory", [False, True])
def test_a_search_finds_by_words_what_they_lead_to_and_both(small: KnowledgeGraph, memory: bool) -> None:
    graph = small.to_memory() if memory else small

    by_words = [one.node.id for one in graph.search("worda", mode="bm25")]
    around = [one.node.id for one in graph.search("worda", mode="graph", graph_hops=1)]
    whole = graph.search("worda wordb wordd", mode="hybrid", graph_hops=2)

    assert by_words == ["a"]
    assert around == ["b"], "a match brings nothing to itself"
    assert {one.node.id for one in whole} == {"a", "b", "c", "d", "e"}
    assert {one.node.id: {*one.parts} for one in whole} == {
        "a": {"bm25", "graph"},
        "b": {"bm25", "graph"},
        "c": {"graph"},
        "d": {"bm25"},
        "e": {"graph"},
    }
    assert shares(graph.search("worda", mode="hybrid", graph_hops=2)) == pytest.approx(
        {"a": 1.0, "b": 0.5 * (1 / 3), "c": 0.5 * (1 / 3) * (2 / 3.5)}
    ), "the same figures by both stores"
    assert [one.node.id for one in graph.search("worda", mode="hybrid", graph_hops=0)] == ["a"]
    assert graph.search("worda", mode="graph", graph_hops=0) == []
    assert graph.search("nothing has this") == []


class InMemory(GraphRankings):
    """Rankings of nodes with a text each, joined by edges, without a server."""

    def __init__(self, texts: Mapping[str, str], *edges: tuple[str, str]) -> None:
        nodes = [KnowledgeNode(node_id, "t", properties={"text": text}) for node_id, text in texts.items()]
        self._store = MemoryStore("test", nodes, [KnowledgeEdge(*ends, "r") for ends in edges])
        self._configured_embedder = None

    def ids(self, text: str, hops: int) -> list[str]:
        return [one.node.id for one in self.search(text, mode="hybrid", graph_hops=hops)]


PIERS = {f"pier {number}": f"the tide at pier {number}" for number in range(3)}
ASIDE = {"weak": "a very long list of other things and one tide among " + "words " * 40}


def test_what_several_matches_lead_to_comes_before_a_weak_match() -> None:
    graph = InMemory({**PIERS, **ASIDE, "harbour": "ships"}, *((pier, "harbour") for pier in PIERS))

    found = graph.search("tide", mode="hybrid", graph_hops=1)
    assert {repr(name) for one in found for name in one.parts} == {"'bm25'", "'graph'"}
    assert graph.ids("tide", 0) == [*PIERS, "weak"]
    assert graph.ids("tide", 1) == [*PIERS, "harbour", "weak"]


def test_a_neighbour_does_not_push_aside_what_the_words_name() -> None:
    around = {f"near {number}": f"gauge number {number}" for number in range(5)}
    graph = InMemory({"gauge": "the gauge for the tide at the pier", **around}, *(("gauge", one) for one in around))

    assert [graph.ids("gauge for the tide at the pier", hops)[0] for hops in range(4)] == ["gauge"] * 4


def test_support_adds_up_and_leaves_out_what_a_node_brings_to_itself() -> None:
    store = InMemory(dict.fromkeys("abch", ""), ("a", "h"), ("b", "h"), ("a", "c"), ("a", "a"))._store

    def brought(hops: int, limit: int = 10) -> dict[str, float]:
        return support(store, {"a": 1.0, "b": 0.5}, hops, limit, Direction.BOTH)

    # Of a's weights, 1 each, and 1 to stay, c and h get a fourth each: the last is that of its loop.
    assert brought(1) == pytest.approx({"h": 1 / 4 + 0.5 / 2, "c": 1 / 4})
    assert brought(2) == pytest.approx({"h": 0.5, "c": 0.25, "b": (1 / 4) / 3, "a": (0.5 / 2) / 3})
    assert brought(1, limit=1) == pytest.approx({"h": 1 / 4, "c": 1 / 4}), "only the strongest pass on"
    assert brought(0) == {}


@pytest.mark.parametrize("field", ["name", "title", "description", "text"])
def test_words_are_looked_for_in_id_labels_and_texts(graph: KnowledgeGraph, field: str) -> None:
    graph.add_nodes(
        [KnowledgeNode("password-reset", "t", ["accounts"], {field: "a gloomy basalt"}), KnowledgeNode("b", "t")]
    )

    for one in (graph, graph.to_memory()):
        for text in ("password reset", "accounts", "basalt"):
            assert [found.node.id for found in one.search(text, mode="bm25")] == ["password-reset"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda graph: graph.query([1.0, 0.0], 0), "top_k is 0"),
        (lambda graph: graph.query([1.0, 0.0], random_walk_steps=0), "random_walk_steps is 0"),
        (lambda graph: graph.query([1.0, 0.0], restart_prob=0), "restart_prob is 0"),
        (lambda graph: graph.query([1.0, 0.0], restart_prob=1.1), "restart_prob is 1.1"),
        (lambda graph: graph.query([1.0, 0.0, 0.0]), "3 numbers; the embeddings of .* have 2"),
        (lambda graph: graph.query([0.0, 0.0]), "zero"),
        (lambda graph: graph.query("a text"), "makes 384 numbers; the embeddings .* have 2"),
        (lambda graph: graph.search("a", 0), "top_k is 0"),
        (lambda graph: graph.search("a", mode="magic"), "mode is 'magic'"),
        (lambda graph: graph.search("a", graph_hops=-1), "graph_hops is -1"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused(
    small: KnowledgeGraph, call: Callable[[KnowledgeGraph], object], said: str
) -> None:
    with pytest.raises(GraphError, match=said):
        call(small)


def test_a_graph_without_embeddings_is_searched_by_words_only(graph: KnowledgeGraph) -> None:
    graph.add_node(KnowledgeNode("a", "t"))

    assert graph.query([1.0, 2.0]) == []
    with pytest.raises(GraphError, match="has an embedding"):
        graph.query("a text")
    with pytest.raises(QuestionError):
        graph.search(" ")


def test_what_many_edges_lead_to_is_important(filled: Filled) -> None:
    graph = filled([KnowledgeEdge(one, "hub", "r") for one in "abcd"])

    for one in (graph, graph.to_memory()):
        found = one.importance(2)
        assert list(found) == ["hub", "a"]
        assert found["hub"] == pytest.approx(0.4757, abs=0.01)


def test_a_projection_that_was_dropped_is_made_again(small: KnowledgeGraph, cypher: Callable[..., Any]) -> None:
    before = small.importance()
    listed = "CALL gds.graph.list() YIELD graphName WITH graphName WHERE graphName CONTAINS '-view-'"
    mine = f"{listed} RETURN graphName AS name"
    for row in cypher(mine):
        cypher("CALL gds.graph.drop($name) YIELD graphName RETURN graphName", name=row["name"])

    assert small.importance() == before
    small.remove_node("e")
    small.importance()
    small.drop()
    label = small._store.graph.id  # type: ignore[attr-defined]
    assert not [row["name"] for row in cypher(mine) if label in row["name"]]


def test_reads_of_a_graph_that_was_dropped_are_errors(small: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    # Rows of a first message arrive whole, so a stream asks only beyond it whether its graph is still there.
    monkeypatch.setattr("pipeline.db.client.FETCHED", 2)
    monkeypatch.setattr("pipeline.knowledge.store.neo4j.FETCHED", 2)
    small.search("worda")
    begun = iter(small.nodes())
    next(begun)
    small.drop()

    reads: list[Callable[[], object]] = [
        lambda: list(begun),
        small.size,
        lambda: small.get_node("a"),
        lambda: small.get_edge("a"),
        lambda: list(small.nodes()),
        lambda: list(small.edges()),
        lambda: small.get_neighbors("a"),
        lambda: small.find_path("a", "c"),
        lambda: small.nearest(VECTORS["a"]),
        small.importance,
        small.communities,
        small.to_memory,
        lambda: small.search("worda"),
    ]
    for read in reads:
        with pytest.raises(Superseded):
            read()
