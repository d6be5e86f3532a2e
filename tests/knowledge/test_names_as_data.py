"""Ids, types, labels, names and values are untrusted text: kept and found again, or refused; never run."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.client import Client
from pipeline.errors import GraphError, HopRankError

from .conftest import NewGraph

NASTY = [
    "`",
    "a`b``c",
    "'; MATCH (n) DETACH DELETE n; //",
    '"}) DETACH DELETE n //',
    "{}",
    "$name",
    "${name}",
    "<label>",
    "MATCH",
    "null",
    "p.text",
    "key",
    "id",
    " ",
    "\n",
    "\t\r\n",
    "\x01",
    "\\",
    "%s",
    "😀👩‍👩‍👧",
    "漢字",
    "e\u0301",
    "\u202egnp.exe",
    "\uffff",
    "x" * 1_000,
    "😀" * 1_000,
]


@pytest.fixture(scope="module")
def shared_graph(new_graph: NewGraph) -> Iterator[KnowledgeGraph]:
    """A graph that each test leaves empty."""
    with new_graph() as made:
        yield made


@pytest.fixture(scope="module")
def nasty_graph(new_graph: NewGraph) -> Iterator[KnowledgeGraph]:
    """All texts in one graph, stored at once: an edge type makes an index, and all queries are replanned."""
    with new_graph() as graph:
        graph.add_nodes([node for text in NASTY for node in (nasty_node(text), other_node(text))])
        graph.add_edges([nasty_edge(text) for text in NASTY])
        yield graph


def nasty_node(text: str) -> KnowledgeNode:
    properties: dict[str, Any] = {text: text, "deep": {text: [text]}}
    return KnowledgeNode(text, text, [text], properties, created_at="2026-01-01", updated_at="2026-01-01")


def other_node(text: str) -> KnowledgeNode:
    return KnowledgeNode(f"other {text}", "t", parent_id=text)


def nasty_edge(text: str) -> KnowledgeEdge:
    return KnowledgeEdge(text, f"other {text}", text, id=text, properties={text: text}, created_at="2026-01-01")


@pytest.mark.parametrize("text", NASTY)
def test_any_text_is_stored_and_found_again(nasty_graph: KnowledgeGraph, text: str) -> None:
    graph, node, edge = nasty_graph, nasty_node(text), nasty_edge(text)

    for one in (graph, graph.get_subgraph([text, f"other {text}"])):
        (found,) = one.find_nodes_by_type(text)
        assert (found.id, found.type, found.labels, found.properties) == (text, text, (text,), node.properties)
        assert one.find_nodes_by_label(text) == [found]
        assert one.filter_nodes_by_property(text, text) == [found]
        assert one.filter_nodes_by_property("deep", {text: [text]}) == [found]
        assert one.get_edges_by_type(text) == [edge]
        assert one.get_edge(text) == edge
        assert [node.id for node in one.get_neighbors(text, text)] == [f"other {text}"]
        assert [node.id for node in one.find_path(text, f"other {text}", edge_types=[text])] == [text, f"other {text}"]
        with contextlib.suppress(HopRankError):  # a text without words is no question
            one.search(text)
    before = {node.id for node in graph.nodes()}
    graph.update_node(text, properties={text: 1})
    graph.remove_edge(text)
    graph.remove_node(text)
    assert {node.id for node in graph.nodes()} == before - {text}
    assert text in before


def test_ten_thousand_characters_are_stored_and_found_again(graph: KnowledgeGraph) -> None:
    long = "`})//" * 2_000
    graph.add_nodes([KnowledgeNode(long, "t", properties={"text": long}), KnowledgeNode("b", "t")])
    graph.add_edge(KnowledgeEdge(long, "b", "r", id=long))

    assert graph.filter_nodes_by_property("text", long) == [graph.get_node(long)]
    assert [node.id for node in graph.get_neighbors(long)] == ["b"]
    graph.remove_edge(long)


@pytest.mark.parametrize(
    "fields", [{"type": "x" * 10_000}, {"labels": ["x" * 10_000]}, {"properties": {"x" * 10_000: 1}}]
)
def test_ten_thousand_characters_of_a_type_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(GraphError, match=r"10,000 characters|a property is named"):
        KnowledgeNode(**{"id": "a", "type": "t", **fields})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["`", "a'b", "x) DETACH DELETE (n", "😀", "a/b", "../x", "x" * 200])
def test_a_graph_may_have_any_name(client: Client, name: str) -> None:
    graph = KnowledgeGraph(f"test {name}"[:200], client=client)
    try:
        graph.add_node(KnowledgeNode("a", "t", properties={"text": "word"}, embedding=[1.0, 2.0]))

        assert [found.node.id for found in graph.search("word")] == ["a"]
        assert [found.node.id for found in graph.query([1.0, 2.0])] == ["a"]
    finally:
        graph.drop()


@pytest.mark.parametrize("name", ["", "x" * 201, "\ud800"])
def test_a_graph_s_name_that_cannot_be_is_refused(client: Client, name: str) -> None:
    with pytest.raises(GraphError, match="A graph's name"):
        KnowledgeGraph(name, client=client)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.data())
def test_whatever_json_can_say_comes_back(shared_graph: KnowledgeGraph, data: st.DataObject) -> None:
    text = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20)
    numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    value = st.recursive(
        st.none() | st.booleans() | numbers | text,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    )
    properties = data.draw(st.dictionaries(text, value, max_size=6))
    shared_graph.add_node(KnowledgeNode("a", "t", properties=properties))

    found = shared_graph.get_node("a")

    shared_graph.remove_node("a")
    assert found
    assert json.dumps(found.properties, sort_keys=True) == json.dumps(properties, sort_keys=True)


def test_a_nul_in_a_text_is_stored_and_in_a_property_s_name_refused(graph: KnowledgeGraph) -> None:
    graph.add_node(KnowledgeNode("a\x00b", "t", properties={"p": "\x00"}))

    assert [node.id for node in graph.filter_nodes_by_property("p", "\x00")] == ["a\x00b"]
    with pytest.raises(GraphError, match="holds a NUL"):
        KnowledgeNode("a", "t", properties={"\x00": 1})
