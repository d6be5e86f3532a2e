"""Neighbours, paths and hops: small cases by hand, random graphs against networkx."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.errors import GraphError

from .conftest import NewGraph

Filled = Callable[..., KnowledgeGraph]
PROPERTY = settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])

NODES = [str(number) for number in range(8)]
EDGES = st.lists(
    st.builds(
        lambda source, target, type_, weight, directed: (source, target, type_, weight, directed),
        st.sampled_from(NODES),
        st.sampled_from(NODES),
        st.sampled_from(["r", "s"]),
        st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0]),
        st.booleans(),
    ),
    max_size=20,
)


def build(graph: KnowledgeGraph, rows: list[tuple[str, str, str, float, bool]]) -> None:
    graph.add_nodes(KnowledgeNode(one, "thing") for one in NODES)
    graph.add_edges(
        KnowledgeEdge(source, target, type_, id=str(number), weight=weight, directed=directed)
        for number, (source, target, type_, weight, directed) in enumerate(rows)
    )


def ids(found: Any) -> list[str]:
    return [one.id for one in found]


def test_a_neighbour_is_where_an_edge_leads(refilled: Filled) -> None:
    graph = refilled(
        [
            KnowledgeEdge("a", "out", "r", weight=0.5),
            KnowledgeEdge("in", "a", "r"),
            KnowledgeEdge("both", "a", "s", weight=0.9, directed=False),
        ]
    )

    assert ids(graph.get_neighbors("a")) == ["both", "out"]
    assert ids(graph.get_neighbors("a", direction="in")) == ["both", "in"]
    assert ids(graph.get_neighbors("a", direction="both")) == ["both", "in", "out"]
    assert ids(graph.get_neighbors("both")) == ["a"]
    assert [(info.id, info.weight) for info in graph.get_neighbor_info("a")] == [("both", 0.9), ("out", 0.5)]
    assert [(info.id, info.edge_type) for info in graph.get_neighbor_info("a", "s")] == [("both", "s")]
    assert ids(graph.get_neighbors("a", "s")) == ["both"]


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({}, "adc"),
        ({"by": "weight"}, "abc"),
        ({"by": "strength"}, "adc"),
        ({"edge_types": ["r"]}, "abc"),
        ({"edge_types": []}, ""),
        ({"max_depth": 1}, ""),
        ({"by": "weight", "max_depth": 1}, ""),
        ({"direction": "in"}, ""),
    ],
)
def test_the_shortest_path_by_what_makes_it_short(refilled: Filled, options: dict[str, Any], path: str) -> None:
    graph = refilled(
        [
            KnowledgeEdge("a", "b", "r", weight=0.1),
            KnowledgeEdge("b", "c", "r", weight=0.1),
            KnowledgeEdge("a", "d", "s", weight=5.0),
            KnowledgeEdge("d", "c", "s", weight=5.0),
        ]
    )

    if not options:
        assert len(graph.find_path("a", "c")) == 3
    else:
        assert "".join(ids(graph.find_path("a", "c", **options))) == path


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda graph: graph.get_neighbors("x"), "no node 'x'"),
        (lambda graph: graph.find_path("a", "x"), "no node 'x'"),
        (lambda graph: graph.find_path("x", "a"), "no node 'x'"),
        (lambda graph: graph.multi_hop_retrieval("x"), "no node 'x'"),
        (lambda graph: graph.get_subgraph(["a", "x"]), "no node 'x'"),
        (lambda graph: graph.get_neighbors("a", direction="up"), "direction is 'up'"),
        (lambda graph: graph.find_path("a", "b", by="luck"), "by is 'luck'"),
        (lambda graph: graph.find_path("a", "b", max_depth=-1), "max_depth is -1"),
        (lambda graph: graph.find_path("a", "b", edge_types="r"), "edge_types is the text 'r'"),
        (lambda graph: graph.multi_hop_retrieval("a", -1), "hops=-1"),
        (lambda graph: graph.multi_hop_retrieval("a", limit=0), "limit=0"),
        (lambda graph: graph.multi_hop_retrieval("a", decay=0), "decay=0"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(
    refilled: Filled, call: Callable[[KnowledgeGraph], object], said: str
) -> None:
    graph = refilled([KnowledgeEdge("a", "b", "r")])

    with pytest.raises(GraphError, match=said) as caught:
        call(graph)
    assert caught.value.fix


def test_hops_come_once_each_with_their_strongest_way(refilled: Filled) -> None:
    graph = refilled(
        [
            KnowledgeEdge("a", "b", "r", weight=0.2),
            KnowledgeEdge("a", "c", "r", weight=1.0),
            KnowledgeEdge("c", "b", "r", weight=1.0),
            KnowledgeEdge("b", "a", "r", weight=1.0),
            KnowledgeEdge("b", "d", "r", weight=1.0),
        ]
    )

    found = {one.node.id: (one.hops, one.score) for one in graph.multi_hop_retrieval("a", 2)}
    assert found == {"a": (0, 1.0), "c": (1, 0.5), "b": (1, 0.25), "d": (2, pytest.approx(0.05))}
    assert [one.node.id for one in graph.multi_hop_retrieval("a", 2, limit=2)] == ["a", "c"]
    assert [one.node.id for one in graph.multi_hop_retrieval("d", 5)] == ["d"]


@PROPERTY
@given(EDGES, st.sampled_from(["out", "in", "both"]))
def test_it_goes_where_networkx_goes(
    emptied_graph: NewGraph, as_networkx: Callable[..., nx.MultiDiGraph], rows: list[Any], direction: str
) -> None:
    with emptied_graph() as stored:
        build(stored, rows)
        theirs = as_networkx(stored.nodes(), stored.edges(), direction)
        for ours in (stored, stored.to_memory()):
            for one in NODES:
                assert ids(ours.get_neighbors(one, direction=direction)) == sorted(theirs.successors(one))
                check_hops(ours, theirs, one, direction)
            for one, other in [("0", "1"), ("2", "5"), ("7", "3"), ("4", "4")]:
                check_paths(ours, theirs, one, other, direction)


def check_hops(ours: KnowledgeGraph, theirs: nx.MultiDiGraph, one: str, direction: str) -> None:
    lengths = nx.single_source_shortest_path_length(theirs, one, cutoff=2)
    found = ours.multi_hop_retrieval(one, 2, direction=direction)
    assert {reached.node.id: reached.hops for reached in found} == lengths
    best = strongest(theirs, one, hops=2)
    assert {reached.node.id: pytest.approx(reached.score) for reached in found} == best
    order = [(-reached.score, reached.hops, reached.node.id) for reached in found]
    assert order == sorted(order)


def strongest(theirs: nx.MultiDiGraph, start: str, hops: int) -> dict[str, float]:
    """Bellman and Ford's way, over all edges."""
    best = {start: 1.0}
    for _ in range(hops):
        before = dict(best)
        for source, target, weight in theirs.edges(data="weight"):
            if source in before:
                best[target] = max(best.get(target, 0.0), before[source] * min(weight, 1.0) * 0.5)
    return best


def check_paths(ours: KnowledgeGraph, theirs: nx.MultiDiGraph, one: str, other: str, direction: str) -> None:
    path = ids(ours.find_path(one, other, direction=direction))
    assert nx.has_path(theirs, one, other) is bool(path)
    if path:
        assert len(path) == len(nx.shortest_path(theirs, one, other))
        assert nx.is_path(theirs, path)
    costs: dict[str, Callable[[float], float]] = {
        "weight": lambda weight: weight,
        "strength": lambda weight: 1 / weight if weight else math.inf,
    }
    for by, cost in costs.items():
        cheap = ids(ours.find_path(one, other, by=by, direction=direction))
        least = cheapest(theirs, one, other, cost, len(NODES))
        assert length(theirs, cheap, cost) == pytest.approx(least)
        for depth in (1, 2, 3):
            bounded = ids(ours.find_path(one, other, by=by, direction=direction, max_depth=depth))
            assert len(bounded) <= depth + 1
            assert length(theirs, bounded, cost) == pytest.approx(cheapest(theirs, one, other, cost, depth))


def length(theirs: nx.MultiDiGraph, path: list[str], cost: Callable[[float], float]) -> float:
    if not path:
        return math.inf
    return sum(
        min(cost(data["weight"]) for data in theirs[one][other].values()) for one, other in itertools.pairwise(path)
    )


def cheapest(theirs: nx.MultiDiGraph, one: str, other: str, cost: Callable[[float], float], hops: int) -> float:
    best = {one: 0.0}
    for _ in range(hops):
        before = dict(best)
        for source, target, weight in theirs.edges(data="weight"):
            best[target] = min(best.get(target, math.inf), before.get(source, math.inf) + cost(weight))
    return best.get(other, math.inf)


@PROPERTY
@given(EDGES, st.integers(1, 8))
def test_a_limit_never_changes_which_are_the_best(emptied_graph: NewGraph, rows: list[Any], limit: int) -> None:
    with emptied_graph() as stored:
        build(stored, [row for row in rows if row[3]])
        graph = stored.to_memory()
    for one in NODES:
        everything = graph.multi_hop_retrieval(one, 3)
        assert graph.multi_hop_retrieval(one, 3, limit=limit) == everything[:limit]


@PROPERTY
@given(EDGES, st.sets(st.sampled_from(NODES)))
def test_a_subgraph_is_networkx_s(
    emptied_graph: NewGraph, as_networkx: Callable[..., nx.MultiDiGraph], rows: list[Any], chosen: set[str]
) -> None:
    with emptied_graph() as graph:
        build(graph, rows)
        theirs = as_networkx(graph.nodes(), graph.edges()).subgraph(chosen)
        ours = graph.get_subgraph(sorted(chosen))

    found = as_networkx(ours.nodes(), ours.edges())
    assert set(found.edges(keys=True)) == set(theirs.edges(keys=True))
    assert set(found) == set(theirs) == chosen


def test_a_subgraph_is_a_graph_of_its_own(refilled: Filled) -> None:
    graph = refilled(
        [KnowledgeEdge("a", "b", "r"), KnowledgeEdge("b", "c", "r")],
        [KnowledgeNode("a", "t", child_ids=["b", "c"]), KnowledgeNode("b", "t"), KnowledgeNode("c", "t")],
    )

    part = graph.get_subgraph(["b", "a"])
    graph.remove_node("b")

    assert isinstance(part, KnowledgeGraph)
    assert ids(part.get_neighbors("a")) == ["b"]
    assert [tuple(node.child_ids) for node in part.get_nodes(["a"])] == [("b",)]
    assert ids(part.get_subgraph(["a"]).nodes()) == ["a"]
    for change in (
        lambda: part.add_node(KnowledgeNode("d", "t")),
        lambda: part.add_edge(KnowledgeEdge("a", "b", "s")),
        lambda: part.update_node("a", type="u"),
        lambda: part.remove_node("a"),
        lambda: part.remove_edge("e"),
        part.drop,
    ):
        with pytest.raises(GraphError, match="is read-only"):
            change()


def test_a_subgraph_of_nothing_is_empty(graph: KnowledgeGraph) -> None:
    part = graph.get_subgraph([])

    assert (part.size().nodes, part.size().edges) == (0, 0)
    assert part.importance() == {}
    assert part.search("anything") == []
