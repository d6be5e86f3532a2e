"""The queries of the page `Query it yourself`: each runs as it stands, and finds something."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator

import neo4j
import pytest

from pipeline import HopRank, KnowledgeEdge, KnowledgeNode
from pipeline.docs import read_page

QUERIES = re.findall(r"```cypher\n(.*?)```", read_page("queries").text, re.DOTALL)


@pytest.fixture(scope="module")
def handbook(hoprank: HopRank, shared_corpus_name: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A corpus that has what the queries look for."""
    folder = tmp_path_factory.mktemp("handbook")
    for name, title, link in (("ada", "Ada Lovelace", "babbage"), ("babbage", "Charles Babbage", "ada")):
        met = "Ada Lovelace met Charles Babbage, who built an engine."
        (folder / f"{name}.md").write_text(f"---\nyear: 1833\n---\n\n# {title}\n\n{met} [More]({link}.md).\n")
    hoprank.ingest(folder, corpus=shared_corpus_name)
    return shared_corpus_name


@pytest.fixture(scope="module")
def skills(hoprank: HopRank) -> Iterator[str]:
    """A graph that has what the queries look for."""
    graph = hoprank.graph(f"test-{uuid.uuid4().hex[:12]}")
    nodes = [KnowledgeNode(name, "skill", properties={"name": name}) for name in ("deploy", "test", "lint")]
    package = KnowledgeNode("package:ruff", "package", properties={"name": "ruff"})
    edges = [
        KnowledgeEdge("deploy", "test", "requires", valid_at="2025-01-01"),
        KnowledgeEdge("test", "lint", "requires"),
        KnowledgeEdge("test", "lint", "similar"),
        KnowledgeEdge("deploy", "lint", "mentions"),
        KnowledgeEdge("lint", package.id, "uses"),
    ]
    graph.sync([*nodes, package], edges)
    yield graph.name
    graph.drop()


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES)
def test_each_finds_something(
    cypher: Callable[..., list[neo4j.Record]], handbook: str, skills: str, query: str
) -> None:
    projection = f"my-{skills}"
    named = {"'handbook'": f"'{handbook}'", "'skills'": f"'{skills}'", "my-skills": projection}
    for example, name in named.items():
        query = query.replace(example, name)
    try:
        assert cypher(query)
    finally:
        cypher("CALL gds.graph.drop($name, false) YIELD graphName RETURN graphName", name=projection)


def test_what_a_skill_requires_is_what_the_graph_says(
    hoprank: HopRank, cypher: Callable[..., list[neo4j.Record]], skills: str
) -> None:
    (query,) = (one for one in QUERIES if "'deploy'" in one)
    rows = cypher(query.replace("'skills'", f"'{skills}'"))

    reached = hoprank.graph(skills).multi_hop_retrieval("deploy", 10, edge_types=["requires", "uses"])
    assert [row["name"] for row in rows] == ["test", "lint", "ruff"]
    assert {row["name"] for row in rows} == {one.node.properties["name"] for one in reached[1:]}
