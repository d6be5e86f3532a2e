"""Parents and children: one truth, whichever names the other."""

from __future__ import annotations

import pytest

from pipeline import KnowledgeGraph, KnowledgeNode
from pipeline.errors import GraphError


def family(graph: KnowledgeGraph) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    return {node.id: (node.parent_id, tuple(node.child_ids)) for node in graph.nodes()}


@pytest.mark.parametrize(
    "batch",
    [
        [KnowledgeNode("p", "t"), KnowledgeNode("a", "t", parent_id="p"), KnowledgeNode("b", "t", parent_id="p")],
        [KnowledgeNode("p", "t", child_ids=["b", "a"]), KnowledgeNode("a", "t"), KnowledgeNode("b", "t")],
        [
            KnowledgeNode("a", "t", parent_id="p"),
            KnowledgeNode("b", "t"),
            KnowledgeNode("p", "t", child_ids=["a", "b"]),
        ],
    ],
)
def test_either_may_name_the_other(graph: KnowledgeGraph, batch: list[KnowledgeNode]) -> None:
    graph.add_nodes(batch)

    assert family(graph) == {"p": (None, ("a", "b")), "a": ("p", ()), "b": ("p", ())}


def test_a_node_moves_by_its_parent_id(graph: KnowledgeGraph) -> None:
    graph.add_nodes([KnowledgeNode("p", "t", child_ids=["a"]), KnowledgeNode("q", "t"), KnowledgeNode("a", "t")])

    graph.update_node("a", parent_id="q")
    assert family(graph) == {"p": (None, ()), "q": (None, ("a",)), "a": ("q", ())}

    graph.update_node("a", parent_id=None)
    assert family(graph)["q"] == (None, ())

    graph.update_node("p", child_ids=["a", "q"])
    assert family(graph) == {"p": (None, ("a", "q")), "q": ("p", ()), "a": ("p", ())}

    graph.update_node("p", child_ids=["q"])
    assert family(graph) == {"p": (None, ("q",)), "q": ("p", ()), "a": (None, ())}


def test_children_outlive_their_parent(graph: KnowledgeGraph) -> None:
    graph.add_nodes([KnowledgeNode("p", "t"), KnowledgeNode("a", "t", parent_id="p")])

    graph.remove_node("p")

    assert family(graph) == {"a": (None, ())}


def test_nobody_is_their_own_ancestor(graph: KnowledgeGraph) -> None:
    with pytest.raises(GraphError, match="is its own parent"):
        KnowledgeNode("a", "t", parent_id="a")
    with pytest.raises(GraphError, match="their own ancestors"):
        graph.add_nodes([KnowledgeNode("a", "t", parent_id="b"), KnowledgeNode("b", "t", parent_id="a")])
    assert family(graph) == {}

    graph.add_nodes(
        [KnowledgeNode("a", "t"), KnowledgeNode("b", "t", parent_id="a"), KnowledgeNode("c", "t", parent_id="b")]
    )
    with pytest.raises(GraphError, match="their own ancestors"):
        graph.update_node("a", parent_id="c")
    assert family(graph)["a"] == (None, ("b",))


def test_a_parent_must_be_there_and_be_the_only_one(graph: KnowledgeGraph) -> None:
    with pytest.raises(GraphError, match="'a' names 'p' as its parent"):
        graph.add_node(KnowledgeNode("a", "t", parent_id="p"))
    with pytest.raises(GraphError, match="two parents, 'p' and 'q'"):
        graph.add_nodes([KnowledgeNode(one, "t", child_ids=["a"]) for one in "pq"] + [KnowledgeNode("a", "t")])
    graph.add_nodes([KnowledgeNode("p", "t", child_ids=["a"]), KnowledgeNode("a", "t")])
    with pytest.raises(GraphError, match="two parents, 'p' and 'q'"):
        graph.add_node(KnowledgeNode("q", "t", child_ids=["a"]))
    assert family(graph) == {"p": (None, ("a",)), "a": ("p", ())}
