"""Nodes: added, read, changed, removed, found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.client import Client
from pipeline.errors import GraphError

EVERYTHING: dict[str, Any] = {
    "text": "é 漢 😀",
    "empty": "",
    "whole": 3,
    "huge": 2**70,
    "real": 0.1,
    "yes": True,
    "nothing": None,
    "texts": ["a", "b"],
    "mixed": [1, "a", None, 2.5],
    "none at all": [],
    "nested": {"a": {"b": [1, {"c": None}]}},
    "": "a name of no characters",
}


def ids(nodes: Sequence[KnowledgeNode]) -> list[str]:
    return [node.id for node in nodes]


def test_a_node_comes_back_as_it_was(graph: KnowledgeGraph) -> None:
    node = KnowledgeNode(
        "a",
        "skill",
        labels=("x", "y"),
        properties=EVERYTHING,
        embedding=(1.0, -0.5, 0.25),
        created_at="2026-01-02T03:04:05+00:00",
        updated_at="2026-02-02T03:04:05+00:00",
    )

    graph.add_node(node)

    assert graph.get_node("a") == node
    assert graph.get_node("b") is None


def test_all_but_id_and_type_is_optional(graph: KnowledgeGraph) -> None:
    graph.add_node(KnowledgeNode("a", "skill"))

    found = graph.get_node("a")

    assert found
    assert (found.labels, found.properties, found.embedding, found.parent_id, found.child_ids) == (
        (),
        {},
        None,
        None,
        (),
    )
    assert found.created_at is not None
    assert found.created_at == found.updated_at


def test_an_update_changes_what_it_names_and_no_more(graph: KnowledgeGraph) -> None:
    graph.add_nodes(
        [KnowledgeNode("a", "t", ["x"], {"kept": 1, "changed": 1, "gone": 1}, [1.0, 2.0]), KnowledgeNode("b", "t")]
    )
    graph.add_edge(KnowledgeEdge("a", "b", "r"))
    before = graph.get_node("a")

    after = graph.update_node("a", type="u", properties={"changed": [2], "new": None}, remove_properties=["gone"])

    assert before
    assert after == graph.get_node("a")
    assert (after.type, after.labels, after.embedding) == ("u", ("x",), (1.0, 2.0))
    assert after.properties == {"kept": 1, "changed": [2], "new": None}
    assert after.created_at == before.created_at
    assert str(after.updated_at) > str(before.updated_at)
    assert ids(graph.get_neighbors("a")) == ["b"]
    assert graph.update_node("a", embedding=None).embedding is None


def test_an_update_of_what_is_not_there_says_so(graph: KnowledgeGraph) -> None:
    with pytest.raises(GraphError, match="no node 'a'"):
        graph.update_node("a", type="t")
    graph.add_node(KnowledgeNode("a", "t"))
    with pytest.raises(GraphError, match="no colour to update"):
        graph.update_node("a", colour="red")  # type: ignore[call-arg]


def test_a_removed_node_takes_its_edges_with_it(graph: KnowledgeGraph) -> None:
    graph.add_nodes([KnowledgeNode(one, "t") for one in "abc"])
    graph.add_edges([KnowledgeEdge("a", "b", "r"), KnowledgeEdge("b", "c", "r"), KnowledgeEdge("a", "c", "r")])

    graph.remove_node("b")

    assert [(edge.source, edge.target) for edge in graph.edges()] == [("a", "c")]
    with pytest.raises(GraphError, match="no node 'b'"):
        graph.remove_node("b")


def test_nodes_are_found_by_type_and_by_label(graph: KnowledgeGraph) -> None:
    graph.add_nodes(
        [KnowledgeNode("b", "skill", ["x", "y"]), KnowledgeNode("a", "skill", ["y"]), KnowledgeNode("c", "tool", ["x"])]
    )

    assert ids(graph.find_nodes_by_type("skill")) == ["a", "b"]
    assert ids(graph.find_nodes_by_label("x")) == ["b", "c"]
    assert graph.find_nodes_by_type("Skill") == []
    assert graph.find_nodes_by_label("z") == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), EVERYTHING.items())
def test_nodes_are_found_by_any_property(graph: KnowledgeGraph, name: str, value: Any) -> None:
    graph.add_nodes(
        [KnowledgeNode("a", "t", properties=EVERYTHING), KnowledgeNode("b", "t", properties={name: "other"})]
    )

    for one in (graph, graph.get_subgraph(["a", "b"])):
        assert ids(one.filter_nodes_by_property(name, value)) == ["a"]
        assert one.filter_nodes_by_property("no such", value) == []


def test_a_truth_value_is_no_number(graph: KnowledgeGraph) -> None:
    graph.add_nodes(
        [KnowledgeNode("number", "t", properties={"p": 1}), KnowledgeNode("truth", "t", properties={"p": True})]
    )

    for one in (graph, graph.to_memory()):
        assert ids(one.filter_nodes_by_property("p", 1)) == ["number"]
        assert ids(one.filter_nodes_by_property("p", 1.0)) == ["number"]
        assert ids(one.filter_nodes_by_property("p", True)) == ["truth"]


def test_embeddings_of_one_graph_have_one_length(graph: KnowledgeGraph) -> None:
    graph.add_node(KnowledgeNode("a", "t", embedding=[1.0, 2.0]))

    with pytest.raises(GraphError, match=r"3 numbers; those of the graph .* have 2"):
        graph.add_node(KnowledgeNode("b", "t", embedding=[1.0, 2.0, 3.0]))
    with pytest.raises(GraphError, match=r"one length, not 2 .* and 3"):
        graph.add_nodes([KnowledgeNode("b", "t", embedding=[1, 2]), KnowledgeNode("c", "t", embedding=[1, 2, 3])])
    with pytest.raises(GraphError, match="3 numbers"):
        graph.update_node("a", embedding=[1.0, 2.0, 3.0])
    assert graph.size().nodes == 1


def test_what_is_there_is_overwritten_only_when_asked(graph: KnowledgeGraph) -> None:
    graph.add_nodes([KnowledgeNode("a", "t", properties={"old": 1}), KnowledgeNode("b", "t", parent_id="a")])
    graph.add_edge(KnowledgeEdge("a", "b", "r"))
    before = graph.get_node("a")

    with pytest.raises(GraphError, match="already has the node 'a'"):
        graph.add_nodes([KnowledgeNode("new", "t"), KnowledgeNode("a", "u")])
    assert graph.get_node("new") is None

    graph.add_nodes([KnowledgeNode("a", "u", properties={"new": 1})], replace=True)
    after = graph.get_node("a")
    assert before
    assert after
    assert (after.type, after.properties, after.child_ids) == ("u", {"new": 1}, ("b",))
    assert after.created_at == before.created_at
    assert ids(graph.get_neighbors("a")) == ["b"]


def test_a_graph_is_one_s_own_by_its_name(client: Client, graph: KnowledgeGraph) -> None:
    graph.add_node(KnowledgeNode("a", "t"))

    assert KnowledgeGraph(graph.name, client=client).get_node("a") == graph.get_node("a")
    with pytest.raises(GraphError, match=f"Did you mean '{graph.name}'"):
        KnowledgeGraph(f"{graph.name}x", client=client, create=False)
