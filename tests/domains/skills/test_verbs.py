"""The verbs for servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pipeline import HopRank, KnowledgeGraph
from pipeline.domains.skills.sources import Built
from tests.domains.skills.conftest import COLLECTION
from tests.domains.verbs import asked


def test_skills_are_found_and_their_order_is_planned(
    hoprank: HopRank, built: Callable[[Mapping[str, str]], tuple[KnowledgeGraph, Built]]
) -> None:
    graph, _ = built(COLLECTION)

    found = asked(hoprank, "skills", "search", task="a managed vector database", top_k=2, graph=graph.name)
    assert found["skills"][0]["name"] == "pinecone"
    assert found["skills"][0]["description"] == "Managed vector database for semantic search."
    plan = asked(hoprank, "skills", "order", skill="api-design", graph=graph.name)
    assert [skill["name"] for skill in plan["load"]] == ["security", "code-review", "api-design"]
    related = asked(hoprank, "skills", "related", skill="chroma", top_k=1, graph=graph.name)
    assert related["skills"][0]["name"] == "pinecone"
    assert related["skills"][0]["why"]
