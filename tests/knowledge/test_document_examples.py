"""The three example graphs of the design document, and its snippets, in Python."""

from __future__ import annotations

import pytest

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.client import Client
from pipeline.knowledge import CosineEdges, ExplicitEdges, GraphChunk, Knowledge, SupportedEdgeType


def test_skill_dependencies(graph: KnowledgeGraph) -> None:
    graph.add_nodes(KnowledgeNode(name, "skill") for name in ("api-design", "code-review", "security"))
    graph.add_edges(
        KnowledgeEdge("api-design", other, "requires", supported_edge_type=SupportedEdgeType.STRUCTURAL)
        for other in ("code-review", "security")
    )

    assert [node.id for node in graph.get_neighbors("api-design", "requires")] == ["code-review", "security"]
    assert graph.get_neighbors("security") == []
    assert [node.id for node in graph.get_neighbors("security", direction="in")] == ["api-design"]
    assert graph.find_path("code-review", "security") == []
    assert [node.id for node in graph.find_path("code-review", "security", direction="both")] == [
        "code-review",
        "api-design",
        "security",
    ]


def test_knowledge_concept_map(graph: KnowledgeGraph) -> None:
    names = ("password-reset", "account-locked", "login-issues", "2fa-setup")
    graph.add_nodes(KnowledgeNode(name, "concept") for name in names)
    semantic, causal = SupportedEdgeType.SEMANTIC, SupportedEdgeType.CAUSAL
    graph.add_edges(
        [
            KnowledgeEdge(names[0], names[1], "related_to", supported_edge_type=semantic, directed=False),
            KnowledgeEdge(names[0], names[2], "solves", supported_edge_type=causal),
            KnowledgeEdge(names[1], names[3], "causes", supported_edge_type=causal),
        ]
    )

    assert [node.id for node in graph.get_neighbors("account-locked")] == ["2fa-setup", "password-reset"]
    assert [node.id for node in graph.find_path("account-locked", "login-issues")] == [
        "account-locked",
        "password-reset",
        "login-issues",
    ]
    assert [(one.node.id, one.hops) for one in graph.multi_hop_retrieval("password-reset", 2)] == [
        ("password-reset", 0),
        ("account-locked", 1),
        ("login-issues", 1),
        ("2fa-setup", 2),
    ]
    assert graph.find_path("2fa-setup", "password-reset") == []


def test_document_similarity_graph(graph: KnowledgeGraph) -> None:
    # Cosines of 0.85 between A and B, A and C; of 0.72 between B and C.
    b = [0.85, 0.526783, 0.0]
    c = [0.85, -0.00475, 0.526761]
    chunks = [
        GraphChunk(id=f"Doc {name}", embedding=vector)
        for name, vector in zip("ABC", ([1.0, 0.0, 0.0], b, c), strict=True)
    ]

    graph.add_nodes_from_chunks(chunks, edge_options=CosineEdges(threshold=0.7), node_type="document")

    weights = {(edge.source[-1], edge.target[-1]): edge.weight for edge in graph.get_edges_by_type("similar")}
    assert weights == {
        ("A", "B"): pytest.approx(0.85, abs=1e-3),
        ("A", "C"): pytest.approx(0.85, abs=1e-3),
        ("B", "C"): pytest.approx(0.72, abs=1e-3),
    }
    assert [info.id for info in graph.get_neighbor_info("Doc B", "similar")] == ["Doc A", "Doc C"]


def test_a_query_as_the_document_has_it(graph: KnowledgeGraph) -> None:
    graph.add_nodes(KnowledgeNode(str(number), "document", embedding=[1.0, number / 10]) for number in range(8))
    graph.add_edges(KnowledgeEdge(str(number), "7", "cites") for number in range(7))

    results = graph.query([1.0, 0.0], top_k=5, random_walk_steps=10, restart_prob=0.15)

    assert len(results) == 5
    assert results[0].node.id == "7", "similarity finds where to begin, the graph what is central"


def test_knowledge_in_namespaces_as_the_document_has_it(client: Client) -> None:
    with Knowledge("test support-knowledge", bm25=True, graph=True, client=client) as knowledge:
        try:
            knowledge.add(
                "default",
                [
                    GraphChunk("How to reset a forgotten password.", id="password-reset"),
                    GraphChunk("What to do when an account is locked.", id="account-locked"),
                    GraphChunk("Setting up two-factor codes.", id="2fa-setup"),
                    GraphChunk("Opening hours.", id="hours"),
                ],
                edge_options=ExplicitEdges(
                    [
                        KnowledgeEdge("password-reset", "account-locked", "related_to", directed=False),
                        KnowledgeEdge("account-locked", "2fa-setup", "causes"),
                    ]
                ),
            )
            knowledge.add("other", [GraphChunk("Another password.", id="password-reset")])

            found = knowledge.search("default", "password reset", mode="hybrid", graph_hops=2)
            assert [one.node.id for one in found] == ["password-reset", "account-locked", "2fa-setup"]
            assert [one.node.id for one in knowledge.search("default", "password reset", mode="bm25")] == [
                "password-reset"
            ]
            assert [one.node.properties["text"] for one in knowledge.search("other", "password")] == [
                "Another password."
            ]
            assert knowledge.namespaces() == ["default", "other"]
        finally:
            for namespace in knowledge.namespaces():
                knowledge.graph(namespace).drop()
