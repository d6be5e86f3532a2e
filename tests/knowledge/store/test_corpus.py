"""An ingested corpus read as a knowledge graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.errors import CorpusError, GraphError
from pipeline.knowledge import Direction, SupportedEdgeType

PAGES = {
    "ada.md": "# Ada Lovelace\n\nAda Lovelace met [Babbage](babbage.md) in 1833. She wrote the first program.\n",
    "babbage.md": "---\nborn: 1791\n---\n# Charles Babbage\n\nHe designed the Analytical Engine with Ada Lovelace.\n",
    "engine.md": "# Analytical Engine\n\nThe Analytical Engine was never built in the life of Charles Babbage.\n",
    "mill.md": f"# Mill\n\n{'The mill and the store were apart. ' * 60}\n",
}


@pytest.fixture(scope="module")
def opened(hoprank: HopRank, shared_corpus_name: str, tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    folder = tmp_path_factory.mktemp("pages")
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    hoprank.ingest(folder, corpus=shared_corpus_name)
    return KnowledgeGraph.open(shared_corpus_name, client=hoprank.client, embedder=hoprank.embedder)


def test_documents_chunks_and_entities_are_nodes(opened: KnowledgeGraph) -> None:
    documents = {node.properties["key"]: node for node in opened.find_nodes_by_type("document")}
    chunks = {node.id: node for node in opened.find_nodes_by_type("chunk")}
    entities = {node.properties["name"] for node in opened.find_nodes_by_type("entity")}

    assert documents.keys() == PAGES.keys()
    assert documents["babbage.md"].properties["metadata.born"] == 1791
    assert {chunk.parent_id for chunk in chunks.values()} == {document.id for document in documents.values()}
    assert all(set(document.child_ids) <= chunks.keys() for document in documents.values())
    assert {len(chunk.embedding or ()) for chunk in chunks.values()} == {384}
    assert "Charles Babbage" in entities
    assert opened.find_nodes_by_type("skill") == []
    assert opened.find_nodes_by_label("x") == []
    assert opened.size().nodes == len(documents) + len(chunks) + len(entities) == len(list(opened.nodes()))
    assert max(len(document.child_ids) for document in documents.values()) > 1
    hidden = {"since", "until", "corpus", "embedding", "centroid"}
    assert not any(hidden & set(node.properties) for node in opened.nodes())


def test_a_property_finds_a_document(opened: KnowledgeGraph) -> None:
    (found,) = [node for node in opened.filter_nodes_by_property("key", "ada.md") if node.type == "document"]

    assert opened.get_node(found.id) == found
    assert opened.filter_nodes_by_property("since", 1) == []


def test_edges_are_those_of_the_schema(opened: KnowledgeGraph, as_networkx: Callable[..., nx.MultiDiGraph]) -> None:
    edges = {edge.id: edge for edge in opened.edges()}
    kinds = {edge.type for edge in edges.values()}
    (link,) = opened.get_edges_by_type("LINKS_TO")

    assert len(edges) == opened.size().edges
    assert {"PART_OF", "MENTIONS", "LINKS_TO", "REFERS_TO"} <= kinds
    assert opened.get_edge(link.id) == link
    assert link.supported_edge_type is SupportedEdgeType.STRUCTURAL
    assert [edge.directed for edge in (link, *opened.get_edges_by_type("MENTIONS")[:1])] == [True, False]
    for direction in ("out", "in", "both"):
        theirs = as_networkx(opened.nodes(), edges.values(), direction)
        for one in theirs:
            assert [node.id for node in opened.get_neighbors(one, direction=direction)] == sorted(
                theirs.successors(one)
            )


def test_it_is_traversed_as_any_graph(opened: KnowledgeGraph, as_networkx: Callable[..., nx.MultiDiGraph]) -> None:
    ids = {node.properties["key"]: node.id for node in opened.find_nodes_by_type("document")}
    theirs = as_networkx(opened.nodes(), opened.edges(), "both")

    path = opened.find_path(ids["ada.md"], ids["engine.md"], direction="both")
    assert len(path) == len(nx.shortest_path(theirs, ids["ada.md"], ids["engine.md"]))
    assert opened.find_path(ids["ada.md"], ids["engine.md"]) == []
    reached = opened.multi_hop_retrieval(ids["ada.md"], 3, direction="both")
    assert {one.node.id: one.hops for one in reached} == nx.single_source_shortest_path_length(theirs, ids["ada.md"], 3)
    part = opened.get_subgraph([node.id for node in path])
    assert part.find_path(path[0].id, path[-1].id, direction="both") == part.get_nodes([node.id for node in path])


def test_it_is_queried_and_searched_as_any_graph(
    opened: KnowledgeGraph, as_networkx: Callable[..., nx.MultiDiGraph]
) -> None:
    found = opened.query("Who wrote the first program?", 3)
    exact = opened.query("Who wrote the first program?", 3, random_walk_steps=None)
    seeds = {one.node.id: one.parts["similarity"] for one in exact if "similarity" in one.parts}
    theirs = as_networkx(opened.nodes(), opened.edges(), "both")

    assert {one.node.type for one in found} <= {"chunk", "document", "entity"}
    assert all(0 < one.score < 1 for one in exact)
    pagerank = opened._store.pagerank(seeds, 0.15, Direction.BOTH, 100)
    expected = nx.pagerank(theirs, 0.85, seeds, 1000, 1e-12, nstart={one: seeds.get(one, 0.0) for one in theirs})
    assert dict(pagerank) == pytest.approx({one: share for one, share in expected.items() if share > 0}, abs=1e-6)
    assert "Engine" in str(opened.search("analytical engine built", mode="bm25")[0].node.properties["text"])
    assert {one.node.type for one in opened.search("analytical engine", graph_hops=1)} >= {"chunk", "entity"}
    assert opened.importance(5)
    assert opened.to_memory().size() == opened.size()


def test_it_is_not_changed(opened: KnowledgeGraph) -> None:
    with pytest.raises(GraphError, match="is read-only"):
        opened.add_node(KnowledgeNode("a", "t"))
    with pytest.raises(GraphError, match="is read-only"):
        opened.drop()


def test_its_ids_are_its_own(opened: KnowledgeGraph, graph: KnowledgeGraph) -> None:
    one = next(iter(opened.find_nodes_by_type("chunk")))

    graph.add_node(KnowledgeNode(one.id, "mine"))
    graph.remove_node(one.id)

    assert opened.get_node(one.id) == one
    assert graph.get_node(one.id) is None


@pytest.mark.slow
def test_graphs_keep_apart(graph: KnowledgeGraph, new_graph: Callable[[], Any]) -> None:
    with new_graph() as other:
        for one, kind in ((graph, "t"), (other, "u")):
            one.add_nodes([KnowledgeNode("a", kind, ["l"], {"text": "word"}, [1.0, 2.0]), KnowledgeNode("b", kind)])
            one.add_edge(KnowledgeEdge("a", "b", kind, id="e"))
        other.remove_edge("e")
        other.update_node("b", type="v")

        assert [edge.type for edge in graph.edges()] == ["t"]
        assert [node.type for node in graph.get_neighbors("a")] == ["t"]
        assert other.get_neighbors("a") == []
        assert [one.node.type for one in graph.search("word")] == ["t", "t"]
        assert [one.node.type for one in other.query([1.0, 2.0])] == ["u"]
        assert graph.find_nodes_by_type("u") == []
        assert [node.type for node in graph.find_nodes_by_label("l")] == ["t"]


@pytest.mark.slow
def test_only_the_visible_generation_is_seen(hoprank: HopRank, corpus_name: str, tmp_path: Path) -> None:
    for name, text in PAGES.items():
        (tmp_path / name).write_text(text)
    hoprank.ingest(tmp_path, corpus=corpus_name)
    before = KnowledgeGraph.open(corpus_name, client=hoprank.client)
    chunks = {node.id for node in before.find_nodes_by_type("chunk")}
    before.importance()

    (tmp_path / "engine.md").write_text("# Analytical Engine\n\nIt was built by the Nautilus Society.\n")
    hoprank.ingest(tmp_path, corpus=corpus_name)

    after = {node.id: str(node.properties["text"]) for node in before.find_nodes_by_type("chunk")}
    assert len(after) == len(chunks)
    assert any("Nautilus" in text for text in after.values())
    assert not any("never built" in text for text in after.values())
    assert set(before.importance(1000)) <= {node.id for node in before.nodes()}


def test_a_corpus_that_is_not_there_is_named(hoprank: HopRank) -> None:
    with pytest.raises(CorpusError, match="no corpus 'nowhere at all'"):
        KnowledgeGraph.open("nowhere at all", client=hoprank.client)


def test_a_corpus_without_a_word_is_drawn_too(hoprank: HopRank, corpus_name: str) -> None:
    hoprank.add([{"id": "blank", "text": ""}], corpus_name)

    drawn = hoprank.read_graph(corpus_name, lambda graph: graph.picture(10), corpus=True)

    assert [node["type"] for node in drawn["nodes"]] == ["document"]
