"""Nodes from chunks, and their edges by each strategy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from pipeline import KnowledgeEdge, KnowledgeGraph
from pipeline.errors import GraphError
from pipeline.knowledge import CallbackEdges, CosineEdges, ExplicitEdges, GraphChunk, SupportedEdgeType


def chunk(name: str, degrees: float | None) -> GraphChunk:
    radians = math.radians(degrees or 0.0)
    return GraphChunk(f"text of {name}", None if degrees is None else [math.cos(radians), math.sin(radians)], {}, name)


def pairs(edges: Sequence[KnowledgeEdge]) -> dict[str, float]:
    return {"".join(sorted((edge.source, edge.target))): edge.weight for edge in edges}


def test_a_chunk_becomes_a_node_with_its_text_and_metadata(graph: KnowledgeGraph) -> None:
    given = GraphChunk(text="A text.", embedding=[1.0, 2.0], metadata={"page": 3}, id="a")

    (node,) = graph.add_nodes_from_chunks([given], node_type="document")

    found = graph.get_node("a")
    assert found
    assert (found.type, found.properties, found.embedding) == ("document", {"page": 3, "text": "A text."}, (1.0, 2.0))
    assert node.id == "a"


def test_cosine_links_what_is_alike_enough(graph: KnowledgeGraph) -> None:
    graph.add_nodes_from_chunks([chunk("a", 0), chunk("b", 30), chunk("c", 60), chunk("d", 180), chunk("e", None)])

    (edges, kinds) = (list(graph.edges()), {edge.supported_edge_type for edge in graph.edges()})
    assert pairs(edges) == {"ab": pytest.approx(0.866025), "bc": pytest.approx(0.866025)}
    assert kinds == {SupportedEdgeType.SEMANTIC}
    assert not any(edge.directed for edge in edges)


@pytest.mark.parametrize(
    ("degrees", "options", "expected"),
    [
        ((0, 30, 60), CosineEdges(0.5), {"ab", "bc", "ac"}),
        ((0, 30, 60), CosineEdges(0.9), set()),
        ((0, 30, 60), CosineEdges(-1), {"ab", "bc", "ac"}),
        ((0, 60), CosineEdges(0.5), {"ab"}),  # just met
        ((0, 10, 30, 35), CosineEdges(0.5, top_k=1), {"ab", "cd"}),
    ],
)
def test_the_threshold_and_the_nearest_decide(
    graph: KnowledgeGraph, degrees: tuple[int, ...], options: CosineEdges, expected: set[str]
) -> None:
    graph.add_nodes_from_chunks(map(chunk, "abcd", degrees), edge_options=options)

    assert pairs(list(graph.edges())).keys() == expected


def test_later_chunks_are_linked_to_earlier_ones(graph: KnowledgeGraph) -> None:
    graph.add_nodes_from_chunks([chunk("a", 0), chunk("d", 180)])
    graph.add_nodes_from_chunks([chunk("b", 30)])

    assert pairs(list(graph.edges())).keys() == {"ab"}


def test_all_pairs_are_found_across_blocks(graph: KnowledgeGraph) -> None:
    vectors = np.random.default_rng(1).normal(size=(2_500, 8))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = {(i, j) for i, j in np.argwhere(np.triu(unit @ unit.T, 1) >= 0.95).tolist()}

    graph.add_nodes_from_chunks(
        (GraphChunk(id=str(row), embedding=vector.tolist()) for row, vector in enumerate(vectors)),
        edge_options=CosineEdges(0.95),
    )

    found = {tuple(sorted((int(edge.source), int(edge.target)))) for edge in graph.edges()}
    assert found == expected


def test_explicit_edges_are_those_given(graph: KnowledgeGraph) -> None:
    graph.add_nodes_from_chunks(
        [chunk("a", 0), chunk("b", 0)], edge_options=ExplicitEdges([KnowledgeEdge("b", "a", "cites")])
    )

    assert [(edge.source, edge.target, edge.type) for edge in graph.edges()] == [("b", "a", "cites")]


def test_a_callback_says_yes_or_how_much(graph: KnowledgeGraph) -> None:
    def callback(one: GraphChunk, other: GraphChunk) -> bool | float:
        return {"ab": True, "bc": 0.25}.get(f"{one.id}{other.id}", False)

    graph.add_nodes_from_chunks([chunk(one, None) for one in "abc"], edge_options=CallbackEdges(callback))

    assert pairs(list(graph.edges())) == {"ab": 1.0, "bc": 0.25}


def test_chunks_and_edges_are_one_batch(graph: KnowledgeGraph) -> None:
    with pytest.raises(GraphError, match="needs the node 'nowhere'"):
        graph.add_nodes_from_chunks(
            [chunk("a", 0)], edge_options=ExplicitEdges([KnowledgeEdge("a", "nowhere", "cites")])
        )
    assert graph.size().nodes == 0


def test_chunks_without_ids_are_told_apart_and_known_again(graph: KnowledgeGraph) -> None:
    chunks = [GraphChunk("same"), GraphChunk("same"), GraphChunk("other")]

    first = [node.id for node in graph.add_nodes_from_chunks(chunks)]
    again = [node.id for node in graph.add_nodes_from_chunks(chunks, replace=True)]

    assert len(set(first)) == 3
    assert first == again


def test_missing_embeddings_are_made_when_asked_for(graph: KnowledgeGraph) -> None:
    chunks = [GraphChunk("A cat sleeps."), GraphChunk("The cat is asleep."), GraphChunk("Interest rates rose.")]

    nodes = graph.add_nodes_from_chunks(chunks, edge_options=CosineEdges(0.6), embed=True)

    assert {len(node.embedding or ()) for node in nodes} == {384}
    assert pairs(list(graph.edges())).keys() == {"".join(sorted((nodes[0].id, nodes[1].id)))}


@pytest.mark.parametrize("options", [{"threshold": 1.5}, {"threshold": -2.0}, {"top_k": 0}])
def test_a_strategy_that_cannot_be_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(GraphError, match="Cosine edges can't have"):
        CosineEdges(**options)  # type: ignore[arg-type]
