"""Edges: added, read, removed, found; batches that fail leave nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.errors import GraphError
from pipeline.knowledge import SupportedEdgeType

Filled = Callable[..., KnowledgeGraph]


def test_an_edge_comes_back_as_it_was(graph: KnowledgeGraph) -> None:
    graph.add_nodes([KnowledgeNode("a", "t"), KnowledgeNode("b", "t")])
    edge = KnowledgeEdge(
        "a", "b", "solves", "e", SupportedEdgeType.CAUSAL, 0.3, directed=False, properties={"since": {"year": 2020}}
    )

    graph.add_edge(edge)

    stored = graph.get_edge("e")
    assert stored
    assert stored.created_at
    assert dataclasses.replace(stored, created_at=None) == edge
    assert graph.get_edge("f") is None


@pytest.mark.parametrize("kind", [*SupportedEdgeType, None])
def test_every_supported_type_is_kept_and_reported(filled: Filled, kind: SupportedEdgeType | None) -> None:
    graph = filled([KnowledgeEdge("a", "b", "r", supported_edge_type=kind)])

    assert graph.get_neighbor_info("a")[0].supported_edge_type is kind


def test_an_edge_without_an_id_has_a_derived_one(filled: Filled) -> None:
    one = KnowledgeEdge("a", "b", "r", directed=False)

    assert one.id == KnowledgeEdge("b", "a", "r", directed=False).id
    assert one.id != KnowledgeEdge("a", "b", "r").id != KnowledgeEdge("b", "a", "r").id
    with pytest.raises(GraphError, match="already has the edge"):
        filled([one]).add_edge(KnowledgeEdge("b", "a", "r", directed=False))


def test_parallel_edges_have_ids_of_their_own(filled: Filled) -> None:
    graph = filled([KnowledgeEdge("a", "b", "r", id=one) for one in ("1", "2")])

    assert [edge.id for edge in graph.get_edges_by_type("r")] == ["1", "2"]
    assert [node.id for node in graph.get_neighbors("a")] == ["b"]


def test_edges_are_found_by_type(filled: Filled) -> None:
    graph = filled(
        [KnowledgeEdge("a", "b", "r", id="2"), KnowledgeEdge("b", "c", "s"), KnowledgeEdge("c", "a", "r", id="1")]
    )

    assert [edge.id for edge in graph.get_edges_by_type("r")] == ["1", "2"]
    assert graph.get_edges_by_type("R") == []


def test_an_edge_is_removed_by_its_id(filled: Filled) -> None:
    graph = filled([KnowledgeEdge("a", "b", "r", id="1"), KnowledgeEdge("a", "c", "r", id="2")])

    graph.remove_edge("1")

    assert [edge.id for edge in graph.edges()] == ["2"]
    with pytest.raises(GraphError, match="no edge '1'"):
        graph.remove_edges(["2", "1"])
    assert graph.size().edges == 1


def test_a_replaced_edge_may_have_other_ends(filled: Filled) -> None:
    graph = filled([KnowledgeEdge("a", "b", "r", id="1")], [KnowledgeNode("c", "t")])

    graph.add_edges([KnowledgeEdge("c", "a", "s", id="1")], replace=True)

    assert [(edge.source, edge.target, edge.type) for edge in graph.edges()] == [("c", "a", "s")]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (KnowledgeEdge("a", "nowhere", "r"), "needs the node 'nowhere'"),
        (KnowledgeEdge("nowhere", "a", "r"), "needs the node 'nowhere'"),
        (KnowledgeEdge("a", "b", "r", id="there"), "already has the edge 'there'"),
        (KnowledgeEdge("a", "b", "r", id="new 0"), "holds the edge 'new 0' more than once"),
    ],
)
def test_a_batch_with_one_bad_edge_leaves_nothing(filled: Filled, bad: KnowledgeEdge, said: str) -> None:
    graph = filled([KnowledgeEdge("a", "b", "r", id="there")])
    good = [KnowledgeEdge("a", "b", "r", id=f"new {number}") for number in range(6000)]

    with pytest.raises(GraphError, match=said):
        graph.add_edges([*good, bad])

    assert [edge.id for edge in graph.edges()] == ["there"]


def test_a_batch_with_one_bad_node_leaves_nothing(graph: KnowledgeGraph) -> None:
    good = [KnowledgeNode(f"new {number}", "t") for number in range(6000)]

    with pytest.raises(GraphError, match="'bad' names 'nowhere' as its parent"):
        graph.add_nodes([*good, KnowledgeNode("bad", "t", parent_id="nowhere")])
    with pytest.raises(GraphError, match="'new 0' more than once"):
        graph.add_nodes([*good, good[0]])

    assert graph.size().nodes == 0


@pytest.mark.slow
def test_a_batch_of_many_is_written_whole(graph: KnowledgeGraph) -> None:
    graph.add_nodes(KnowledgeNode(str(number), "t") for number in range(12_000))
    graph.add_edges(KnowledgeEdge(str(number), str(number + 1), "r") for number in range(11_999))

    assert (graph.size().nodes, graph.size().edges) == (12_000, 11_999)


def test_a_loop_is_an_edge_like_others(filled: Filled) -> None:
    graph = filled([KnowledgeEdge("a", "a", "r")])

    assert [node.id for node in graph.get_neighbors("a")] == ["a"]
    assert [node.id for node in graph.find_path("a", "a")] == ["a"]
