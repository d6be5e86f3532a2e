"""Types of nodes and edges as Neo4j's own labels and relationship types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.catalogue import get_graph
from pipeline.db.client import Client
from pipeline.db.queries import load_queries
from pipeline.errors import GraphError
from pipeline.knowledge.store.codec import MAX_TYPES, edge_index_of, label_of, relationship_type_of

Cypher = Callable[..., list[Any]]


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("skill", "Skill"),
        ("api-design", "ApiDesign"),
        ("HTTPServer", "HTTPServer"),
        ("works at", "WorksAt"),
        ("3D model", "Type_3DModel"),
        ("chunk", "Chunk"),
        ("service job", "ServiceJob"),
        ("HopRank service job", "HopRankServiceJob_"),
        ("HopRankKnowledgeNode", "HopRankKnowledgeNode_"),
        ("漢字", "漢字"),
    ],
)
def test_a_node_type_is_a_label(written: str, label: str) -> None:
    assert label_of(written) == label


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("requires", "REQUIRES"),
        ("shares_tags", "SHARES_TAGS"),
        ("worksAt", "WORKS_AT"),
        ("is a", "IS_A"),
        ("CHILD_OF", "CHILD_OF_"),
        ("2nd", "TYPE_2ND"),
    ],
)
def test_an_edge_type_is_a_relationship_type(written: str, name: str) -> None:
    assert relationship_type_of(written) == name


@given(st.text(min_size=1))
def test_any_type_has_a_name_that_a_query_takes(written: str) -> None:
    label, name = label_of(written), relationship_type_of(written)

    load_queries()["create_edge_index"].text_with({"edge_index": edge_index_of(name), "edge_type": name})
    load_queries()["create_edge_index"].text_with({"edge_index": "x", "edge_type": label})


def test_neo4j_sees_types_and_properties_by_their_names(graph: KnowledgeGraph, cypher: Cypher) -> None:
    graph.add_nodes(
        [
            KnowledgeNode("a", "skill", properties={"name": "A", "level": 3, "id": "own", "nested": {"x": 1}}),
            KnowledgeNode("b", "skill", properties={"name": "B"}),
        ]
    )
    graph.add_edge(KnowledgeEdge("a", "b", "requires", properties={"since": 2020, "weight": "heavy"}))
    graph_id = graph._store.graph.id  # type: ignore[attr-defined]

    (row,) = cypher(
        "MATCH (a:Skill {graph: $graph})-[r:REQUIRES]->(b:Skill)"
        " RETURN a.name AS a, a.level AS level, a.id AS id, b.name AS b, r.since AS since, r.weight AS weight",
        graph=graph_id,
    )

    assert row.data() == {"a": "A", "level": 3, "id": "a", "b": "B", "since": 2020, "weight": 1.0}
    node = graph.get_node("a")
    assert node
    assert node.properties == {"name": "A", "level": 3, "id": "own", "nested": {"x": 1}}
    assert graph.get_edges_by_type("requires")[0].properties == {"since": 2020, "weight": "heavy"}


def test_a_node_that_changes_its_type_loses_the_old_label_alone(graph: KnowledgeGraph, cypher: Cypher) -> None:
    graph.add_node(KnowledgeNode("a", "draft"))
    graph_id = graph._store.graph.id  # type: ignore[attr-defined]
    cypher("MATCH (n:Draft {graph: $graph}) SET n:Favourite", graph=graph_id)

    graph.update_node("a", type="skill")
    graph.add_nodes([KnowledgeNode("a", "final")], replace=True)

    (row,) = cypher("MATCH (n {graph: $graph, id: 'a'}) RETURN labels(n) AS labels", graph=graph_id)
    assert set(row["labels"]) == {"HopRankKnowledgeNode", f"HopRankGraph_{graph_id}", "Final", "Favourite"}


def test_relationships_that_others_draw_are_none_of_the_graph(graph: KnowledgeGraph, cypher: Cypher) -> None:
    graph.add_nodes([KnowledgeNode("a", "t"), KnowledgeNode("b", "t"), KnowledgeNode("c", "t", parent_id="a")])
    graph.add_edge(KnowledgeEdge("a", "b", "r"))
    graph_id = graph._store.graph.id  # type: ignore[attr-defined]
    cypher("MATCH (a {graph: $g, id: 'a'}), (b {graph: $g, id: 'b'}) CREATE (a)-[:LIKES {weight: 1}]->(b)", g=graph_id)

    assert [edge.type for edge in graph.edges()] == ["r"]
    assert graph.size().edges == 1
    assert [edge.type for edge in graph.get_subgraph(["a", "b", "c"]).edges()] == ["r"]
    assert [info.edge_type for info in graph.get_neighbor_info("a")] == ["r"]
    assert [reached.node.id for reached in graph.multi_hop_retrieval("a")] == ["a", "b"]
    assert graph.importance() == pytest.approx(graph.to_memory().importance(), abs=1e-4)


def test_too_many_types_are_refused_and_nothing_is_written(graph: KnowledgeGraph, cypher: Cypher) -> None:
    graph.add_node(KnowledgeNode("first", "t"))
    names = [f"type {number}" for number in range(MAX_TYPES)]

    with pytest.raises(GraphError, match=f"would have {MAX_TYPES + 1} node types"):
        graph.add_nodes([KnowledgeNode(name, name) for name in names])
    with pytest.raises(GraphError, match=f"would have {MAX_TYPES + 1} edge types"):
        graph.add_edges([KnowledgeEdge("first", "first", name) for name in [*names, "one more"]])

    assert [node.id for node in graph.nodes()] == ["first"]
    assert not list(graph.edges())
    known = [row["label"] for row in cypher("CALL db.labels() YIELD label WHERE label STARTS WITH 'Type' RETURN label")]
    assert not {label_of(name) for name in names} & set(known)


def test_an_equal_index_of_a_users_own_serves(graph: KnowledgeGraph, cypher: Cypher) -> None:
    cypher("CREATE INDEX a_users_own FOR ()-[r:KNOWN_TO_A_USER]-() ON (r.key)")
    try:
        graph.add_nodes([KnowledgeNode("a", "t"), KnowledgeNode("b", "t")])
        graph.add_edge(KnowledgeEdge("a", "b", "known to a user", "e"))

        assert graph.get_edge("e") is not None
    finally:
        cypher("DROP INDEX a_users_own")


def test_edges_are_found_by_an_index_of_their_relationship_type(graph: KnowledgeGraph, cypher: Cypher) -> None:
    graph.add_nodes([KnowledgeNode("a", "t")])
    graph.add_edges([KnowledgeEdge("a", "a", "very own", id="1"), KnowledgeEdge("a", "a", "of its own", id="2")])
    states = "SHOW INDEXES YIELD name, state WHERE name = $name RETURN state"

    assert graph.get_edge("1") == graph.get_edges_by_type("very own")[0]
    assert [row["state"] for row in cypher(states, name=edge_index_of("VERY_OWN"))] == ["ONLINE"]


def test_the_graph_says_which_it_has(client: Client, graph: KnowledgeGraph) -> None:
    graph.add_nodes([KnowledgeNode("a", "skill"), KnowledgeNode("b", "package")])
    graph.add_edge(KnowledgeEdge("a", "b", "uses"))

    named = get_graph(client, graph.name)

    assert named.node_labels == {"Skill", "Package"}
    assert named.edge_types == {"USES"}
