"""Sync of a graph: after any edits it is as a fresh build, and only differences are written."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.client import Client
from pipeline.errors import GraphError
from pipeline.knowledge.schema import Schema
from pipeline.knowledge.sync import Changes, Embeddings

NewGraph = Callable[[], AbstractContextManager[KnowledgeGraph]]
Content = tuple[list[KnowledgeNode], list[KnowledgeEdge]]

IDS = "abcde"
nodes = st.builds(
    lambda types, values, parents, vectors: [
        KnowledgeNode(
            id_,
            types[id_],
            labels=[types[id_]],
            properties={"value": values[id_]} if values[id_] is not None else {},
            embedding=vectors[id_],
            parent_id=parents.get(id_) if parents.get(id_, "z") < id_ and parents[id_] in types else None,
        )
        for id_ in sorted(types)
    ],
    st.dictionaries(st.sampled_from(IDS), st.sampled_from(["x", "y"]), max_size=5),
    st.fixed_dictionaries({id_: st.sampled_from([None, 1, "1", True, {"deep": 1}]) for id_ in IDS}),
    st.dictionaries(st.sampled_from(IDS), st.sampled_from(IDS), max_size=3),
    st.fixed_dictionaries({id_: st.sampled_from([None, [1.0, 0.0], [0.0, 1.0]]) for id_ in IDS}),
)


@st.composite
def contents(draw: st.DrawFn) -> Content:
    chosen = draw(nodes)
    ids = [node.id for node in chosen]
    if not ids:
        return [], []
    ends = st.sampled_from(ids)
    edges = draw(
        st.lists(
            st.builds(
                KnowledgeEdge,
                ends,
                ends,
                st.sampled_from(["r", "s"]),
                id=st.sampled_from(["1", "2", "3", "4"]),
                weight=st.sampled_from([0.5, 1.0]),
                directed=st.booleans(),
            ),
            max_size=4,
            unique_by=lambda edge: edge.id,
        )
    )
    return chosen, edges


def timeless(graph: KnowledgeGraph) -> tuple[list[Any], list[Any]]:
    """The content of a graph without the times of writes."""
    nodes = [dataclasses.replace(node, created_at=None, updated_at=None) for node in graph.nodes()]
    edges = [dataclasses.replace(edge, created_at=None) for edge in graph.edges()]
    return sorted(nodes, key=lambda node: node.id), sorted(edges, key=lambda edge: edge.id)


@pytest.mark.slow
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(contents(), min_size=1, max_size=3))
def test_any_edits_leave_what_a_fresh_build_makes(new_graph: NewGraph, edits: Sequence[Content]) -> None:
    with new_graph() as synced, new_graph() as fresh:
        for content in edits:
            synced.sync(*content)
        fresh.add_nodes(edits[-1][0])
        fresh.add_edges(edits[-1][1])

        assert timeless(synced) == timeless(fresh)
        assert synced.size() == fresh.size()
        assert synced.sync(*edits[-1]) == Changes()


def test_only_differences_are_written(client: Client, graph: KnowledgeGraph) -> None:
    before = [KnowledgeNode(id_, "t", properties={"n": 1}) for id_ in "abc"]
    edges = [KnowledgeEdge("a", "b", "r"), KnowledgeEdge("b", "c", "r")]
    first = graph.sync(before, edges)
    created = {node.id: node.created_at for node in graph.nodes()}
    version, written = graph._store._state().version, client.written  # type: ignore[attr-defined]

    assert graph.sync(before, edges) == Changes()
    assert (graph._store._state().version, client.written) == (version, written)  # type: ignore[attr-defined]

    changed = [before[0], dataclasses.replace(before[1], properties={"n": 2}), KnowledgeNode("d", "t")]
    second = graph.sync(changed, [dataclasses.replace(edges[0], weight=0.5)])
    assert first == Changes(nodes_added=("a", "b", "c"), edges_added=tuple(sorted(edge.id for edge in edges)))
    assert second == Changes(("d",), ("b",), ("c",), (), (edges[0].id,), (edges[1].id,))
    after = {node.id: node for node in graph.nodes()}
    assert after["a"].updated_at == after["a"].created_at
    assert (after["b"].created_at, after["b"].updated_at) != (created["b"], created["b"])
    assert after["b"].created_at == created["b"]


def test_only_new_texts_are_embedded(graph: KnowledgeGraph) -> None:
    texts = {"a": "one text", "b": "another text", "c": "one text"}
    nodes = [KnowledgeNode(id_, "t") for id_ in texts]

    first = graph.embed(texts)
    graph.sync(nodes, [], first)
    second = graph.embed({**texts, "b": "a third text"})
    graph.sync(nodes, [], second)

    assert (first.encoded, second.encoded) == (2, 1)
    assert graph.embed({"d": "a third text"}).encoded == 0
    stored = {node.id: node.embedding for node in graph.nodes()}
    assert stored["a"] == stored["c"] == pytest.approx(first.vectors["a"])
    assert stored["b"] == pytest.approx(second.vectors["b"])
    assert graph.sync(nodes, [], second) == Changes()


def test_readers_see_all_of_it_or_nothing(graph: KnowledgeGraph) -> None:
    graph.sync([KnowledgeNode("a", "t")], [])

    with pytest.raises(GraphError, match="needs the node 'z'"):
        graph.sync([KnowledgeNode("b", "t")], [KnowledgeEdge("b", "z", "r")])
    with pytest.raises(GraphError, match="more than once"):
        graph.sync([KnowledgeNode("b", "t"), KnowledgeNode("b", "t")], [])
    assert [node.id for node in graph.nodes()] == ["a"]

    graph.sync([KnowledgeNode("b", "t")], [], Embeddings({"b": [1.0, 1.0]}, {"b": "h"}))
    with pytest.raises(GraphError, match="have 2"):
        graph.sync([KnowledgeNode("c", "t", embedding=[1.0])], [])
    assert [node.id for node in graph.nodes()] == ["b"]


def test_what_has_ended_is_compared_too(graph: KnowledgeGraph) -> None:
    nodes = [KnowledgeNode("a", "t", expired_at="2026-01-01", created_at="2025-01-01"), KnowledgeNode("b", "t")]

    graph.sync(nodes, [])

    assert graph.sync(nodes, []) == Changes()
    assert graph.sync(nodes[1:], []) == Changes(nodes_removed=("a",))


def test_a_graph_of_another_kind_is_left_as_it_is(graph: KnowledgeGraph) -> None:
    dishes, parts = (Schema({kind: "a thing"}, {}) for kind in ("dish", "part"))
    graph.sync([KnowledgeNode("a", "dish")], [], schema=dishes)

    with pytest.raises(GraphError, match=r"of another kind: 'a' in it is a 'dish'"):
        graph.sync([KnowledgeNode("b", "part")], [], schema=parts)
    with pytest.raises(GraphError, match="'c' has the type 'part'"):
        graph.sync([KnowledgeNode("c", "part")], [], schema=dishes)

    assert graph.get_node("a")
    graph.sync([KnowledgeNode("b", "part")], [])
    assert (graph.get_node("a"), graph.size().nodes) == (None, 1)
