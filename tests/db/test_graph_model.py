"""The graph model at the head of cypher/schema.cypher is the one that corpora and knowledge graphs have."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import neo4j
import pytest

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.catalogue import get_corpus, get_graph
from pipeline.db.client import Client
from pipeline.db.queries import load_queries
from pipeline.db.slots import OWN
from pipeline.docs import read_pages
from pipeline.edges import EdgeKind
from pipeline.flows.ingest import ingest_documents
from pipeline.knowledge import SupportedEdgeType
from pipeline.knowledge.sync import Embeddings
from pipeline.records import Document, Link
from pipeline.resources import resource_folder

Cypher = Callable[..., list[neo4j.Record]]

HEAD = (
    (resource_folder("cypher") / "schema.cypher").read_text(encoding="utf-8").split("// name:")[0].replace("\n//", "\n")
)
EXAMPLES = [
    block
    for page in read_pages()
    if page.topic != "queries"
    for block in re.findall(r"```cypher\n(.*?)```", page.text, re.DOTALL)
]


def declared(pattern: str) -> dict[str, set[str]]:
    """Labels or relationship types of the head, with their properties."""
    return {name: set(re.split(r",\s*", names)) if names else set() for name, names in re.findall(pattern, HEAD)}


NODES = declared(r"(?m)^ +\(:(\w+)(?: \{([^}]*)\})?\)$")
EDGES = declared(r"-\[:(\w+)(?: \{([^}]*)\})?\]->")
OF_A_MOMENT = {"staging", "writer", "writer_since", "writer_seen", "awaited_name"}
"""Properties that nothing has once it is written."""

OF_A_DOMAIN = {"kind"}
"""Properties of the corpora and graphs of domains."""

OF_THE_QUICKSTART = {"examples"}
"""Properties of a corpus that came with questions."""

OF_A_FILE = {"imported"}
"""Properties of what came with an export."""


@pytest.fixture(scope="module")
def corpus_id(hoprank: HopRank, shared_corpus_name: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A corpus that has every relationship but CAPPED."""
    folder = tmp_path_factory.mktemp("model")
    text = "Ada Lovelace met Charles Babbage in 1833. " * 60
    (folder / "ada.md").write_text(f"---\nyear: 1833\n---\n\n# Ada Lovelace\n\n{text}\n")
    (folder / "babbage.md").write_text(f"# Charles Babbage\n\n[Ada](ada.md) knew him. {text}\n")
    hoprank.ingest(folder, corpus=shared_corpus_name, filterable=["year"])
    link = Link("/ada.md", 0, 6, relation="parent", context="A note that links another.")
    note = Document(
        "note.md", "A note", "It links an\u00adother.", links=(link,), modified="2026-01-01", original="A note."
    )
    ingest_documents(hoprank.client, hoprank.embedder, hoprank.settings, [note], shared_corpus_name)
    hoprank.add([{"id": "log", "chunks": [{"text": "Slack water.", "page": 7}]}], shared_corpus_name)
    hoprank.search("Who met Ada?", corpus=shared_corpus_name)
    hoprank.client.finish_background()
    return get_corpus(hoprank.client, shared_corpus_name).id


@pytest.fixture(scope="module")
def graph_id(client: Client) -> Iterator[str]:
    """A knowledge graph that has all that one can have."""
    with KnowledgeGraph(f"test-{uuid.uuid4().hex}", client=client) as graph:
        properties: dict[str, Any] = {"of a user": "A", "nothing": None, "type": "own"}
        times: dict[str, Any] = {"valid_at": "2026-01-01", "invalid_at": "2999-01-01", "expired_at": "2999-01-01"}
        first = KnowledgeNode("a", "t", ("ta\u00adgged",), properties, **times)
        edge = KnowledgeEdge("a", "b", "r", "e", SupportedEdgeType.CAUSAL, 1.0, True, properties, **times)
        embeddings = Embeddings({"a": [1.0, 0.5]}, {"a": "hash"})
        graph.sync([first, KnowledgeNode("b", "t", parent_id="a")], [edge], embeddings)
        graph.search("tagged", mode="bm25")
        yield get_graph(client, graph.name).id
        graph.drop()


def stored(rows: list[neo4j.Record]) -> dict[str, set[str]]:
    """Labels or types with the names of their properties, those that users name as the head has them."""
    return {row["name"]: {general(key) for key in row["keys"]} for row in rows}


def general(key: str) -> str:
    if key.startswith(OWN):
        return f"{OWN}SLOT_FIELD"
    prefix = "filter_N" if key.startswith("filter_") else key.split(".")[0]
    named = {"edges": "edges.TYPE", "p": "p.NAME", "j": "j.NAME", "of a user": "NAME", "filter_N": "filter_N"}
    named |= {name: f"{name}.NAME" for name in ("metadata", "declared")}
    return named.get(prefix, key)


def lasting(model: Mapping[str, set[str]], names: set[str]) -> dict[str, set[str]]:
    domain = dict.fromkeys(("HopRankCorpus", "HopRankKnowledgeGraph"), OF_A_DOMAIN)
    model = {name: properties - domain.get(name, set()) for name, properties in model.items()}
    return {name: model[name] - OF_A_MOMENT - OF_A_FILE - OF_THE_QUICKSTART for name in names}


@pytest.mark.slow
def test_the_nodes_of_a_corpus_have_the_properties_that_the_model_lists(cypher: Cypher, corpus_id: str) -> None:
    rows = cypher(
        "MATCH (n:HopRankCorpus {id: $id}) RETURN 'HopRankCorpus' AS name, keys(n) AS keys UNION ALL"
        " MATCH (n:HopRankDocument|HopRankChunk|HopRankEntity|HopRankTally {corpus: $id}) UNWIND keys(n) AS key"
        " RETURN [l IN labels(n) WHERE l IN $labels][0] AS name,"
        " collect(DISTINCT key) AS keys",
        id=corpus_id,
        labels=list(NODES),
    )

    assert stored(rows) == lasting(
        NODES, {"HopRankCorpus", "HopRankDocument", "HopRankChunk", "HopRankEntity", "HopRankTally"}
    )


@pytest.mark.slow
def test_the_relationships_of_a_corpus_have_the_properties_that_the_model_lists(cypher: Cypher, corpus_id: str) -> None:
    rows = cypher(
        "MATCH (c:HopRankChunk {corpus: $id})-[r]->() UNWIND keys(r) AS key"
        " RETURN type(r) AS name, collect(DISTINCT key) AS keys",
        id=corpus_id,
    )

    assert stored(rows) == lasting(EDGES, {kind.value for kind in EdgeKind} - {"CAPPED"})
    assert EDGES["CAPPED"] == EDGES["SIMILAR"]


@pytest.mark.slow
def test_knowledge_graphs_have_what_the_model_lists(cypher: Cypher, graph_id: str) -> None:
    nodes = cypher(
        "MATCH (n:HopRankKnowledgeGraph {id: $id}) RETURN 'HopRankKnowledgeGraph' AS name, keys(n) AS keys UNION ALL"
        " MATCH (n:HopRankKnowledgeNode {graph: $id}) UNWIND keys(n) AS key"
        " RETURN 'HopRankKnowledgeNode' AS name, collect(DISTINCT key) AS keys",
        id=graph_id,
    )
    edges = cypher(
        "MATCH (:HopRankKnowledgeNode {graph: $id})-[r]->()"
        " UNWIND CASE keys(r) WHEN [] THEN [null] ELSE keys(r) END AS key"
        " RETURN type(r) AS name, collect(DISTINCT key) AS keys",
        id=graph_id,
    )

    assert stored(nodes) == lasting(NODES, {"HopRankKnowledgeGraph", "HopRankKnowledgeNode"})
    assert stored(edges) == {"R": EDGES["TYPE"], "CHILD_OF": EDGES["CHILD_OF"]}


def test_the_queries_name_no_label_or_type_that_the_model_lacks() -> None:
    text = "\n".join(query.text for query in load_queries().values())
    labels = {name for names in re.findall(r"\(\w*:([A-Z]\w+(?:\|[A-Z]\w+)*)", text) for name in names.split("|")}
    types = {name for names in re.findall(r"\[\w*:([A-Z_]+(?:\|[A-Z_]+)*)", text) for name in names.split("|")}

    assert labels == NODES.keys()
    assert types | {kind.value for kind in EdgeKind} == EDGES.keys() - {"TYPE"}


@pytest.mark.parametrize("model", [NODES, EDGES], ids=["labels", "types"])
def test_the_page_names_each_label_type_and_property(model: Mapping[str, set[str]]) -> None:
    (page,) = (page.text for page in read_pages() if page.topic == "graph")

    assert not {name for name in model if f"`{name}`" not in page}
    assert not {key for keys in model.values() for key in keys if f"`{key}`" not in page}


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.usefixtures("corpus_id")
def test_the_server_plans_the_pages_examples(cypher: Cypher, example: str) -> None:
    assert cypher(f"EXPLAIN {example}") == []
