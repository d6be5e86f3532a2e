"""What any graph is asked: nodes by name, what is near one, the path between two, and the first by id."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.errors import GraphError, UnknownGraph, UnknownNode
from pipeline.knowledge import explore

EDGES = [
    KnowledgeEdge("a", "b", "knows", weight=1.0),
    KnowledgeEdge("a", "b", "likes", weight=2.0),
    KnowledgeEdge("b", "c", "knows", weight=0.5),
    KnowledgeEdge("d", "c", "knows", weight=0.5),
    KnowledgeEdge("a", "e", "married", weight=0.1, directed=False),
]
NODES = [
    KnowledgeNode("a", "person", properties={"name": "Ada"}),
    KnowledgeNode("b", "person", properties={"title": "Bo"}),
    KnowledgeNode("c", "person", properties={"name": "Cy"}),
    KnowledgeNode("d", "robot", properties={"name": "Cy"}),
    KnowledgeNode("e", "person"),
]


@pytest.fixture
def graph(filled: Callable[..., KnowledgeGraph]) -> KnowledgeGraph:
    return filled(EDGES, NODES)


@pytest.mark.parametrize(("given", "found"), [("a", "a"), ("Ada", "a"), ("Bo", "b")])
def test_a_node_is_found_by_its_id_its_name_or_its_title(graph: KnowledgeGraph, given: str, found: str) -> None:
    assert explore.find_node(graph, given).id == explore.find_node(graph.to_memory(), given).id == found


def test_a_name_of_several_nodes_or_of_none_is_refused(graph: KnowledgeGraph) -> None:
    with pytest.raises(GraphError, match=r"2 nodes of .* are named 'Cy'\.\nGive an id: 'c', 'd'\."):
        explore.find_node(graph, "Cy")
    with pytest.raises(UnknownNode, match=r"has no node 'the person Bo'\.\nNodes like it: 'b'"):
        explore.find_node(graph, "the person Bo")
    with pytest.raises(UnknownNode, match="Give the id of one of its nodes"):
        explore.find_node(graph, "zyzzyva")


def test_a_corpus_knows_documents_and_names(hoprank: HopRank, corpus_name: str, jsonl: Callable[..., object]) -> None:
    hoprank.ingest(
        str(jsonl([{"id": "ada", "title": "Ada Lovelace", "text": "Ada Lovelace met Charles Babbage."}])),
        corpus=corpus_name,
    )
    corpus = explore.open_graph(hoprank.client, corpus_name)

    assert explore.find_node(corpus, "ada").type == "document"
    name = explore.find_node(corpus, "charles babbage")
    assert name.type == "entity"
    assert {one.node.type for one in explore.near(corpus, name.id)} == {"chunk"}
    assert explore.name_of(explore.find_node(corpus, "ada")) == "Ada Lovelace"
    with pytest.raises(UnknownNode, match="the key of a document"):
        explore.find_node(corpus, "nobody")


def test_near_nodes_come_nearest_first_then_strongest(graph: KnowledgeGraph) -> None:
    found = explore.near(graph, "a", 2)

    assert [(one.node.id, one.hops, one.score) for one in found] == [("b", 1, 0.5), ("e", 1, 0.05), ("c", 2, 0.125)]
    assert [one.node.id for one in explore.near(graph, "a", 2, limit=2)] == ["b", "c"]
    assert [one.node.id for one in explore.near(graph, "a", 2, types=["likes"])] == ["b"]
    assert [one.node.id for one in explore.near(graph, "c", direction="out")] == []
    with pytest.raises(GraphError, match="has no node 'x'"):
        explore.near(graph, "x")


def test_a_path_has_the_edges_of_its_steps_heaviest_first(graph: KnowledgeGraph) -> None:
    found = explore.path(graph, "e", "d")

    assert [node.id for node in found.nodes] == ["e", "a", "b", "c", "d"]
    assert [[edge.type for edge in step] for step in found.steps] == [
        ["married"],
        ["likes", "knows"],
        ["knows"],
        ["knows"],
    ]
    assert {edge.id for edge in found.edges} == {edge.id for edge in EDGES}


@pytest.mark.parametrize(
    ("options", "nodes"),
    [
        ({"depth": 3}, []),
        ({"direction": "out"}, []),
        ({"direction": "in"}, []),
        ({"types": ["knows"]}, []),
        ({"depth": 4}, ["e", "a", "b", "c", "d"]),
    ],
)
def test_a_path_keeps_to_depth_direction_and_types(
    graph: KnowledgeGraph, options: dict[str, object], nodes: list[str]
) -> None:
    assert [node.id for node in explore.path(graph, "e", "d", **options).nodes] == nodes  # type: ignore[arg-type]


@pytest.mark.parametrize("depth", [0, 21])
def test_a_depth_out_of_bounds_is_refused(graph: KnowledgeGraph, depth: int) -> None:
    with pytest.raises(GraphError, match=f"The depth is {depth}"):
        explore.near(graph, "a", depth)
    with pytest.raises(GraphError, match=f"The depth is {depth}"):
        explore.path(graph, "e", "d", depth)


def test_the_steps_of_a_directed_path_lead_its_way(graph: KnowledgeGraph) -> None:
    out, back = explore.path(graph, "e", "c", direction="out"), explore.path(graph, "c", "e", direction="in")

    types = [["married"], ["likes", "knows"], ["knows"]]
    assert [[edge.type for edge in step] for step in out.steps] == types
    assert [[edge.type for edge in step] for step in back.steps] == types[::-1]
    only = explore.path(graph, "e", "b", types=["married", "knows"])
    assert [[edge.type for edge in step] for step in only.steps] == [["married"], ["knows"]]


def test_a_node_joins_itself_without_a_step(graph: KnowledgeGraph) -> None:
    found = explore.path(graph, "a", "a")

    assert ([node.id for node in found.nodes], found.steps) == (["a"], ())


def test_nodes_are_listed_by_id(graph: KnowledgeGraph) -> None:
    assert [node.id for node in explore.list_nodes(graph, limit=3)] == ["a", "b", "c"]
    assert [node.id for node in explore.list_nodes(graph, ["robot", "person", "robot"])] == ["a", "b", "c", "d", "e"]
    assert [node.id for node in explore.list_nodes(graph, ["robot"])] == ["d"]


def test_a_graph_or_a_corpus_is_opened_by_name(graph: KnowledgeGraph, hoprank: HopRank, library: str) -> None:
    assert explore.open_graph(hoprank.client, graph.name).size().nodes == 5
    assert explore.open_graph(hoprank.client, library).corpus_id
    with pytest.raises(UnknownGraph, match=r"There is no graph and no corpus 'nowhere'"):
        explore.open_graph(hoprank.client, "nowhere")
