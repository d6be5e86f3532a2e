"""Every query of the package, planned by the server."""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import neo4j
import pytest

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.catalogue import get_corpus
from pipeline.db.client import Client
from pipeline.db.embedded import Address
from pipeline.db.indexes import node_vectors_label
from pipeline.db.queries import Query, load_queries
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.remember import add_text
from pipeline.domains.vault.api import Vault
from pipeline.errors import GraphError
from pipeline.knowledge import SupportedEdgeType
from pipeline.knowledge.catalogue import replacing
from pipeline.knowledge.store.codec import edge_index_of
from pipeline.knowledge.sync import Embeddings

PARAMS: Mapping[str, Any] = {
    "after": "",
    "analyzer": "english",
    "as_of": "2026-01-01T00:00:00+00:00",
    "before": "2026-01-01",
    "boxes": [["3", "4", "3", "4", "3", "4"]],
    "chunk_seeds": [{"id": "c", "weight": 1.0}],
    "chunks": 10,
    "corpora": ["c"],
    "corpus": "c",
    "damping": 0.85,
    "database": "neo4j",
    "stale": ["host/1/1.0/x"],
    "died": True,
    "dimension": 384,
    "direction": "out",
    "edge_types": ["REQUIRES"],
    "fields": [["", "metadata.year"]],
    "finished_at": "2026-01-01T00:00:00+00:00",
    "host": "machine",
    "keep_request": True,
    "origin": "text",
    "own": "metadata.year",
    "owner": "host/1/1.0/x",
    "problem": None,
    "progress": "{}",
    "result": None,
    "started_at": "2026-01-01T00:00:00+00:00",
    "state": "failed",
    "states": ["failed"],
    "words": ["tide"],
    "question": "q",
    "questions": ["q"],
    "document": "d",
    "relevance": 1.0,
    "documents": [{"id": "d", "properties": {}}],
    "embeddings": True,
    "entity_seeds": [{"id": "e", "weight": 1.0}],
    "excluded": "mentions",
    "first": 10,
    "gamma": 1.0,
    "generation": 1,
    "graph": "hoprank-x-1",
    "graph_names": ["x"],
    "groups": [["k"]],
    "hashes": ["h"],
    "hits": ["c"],
    "hub": 200,
    "id": "c",
    "ids": ["c"],
    "ignored": ["4:x:1"],
    "index": "corpus_x",
    "inherited": "metadata.year",
    "index_names": ["Corpus_x"],
    "iterations": 10,
    "k": 60,
    "key": "k",
    "keys": ["k"],
    "kind": "casing",
    "kinds": ["NEXT"],
    "label": "Corpus_x",
    "labels": ["Corpus_x", "Embedding_x"],
    "copies": [["text", "hoprank_0_text"]],
    "chance": [0.2, 0.05, 100.0],
    "model": "Embedding_x",
    "retired": [1],
    "slots": [0, 1],
    "texts": "Texts_x",
    "known_at": "2026-01-01T00:00:00+00:00",
    "limit": 10,
    "link": 5.0,
    "live": 2**53,
    "minimum": 2,
    "moment": "now",
    "most": 10,
    "name": "corpus",
    "names": ["e"],
    "next": 0.5,
    "now": "2026-01-01",
    "probes": [[0.1] * 384],
    "projection": "hoprank-graph-x-1-out",
    "other": "k",
    "prefix": "x:",
    "properties": {},
    "property": "metadata.year",
    "rows": [
        {
            "id": "c",
            "key": "a.md",
            "path": "a.md",
            "source": "c",
            "target": "c",
            "kind": "NEXT",
            "edges": [],
            "properties": {},
        }
    ],
    "reach": 1,
    "schema_version": 2,
    "scope": "default",
    "seconds": 10,
    "section": True,
    "seed": 0,
    "seeds": ["c"],
    "shards": [1],
    "similar": 0.5,
    "least": 0.0,
    "spellings": [{"id": "e", "name": "Ada"}],
    "since": "2026-01-01",
    "successor": "d",
    "text": "who",
    "terms": ["filterable:709"],
    "title": 5.0,
    "tolerance": 1e-4,
    "type": "skill",
    "types": ["requires"],
    "undirected": ["SIMILAR"],
    "unnamed": True,
    "until": 2,
    "value": "v",
    "vector": [0.1] * 384,
    "wanted": "python",
    "writer": "host/1/1.0/x",
}

"""A value of the right kind for each parameter; the queries are planned, not run."""


OF_QUERY: Mapping[str, Mapping[str, Any]] = {
    "publish_generation": {"chunks": [{"id": "c", "properties": {}, "vector": [0.1]}]},
    "values_of_chunks": {"boxes": [[["filter_0", "3", "4", "708"]]]},
    "chunks_around": {"hits": [{"id": "c", "document": "a.md", "ordinal": 1, "heading": "Ada"}]},
    "personalised_pagerank": {"seeds": [{"key": "k", "weight": 1.0}]},
    "corpus_pagerank": {"seeds": [{"key": "k", "weight": 1.0}]},
    "set_parents": {"rows": [{"child": "k", "parent": "k"}]},
    "load_edges": {"rows": [["p", "p", "R", "k", "e", "r", 1.0, True, None, "2026-01-01", {}]]},
    "load_nodes": {"rows": [{"key": "k", "properties": {}, "vector": [0.1], "labels": ["T"]}]},
    "put_nodes": {"rows": [{"key": "k", "properties": {}, "vector": [0.1], "labels": ["T"], "former": []}]},
    "put_edges": {"rows": [{"source": "k", "target": "k", "type": "R", "properties": {}}]},
    "replace_edges": {"rows": [{"source": "k", "target": "k", "type": "R", "properties": {"key": "k"}}]},
}

"""Values where a parameter's name means something else."""


DOCUMENTS = [
    {"id": "ada", "title": "Ada Lovelace", "text": "Ada Lovelace met Charles Babbage in 1833. " * 60},
    {"id": "babbage", "title": "Charles Babbage", "text": "Charles Babbage met Ada Lovelace in 1833."},
]


@pytest.fixture(scope="module")
def graph_names(client: Client) -> Iterator[Mapping[str, str]]:
    """The names that a knowledge graph has which has all that one can have."""
    graph = KnowledgeGraph(f"test-{uuid.uuid4().hex}", client=client)
    node = KnowledgeNode(
        "a",
        "t",
        labels=["l"],
        embedding=[1.0, 0.5],
        properties=dict.fromkeys(("name", "title", "description", "text"), "text"),
        valid_at="2026-01-01",
        invalid_at="2999-01-01",
        expired_at="2999-01-01",
    )
    edge = KnowledgeEdge("a", "b", "r", supported_edge_type=SupportedEdgeType.CAUSAL)
    edges = [edge, dataclasses.replace(edge, id="timed", valid_at="2026-01-01", invalid_at="2999-01-01")]
    edges.append(dataclasses.replace(edge, id="expired", expired_at="2999-01-01"))
    embeddings = Embeddings({"a": [1.0, 0.5]}, {"a": "hash"})
    graph.sync([node, KnowledgeNode("b", "t", parent_id="a")], edges, embeddings)
    graph.search("text")
    graph.query([1.0, 0.5])
    with contextlib.suppress(GraphError), replacing(client, graph.name):
        raise GraphError("only begun")
    yield {
        "graph_vectors": node_vectors_label(2),
        "edge_type": "R",
        "edge_types": "R",
        "edge_index": edge_index_of("R"),
    }
    graph.drop()


@pytest.fixture(scope="module")
def vault(hoprank: HopRank, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Make a vault with all that notes can have; the server knows the names of its properties from then on."""
    folder, name = tmp_path_factory.mktemp("vault"), f"test-{uuid.uuid4().hex}"
    (folder / "Ada.md").write_text("# Ada\n\nfriend:: [[Babbage]], who built the first engine with gears.\n")
    (folder / "Babbage.md").write_text("# Babbage\n\nHe built the engines.\n")
    vault = Vault(hoprank, name)
    vault.sync(folder)
    vault.create("Engine", "[[Babbage]] drew it, and never built all of it.")
    vault.drop()


@pytest.fixture(scope="module")
def memory(hoprank: HopRank) -> None:
    """Make a memory of a text and a fact, for the same reason."""
    memory = AgentMemory(hoprank, f"test-{uuid.uuid4().hex}")
    ends = [{"type": "library", "name": name} for name in ("api", "express")]
    add_text(
        memory,
        "The API depends on Express.",
        date="2026-01-01",
        entities=[{**ends[0], "aliases": ["the API"]}],
        facts=[{"source": ends[0], "type": "depends_on", "target": ends[1], "invalid_at": "2026-02-01"}],
    )
    memory.drop()


@pytest.fixture(scope="module")
def names(
    hoprank: HopRank,
    shared_corpus_name: str,
    graph_names: Mapping[str, str],
    vault: None,
    memory: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Mapping[str, str]:
    """Identifiers that exist, as some queries aren't planned without their index."""
    folder = tmp_path_factory.mktemp("names")
    for one in DOCUMENTS:
        linked = "[Ada](ada.md)\n\n" if one["id"] == "babbage" else ""
        (folder / f"{one['id']}.md").write_text(f"# {one['title']}\n\n{linked}{one['text']}\n")
    hoprank.ingest(folder, corpus=shared_corpus_name, filterable=["lang", "tenant", "year"])
    hoprank.judge("Who met Ada?", "babbage.md", 1, corpus=shared_corpus_name)
    corpus = get_corpus(hoprank.client, shared_corpus_name)
    known = {"vector_index": corpus.vector_index, "texts": "Texts_x", "fields": "text|title", "index": "texts_x"}
    return {**known, "probe": "Probe_x"} | {
        **{name: f"filter_{place}" for place, name in enumerate(("first", "second", "third"))},
        **graph_names,
    }


def params(query: Query) -> dict[str, Any]:
    values = {**PARAMS, **OF_QUERY.get(query.name, {})}
    return {param: values[param] for param in query.params}


def filled(query: Query, names: Mapping[str, str]) -> dict[str, str]:
    return {name: names[name] for name in query.names}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(load_queries()))
def test_the_server_plans_every_query(
    cypher: Callable[..., list[neo4j.Record]], names: Mapping[str, str], name: str
) -> None:
    query = load_queries()[name]

    cypher(f"EXPLAIN {query.text_with(filled(query, names))}", **params(query))


@pytest.mark.slow
def test_no_query_speaks_of_what_the_graph_has_not_or_what_is_deprecated(
    address: Address, names: Mapping[str, str]
) -> None:
    said: dict[str, list[str]] = {}
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        # What few corpora come to have: the server knows it from when it first saw it.
        rare = {"imported": True, "examples": []}
        seldom = "CREATE (a:HopRankDroppedCorpus $rare)-[r:CAPPED {shared: true, origin: 'text'}]->(b) DELETE r, a, b"
        driver.execute_query(seldom, rare=rare, database_=address.database)
        job = "CREATE (j:HopRankServiceJob) SET j += $properties DELETE j"
        driver.execute_query(job, properties=dict.fromkeys(JOB, "x"), database_=address.database)
        for query in load_queries().values():
            if query.mode != "schema":
                said[query.name] = warnings(driver, address.database, query, filled(query, names))

    assert not {name: text for name, text in said.items() if text}


JOB = (
    *("id", "kind", "corpus", "state", "attempt", "created_at", "started_at", "finished_at", "request", "progress"),
    *("result", "problem", "host", "owner", "seen", "cancelling", "lock"),
    *("deaths", "tried_since", "not_before"),
)

"""The properties of a job of the service."""


def warnings(driver: neo4j.Driver, database: str, query: Query, names: Mapping[str, str]) -> list[str]:
    """What the server remarks when it plans a query: names that it doesn't know, old syntax."""
    result = driver.execute_query(f"EXPLAIN {query.text_with(names)}", params(query), database_=database)
    return [status.status_description for status in result.summary.gql_status_objects if status.is_notification]


def test_the_shipped_queries_are_documented_and_named_once() -> None:
    queries = load_queries()

    assert all(name == query.name and query.documentation.endswith(".") for name, query in queries.items())
    assert PARAMS.keys() == frozenset[str]().union(*(query.params for query in queries.values()))
