"""Names that reach for what others have, by clients of HTTP and MCP: each call is refused or changes its own alone."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import neo4j
import pytest
from anyio.from_thread import BlockingPortal
from fastapi.testclient import TestClient
from mcp.client.stdio import StdioServerParameters, stdio_client

from pipeline import HopRank, KnowledgeNode, Memory
from pipeline.db.catalogue import list_corpora
from pipeline.flows import maintain
from pipeline.knowledge.catalogue import derived_graph
from pipeline.serve.access import Access
from pipeline.serve.http.app import make_app
from tests.serve.mcp.conftest import HOPRANK, Talk, talking

pytestmark = pytest.mark.slow

Cypher = Callable[..., list[neo4j.Record]]
Ask = Callable[[str, str, dict[str, Any]], None]

TEXT = "The ledger of Kyle is kept by Jonas Quill."
PREFIX = f"hostile-{uuid.uuid4().hex[:6]}"
VICTIM, OWNED = f"{PREFIX}-memory", f"{PREFIX}-graph"


@pytest.fixture(scope="module")
def victims(hoprank: HopRank, library: str) -> Iterator[str]:
    """A memory, and a graph of a user's own, beside the library."""
    memory, graph = Memory(hoprank, VICTIM), hoprank.graph(OWNED)
    memory.add("The gauge of Kyle was made by Tilda Brandt.")
    hoprank.graph_of(derived_graph(hoprank.client, VICTIM, "merges")).add_node(KnowledgeNode("merge", "merge"))
    graph.add_node(KnowledgeNode("kept", "service job", properties={"state": "queued", "corpus": library}))
    yield library
    graph.drop()
    memory.drop()


@pytest.fixture(scope="module")
def service(hoprank: HopRank) -> Iterator[TestClient]:
    with TestClient(make_app(hoprank, Access(hoprank.settings.serve)), base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture(scope="module")
def agent(portal: BlockingPortal, server_environment: dict[str, str]) -> Iterator[Talk]:
    arguments = [*HOPRANK[1:], "mcp", "--domain", "memory"]
    parameters = StdioServerParameters(command=HOPRANK[0], args=arguments, env=os.environ | server_environment)
    with talking(portal, stdio_client(parameters)) as talk:
        yield talk


def names(library: str) -> list[str]:
    of_victims = [f"{VICTIM}::merges", f"{VICTIM}.merges", f"{VICTIM} index", f"{VICTIM}::index", OWNED, library]
    own = "HopRankCorpus HopRankServiceJob ServiceJob HopRankCatalog Corpus Chunk".split()
    return [*of_victims, *(f"{PREFIX}-{name}" for name in own), f"{PREFIX}'}}) DETACH DELETE c //", f"{PREFIX}`x", "::"]


def held(cypher: Cypher, library: str) -> list[Any]:
    """All that the library, the memory and the graph hold, and the jobs."""
    graphs = "MATCH (g:HopRankKnowledgeGraph) WHERE g.name STARTS WITH $name RETURN g.id AS id, g.version AS version"
    corpora = "MATCH (c:HopRankCorpus) WHERE c.name IN $names RETURN c.id AS id, c.generation AS generation ORDER BY id"
    jobs = "MATCH (j:HopRankServiceJob) RETURN j.corpus AS corpus, j.state AS state ORDER BY j.created_at"
    found = [cypher(graphs, name=name) for name in (VICTIM, OWNED)]
    named = [row for rows in found for row in rows]
    return [
        sorted((row["id"], row["version"]) for row in named if row["id"] in kept(cypher)),
        [tuple(row) for row in cypher(corpora, names=[library, VICTIM])],
        [tuple(row) for row in cypher(jobs)],
    ]


def kept(cypher: Cypher) -> set[str]:
    names = [VICTIM, f"{VICTIM}::merges", OWNED]
    return {
        row["id"] for row in cypher("MATCH (g:HopRankKnowledgeGraph) WHERE g.name IN $n RETURN g.id AS id", n=names)
    }


def test_no_name_that_a_client_gives_changes_what_others_have(
    hoprank: HopRank, cypher: Cypher, victims: str, service: TestClient, agent: Talk
) -> None:
    before, tried = held(cypher, victims), 0

    def over_http(domain: str, verb: str, arguments: dict[str, Any]) -> None:
        assert service.post(f"/v1/{domain}/{verb}", json=arguments).status_code < 500

    def over_mcp(domain: str, verb: str, arguments: dict[str, Any]) -> None:
        assert "bug" not in str(agent.result(f"{domain}_{verb}", **arguments).content)

    try:
        for ask in (over_http, over_mcp):
            for name in names(victims):
                ask("memory", "remember", {"text": TEXT, "memory": name})
                ask("memory", "forget", {"entity": "merge", "memory": name})
                tried += 2
        for name in (VICTIM, f"{VICTIM}::merges", f"{PREFIX}::x"):
            responses = [
                service.put(f"/v1/corpora/{name}/documents/a.md", json={"text": TEXT}),
                service.delete(f"/v1/corpora/{name}"),
                service.post("/v1/vault/create_knowledge_node", json={"vault": name, "title": "A", "text": TEXT}),
            ]
            assert all(400 <= response.status_code < 500 for response in responses), [r.text for r in responses]
            tried += 3

        assert tried >= 40
        assert held(cypher, victims) == before
    finally:
        for corpus in list_corpora(hoprank.client):
            if corpus.name.startswith(PREFIX) and corpus.name != VICTIM:
                Memory(hoprank, corpus.name).drop() if corpus.kind else maintain.drop(hoprank.client, corpus.name)
