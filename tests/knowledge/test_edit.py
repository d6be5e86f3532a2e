"""Edits that are decided on what a graph holds: one transaction, under its lock."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping, Sequence

import pytest

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.catalogue import get_graph
from pipeline.db.client import Client
from pipeline.errors import GraphError
from pipeline.knowledge.edit import Change, EdgesRead, Edits, Overtaken, in_turn


def chain(graph: KnowledgeGraph) -> None:
    graph.add_nodes([KnowledgeNode(name, "t") for name in "abc"])
    graph.add_edges([KnowledgeEdge("a", "b", "r", "ab"), KnowledgeEdge("b", "c", "r", "bc")])


@pytest.mark.parametrize(
    ("reads", "around", "expected"),
    [
        (EdgesRead.NONE, None, []),
        (EdgesRead.AMONG, None, ["ab"]),
        (EdgesRead.TOUCHING, None, ["ab", "bc"]),
        (EdgesRead.TOUCHING, ["a"], ["ab"]),
    ],
)
def test_a_decision_sees_the_nodes_that_exist_and_the_edges_asked_for(
    graph: KnowledgeGraph, reads: EdgesRead, around: list[str] | None, expected: list[str]
) -> None:
    chain(graph)
    seen: list[tuple[set[str], list[str]]] = []

    def decide(nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, int]:
        seen.append((set(nodes), sorted(edge.id for edge in edges)))
        return Edits(), len(edges)

    result = graph.edit(["a", "b", "missing"], decide, reads=reads, around=around)

    assert result == len(expected)
    assert seen == [({"a", "b"}, expected)]


def test_a_decision_sees_what_is_over_and_what_is_forgotten(graph: KnowledgeGraph) -> None:
    chain(graph)
    past = {
        "valid_at": "2020-01-01",
        "invalid_at": "2021-01-01",
        "created_at": "2020-01-01",
        "expired_at": "2022-01-01",
    }
    graph.add_edge(KnowledgeEdge("a", "b", "r", "old", **past))  # type: ignore[arg-type]
    seen: list[str] = []

    def decide(_: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, int]:
        seen.extend(edge.id for edge in edges)
        return Edits(), len(edges)

    graph.edit(["a", "b"], decide)

    assert sorted(seen) == ["ab", "old"]


def test_nodes_and_edges_are_created_overwritten_and_removed_at_once(graph: KnowledgeGraph) -> None:
    chain(graph)

    graph.edit(
        ["a"],
        lambda nodes, _: (
            Edits(
                nodes=[dataclasses.replace(nodes["a"], properties={"seen": 2}), KnowledgeNode("d", "new")],
                edges=[KnowledgeEdge("a", "b", "r", "ab", weight=0.5), KnowledgeEdge("a", "d", "likes")],
                removed_nodes=["c"],
                removed_edges=["bc"],
            ),
            None,
        ),
        node_types=["new"],
        edge_types=["likes"],
    )

    assert {node.id: dict(node.properties) for node in graph.nodes()} == {"a": {"seen": 2}, "b": {}, "d": {}}
    assert {(edge.source, edge.target, edge.type, edge.weight) for edge in graph.edges()} == {
        ("a", "b", "r", 0.5),
        ("a", "d", "likes", 1.0),
    }


def test_an_overwritten_node_keeps_the_embedding_of_its_text(graph: KnowledgeGraph) -> None:
    embeddings = graph.embed({"a": "a lantern"})
    graph.sync([KnowledgeNode("a", "t")], [], embeddings)

    graph.edit(["a"], lambda nodes, _: (Edits(nodes=[dataclasses.replace(nodes["a"], properties={"n": 1})]), None))

    assert graph.embed({"a": "a lantern"}).encoded == 0


def test_nothing_is_written_if_a_decision_raises_or_an_endpoint_is_missing(graph: KnowledgeGraph) -> None:
    chain(graph)

    def refuse(*_: object) -> tuple[Edits, None]:
        raise GraphError("no")

    with pytest.raises(GraphError, match="no"):
        graph.edit(["a"], refuse)
    with pytest.raises(GraphError, match="needs the node 'z'"):
        graph.edit([], lambda *_: (Edits(nodes=[KnowledgeNode("e", "t")], edges=[KnowledgeEdge("a", "z", "r")]), None))

    assert graph.size().nodes == 3


def test_edits_of_several_threads_are_made_one_after_the_other(graph: KnowledgeGraph) -> None:
    graph.add_node(KnowledgeNode("a", "t", properties={"count": 0}))

    def count(nodes: Mapping[str, KnowledgeNode], _: Sequence[KnowledgeEdge]) -> tuple[Edits, None]:
        known = nodes["a"]
        more = {"count": int(str(known.properties["count"])) + 1}
        return Edits(nodes=[dataclasses.replace(known, properties=more)]), None

    threads = [threading.Thread(target=lambda: [graph.edit(["a"], count) for _ in range(5)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    counted = graph.get_node("a")
    assert counted is not None
    assert counted.properties == {"count": 20}


def test_changes_in_turn_see_what_those_before_them_leave() -> None:
    a, b, changed = KnowledgeNode("a", "t"), KnowledgeNode("b", "t"), KnowledgeNode("a", "t", properties={"p": 1})
    edge = KnowledgeEdge("a", "b", "r", "ab")
    seen: list[tuple[list[str], list[str]]] = []

    def change(edits: Edits, *around: str) -> Change[int]:
        def decide(nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, int]:
            seen.append((sorted(nodes), sorted(edge.id for edge in edges)))
            return edits, len(seen)

        return Change(["a"], decide, around=around or None)

    first, last = Edits([a, b], [edge], text_hashes={"a": "x"}), Edits([changed], removed_edges=["ab"])
    together = in_turn([change(first, "b"), change(last), change(Edits(removed_nodes=["b"]))])
    edits, results = together.decide({}, [])

    assert results == [1, 2, 3]
    assert seen == [([], []), (["a", "b"], ["ab"]), (["a", "b"], [])]
    assert edits == Edits([changed], [], ["b"], ["ab"], {"a": "x"})
    assert (together.node_ids, together.around) == ({"a"}, {"a", "b"})


def test_an_edit_that_another_overtook_writes_nothing(client: Client, graph: KnowledgeGraph) -> None:
    chain(graph)
    version = get_graph(client, graph.name).version

    with pytest.raises(Overtaken):
        graph.edit(["a"], lambda *_: (Edits(removed_nodes=["a"]), None), since=version - 1)
    assert graph.get_node("a")

    graph.edit(["a"], lambda *_: (Edits(removed_nodes=["a"]), None), since=version)
    assert not graph.get_node("a")
