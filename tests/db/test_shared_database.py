"""A database that other programs use, with labels, indexes and constraints of the names that HopRank's once had."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import neo4j
import pytest

from pipeline import HopRank, KnowledgeNode
from pipeline.db.catalogue import list_corpora, list_graphs
from pipeline.errors import ServerError
from pipeline.flows import maintain

Cypher = Callable[..., list[neo4j.Record]]

FOREIGN = "document_id corpus_name other_doc other_entity other_corpus other_graph".split()


def theirs(cypher: Cypher) -> list[dict[str, Any]]:
    return [
        dict(row)
        for row in cypher(
            "MATCH (n) WHERE NOT any(l IN labels(n) WHERE l STARTS WITH 'HopRank')"
            " RETURN labels(n) AS labels, properties(n) AS properties ORDER BY elementId(n)"
        )
    ]


@pytest.fixture
def foreign(cypher: Cypher) -> Iterator[list[dict[str, Any]]]:
    """What another program has: nodes, two of them with one id, and constraints and indexes on their labels."""
    cypher("CREATE INDEX document_id FOR (d:Document) ON (d.id)")
    cypher("CREATE INDEX other_doc FOR (d:Chunk) ON (d.id)")
    cypher("CREATE CONSTRAINT other_entity FOR (e:Entity) REQUIRE e.name IS UNIQUE")
    cypher("CREATE CONSTRAINT corpus_name FOR (c:Corpus) REQUIRE c.title IS UNIQUE")
    cypher("CREATE CONSTRAINT other_graph FOR (c:KnowledgeGraph) REQUIRE c.name IS UNIQUE")
    cypher(
        "CREATE (:Corpus {title: 'theirs'}), (:Corpus {name: 'theirs', title: 'b'}), (:Document {id: 'x'}),"
        " (:Document {id: 'x'}), (:Entity {name: 'Ada Lovelace'}), (:KnowledgeGraph {name: 'theirs', id: '1'}),"
        " (:ServiceJob {id: 'j', state: 'queued'}), (:Catalog {id: 'hoprank'}),"
        " (:Chunk {id: 'c'})-[:PART_OF]->(:Document)"
    )
    yield theirs(cypher)
    cypher("MATCH (n:Corpus|Document|Entity|KnowledgeGraph|ServiceJob|Catalog|Chunk) DETACH DELETE n")
    for name in FOREIGN:
        cypher(f"DROP CONSTRAINT {name} IF EXISTS")
        cypher(f"DROP INDEX {name} IF EXISTS")


def test_what_others_have_is_neither_read_nor_in_the_way(
    hoprank: HopRank, cypher: Cypher, foreign: list[dict[str, Any]], corpus_name: str
) -> None:
    text = "Ada Lovelace met Charles Babbage."
    for name in (corpus_name, f"{corpus_name}-b"):
        hoprank.add([{"id": "x", "title": "theirs", "text": text}], name)
        assert hoprank.search("Whom did Ada Lovelace meet?", corpus=name).items[0].content == text

    assert not {corpus.name for corpus in list_corpora(hoprank.client)} & {"theirs", None}
    assert "theirs" not in {graph.name for graph, _ in list_graphs(hoprank.client)}
    maintain.drop(hoprank.client, f"{corpus_name}-b")
    assert theirs(cypher) == foreign


def test_a_constraint_of_others_on_a_node_type_is_named(hoprank: HopRank, cypher: Cypher, corpus_name: str) -> None:
    cypher("CREATE CONSTRAINT other_person FOR (p:OtherPerson) REQUIRE p.name IS UNIQUE")
    graph = hoprank.graph(f"{corpus_name}-people")
    try:
        graph.add_node(KnowledgeNode("a", "other person", properties={"name": "Ada"}))
        with pytest.raises(ServerError, match="OtherPerson") as caught:
            graph.add_node(KnowledgeNode("b", "other person", properties={"name": "Ada"}))
        assert ":schema" in caught.value.fix
        assert [node.id for node in graph.nodes()] == ["a"]
    finally:
        graph.drop()
        cypher("DROP CONSTRAINT other_person IF EXISTS")
