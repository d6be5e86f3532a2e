"""Graphs of the layout before native types: refused by name, and the same after `hoprank migrate`."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.catalogue import GRAPH_SCHEMA_VERSION, find_graph
from pipeline.db.client import Client
from pipeline.errors import GraphError
from pipeline.flows.maintain import migrate_graph
from pipeline.ids import digest
from pipeline.knowledge import SupportedEdgeType
from pipeline.progress import Progress

Cypher = Callable[..., list[Any]]
CREATED, UPDATED = "2025-01-01T00:00:00+00:00", "2025-01-02T00:00:00+00:00"


@pytest.fixture
def old(client: Client, cypher: Cypher) -> Iterator[str]:
    """The name of a graph as versions before this layout wrote it: one label, one relationship type, prefixes."""
    name, id_ = f"test-{uuid.uuid4().hex[:12]}", uuid.uuid4().hex[:12]
    cypher(
        "CREATE (:HopRankKnowledgeGraph {id: $id, name: $name, created_at: $at, version: 2, dimension: 2})",
        id=id_,
        name=name,
        at=CREATED,
    )
    node = {"graph": id_, "labels": ["tag"], "created_at": CREATED, "updated_at": UPDATED}
    rows = [
        {**node, "key": digest(id_, "node", "a"), "id": "a", "type": "skill", "p.name": "A", "j.deep": '{"x": [1]}'},
        {**node, "key": digest(id_, "node", "b"), "id": "b", "type": "Ein Typ", "embedding": [1.0, 0.5]},
    ]
    cypher(f"UNWIND $rows AS row CREATE (n:HopRankKnowledgeNode:HopRankGraph_{id_}) SET n = row", rows=rows)
    edge = {
        "key": digest(id_, "edge", "e"),
        "graph": id_,
        "id": "e",
        "type": "requires",
        "weight": 0.5,
        "directed": False,
        "supported": "causal",
        "p.note": "why",
    }
    ends = "MATCH (a:HopRankKnowledgeNode {graph: $id, id: 'a'}), (b:HopRankKnowledgeNode {graph: $id, id: 'b'})"
    cypher(f"{ends} CREATE (a)-[r:KNOWLEDGE_EDGE]->(b) SET r = $edge CREATE (b)-[:CHILD_OF]->(a)", id=id_, edge=edge)
    yield name
    if graph := find_graph(client, name):
        cypher("MATCH (n:HopRankKnowledgeNode {graph: $id}) DETACH DELETE n", id=graph.id)
        cypher("MATCH (g:HopRankKnowledgeGraph {id: $id}) DELETE g", id=graph.id)


def test_it_is_refused_with_the_command_that_helps(client: Client, old: str) -> None:
    with pytest.raises(GraphError, match="schema version 1") as caught:
        KnowledgeGraph(old, client=client)

    assert caught.value.fix == f"Run hoprank migrate {old}."


def test_after_a_migration_all_is_there(hoprank: HopRank, old: str, cypher: Cypher) -> None:
    client = hoprank.client
    before = find_graph(client, old)
    assert before

    migrate_graph(client, hoprank.settings, old, progress=Progress())
    migrate_graph(client, hoprank.settings, old, progress=Progress())

    with KnowledgeGraph(old, client=client) as graph:
        nodes = {node.id: node for node in graph.nodes()}
        assert nodes["a"] == KnowledgeNode(
            "a",
            "skill",
            ["tag"],
            {"name": "A", "deep": {"x": [1]}},
            created_at=CREATED,
            updated_at=UPDATED,
            child_ids=["b"],
        )
        assert nodes["b"].embedding == (1.0, 0.5)
        assert (nodes["b"].type, nodes["b"].parent_id) == ("Ein Typ", "a")
        edge = graph.get_edge("e")
        assert edge
        assert (edge.source, edge.target, edge.type, edge.weight, edge.directed) == ("a", "b", "requires", 0.5, False)
        assert (edge.supported_edge_type, edge.properties) == (SupportedEdgeType.CAUSAL, {"note": "why"})
        graph.add_edge(KnowledgeEdge("b", "a", "requires"))
    after = find_graph(client, old)
    assert after
    assert after.schema_version == GRAPH_SCHEMA_VERSION
    native = "MATCH (:Skill {graph: $g, name: 'A'})-[r:REQUIRES {note: 'why'}]->(:EinTyp) RETURN count(r) AS n"
    assert cypher(native, g=after.id)[0]["n"] == 1
    assert not cypher("MATCH (n {graph: $g}) RETURN n", g=before.id)
