"""No name that a user gives reaches what another has: graphs, memories, vaults, corpora."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, KnowledgeNode, Memory, Skills, Tools, Vault
from pipeline.db.catalogue import DERIVED, find_corpus, find_graph
from pipeline.domains.memory.memory import journal_name
from pipeline.domains.vault.maps import index_name
from pipeline.errors import CorpusError, GraphError, HopRankError, InputError
from pipeline.flows import maintain
from pipeline.knowledge.catalogue import derived_graph

Cypher = Callable[..., list[neo4j.Record]]

TEXT = "The gauge of Kyle was made by Tilda Brandt."
SKILL = "---\nname: sounding\ndescription: Sound the depth of a berth.\n---\n\n# Sounding\n"


@pytest.fixture
def unique() -> str:
    return f"names-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def memory(hoprank: HopRank, unique: str) -> Iterator[Memory]:
    memory = Memory(hoprank, unique)
    memory.add(TEXT)
    yield memory
    memory.drop()


@pytest.fixture
def owned(hoprank: HopRank, unique: str) -> Iterator[KnowledgeGraph]:
    """A graph of a user's own, of one node."""
    graph = hoprank.graph(unique)
    graph.add_node(KnowledgeNode("kept", "note"))
    yield graph
    graph.drop()


def held(hoprank: HopRank, name: str) -> list[str]:
    return [node.id for node in hoprank.graph(name, create=False).nodes()]


def texts(hoprank: HopRank, corpus: str) -> list[str]:
    return [item.content for item in hoprank.search("Who made the gauge?", corpus=corpus).items]


@pytest.mark.parametrize("name", [f"a{DERIVED}merges", f"a{DERIVED}index", DERIVED, f"{DERIVED}a"])
def test_no_user_gives_the_name_of_a_derived_graph(hoprank: HopRank, name: str) -> None:
    with pytest.raises(GraphError, match="can't be named"):
        hoprank.graph(name)
    with pytest.raises(GraphError, match="can't be named"):
        KnowledgeGraph(name, client=hoprank.client)
    with pytest.raises(InputError, match="can't be named"):
        hoprank.add([{"id": "a", "text": TEXT}], name)
    with pytest.raises(HopRankError, match="can't be named"):
        Memory(hoprank, name).add(TEXT)
    assert find_graph(hoprank.client, name) is None


def test_dropping_a_memory_leaves_the_one_that_is_called_like_its_record_was(hoprank: HopRank, memory: Memory) -> None:
    other = Memory(hoprank, f"{memory.name}.merges")
    other.add("The ledger is kept by Jonas Quill.")
    memory.drop()

    assert texts(hoprank, other.name) == ["The ledger is kept by Jonas Quill."]
    other.drop()


def test_dropping_a_memory_drops_the_record_of_its_merges(hoprank: HopRank, memory: Memory) -> None:
    derived_graph(hoprank.client, memory.name, "merges")
    memory.drop()

    assert find_graph(hoprank.client, journal_name(memory.name)) is None
    assert find_graph(hoprank.client, memory.name) is None


def test_dropping_a_vault_leaves_the_graph_that_is_called_like_its_index_was(hoprank: HopRank, unique: str) -> None:
    hoprank.add([{"id": "a.md", "text": TEXT}], unique)
    derived_graph(hoprank.client, unique, "index")
    graph = hoprank.graph(f"{unique} index")
    graph.add_node(KnowledgeNode("kept", "note"))
    try:
        Vault(hoprank, unique).drop()

        assert held(hoprank, f"{unique} index") == ["kept"]
        assert find_graph(hoprank.client, index_name(unique)) is None
    finally:
        graph.drop()


def test_a_memory_neither_writes_to_nor_drops_a_graph_of_another(hoprank: HopRank, owned: KnowledgeGraph) -> None:
    memory = Memory(hoprank, owned.name)
    with pytest.raises(GraphError, match="another origin"):
        memory.fact("gauges", "owned_by", "Tilda Brandt", create=["module", "person"])
    with pytest.raises(GraphError, match="another origin"):
        memory.add(TEXT)
    with pytest.raises(GraphError, match="another origin"):
        memory.drop()

    assert held(hoprank, owned.name) == ["kept"]
    assert find_corpus(hoprank.client, owned.name) is None


def test_a_memory_neither_writes_to_nor_drops_a_corpus_of_documents(hoprank: HopRank, corpus_name: str) -> None:
    hoprank.add([{"id": "a.md", "text": TEXT}], corpus_name)
    memory = Memory(hoprank, corpus_name)
    with pytest.raises(CorpusError, match="holds documents, not a memory"):
        memory.add("Another text.")
    memory.drop()

    assert [document.key for document in hoprank.documents(corpus_name)] == ["a.md"]


def test_nothing_but_the_memory_writes_to_its_corpus_or_drops_it(
    hoprank: HopRank, memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("Another text.")
    for write in (
        lambda: hoprank.sync(tmp_path, corpus=memory.name),
        lambda: hoprank.ingest(tmp_path, corpus=memory.name),
        lambda: maintain.drop(hoprank.client, memory.name),
        lambda: maintain.rename(hoprank.client, memory.name, "other"),
        lambda: Vault(hoprank, memory.name).drop(),
    ):
        with pytest.raises(CorpusError, match="holds a memory"):
            write()

    assert texts(hoprank, memory.name) == [TEXT]


def test_a_builder_replaces_no_graph_of_another(hoprank: HopRank, owned: KnowledgeGraph, tmp_path: Path) -> None:
    (tmp_path / "sounding").mkdir()
    (tmp_path / "sounding" / "SKILL.md").write_text(SKILL)
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [{"name": "sound", "inputSchema": {"type": "object"}}]}))
    with pytest.raises(GraphError, match="another origin"):
        Skills(hoprank, owned.name).build(tmp_path)
    with pytest.raises(GraphError, match="another origin"):
        Tools(hoprank, owned.name).build(tmp_path / "tools.json")

    assert held(hoprank, owned.name) == ["kept"]


def test_a_builder_takes_an_empty_graph_and_replaces_its_own(hoprank: HopRank, unique: str, tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text(SKILL)
    graph = hoprank.graph(unique)
    try:
        for _ in range(2):
            Skills(hoprank, unique).build(tmp_path)

        assert "sounding" in held(hoprank, unique)
        with pytest.raises(GraphError, match="of the domain skills"):
            hoprank.graph(unique, kind="tools")
    finally:
        graph.drop()


def test_an_import_keeps_whose_the_graph_is(hoprank: HopRank, memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    hoprank.graph(memory.name).export(path)
    KnowledgeGraph.import_graph(path, memory.name, client=hoprank.client)

    memory.add("The ledger is kept by Jonas Quill.")
    assert len(texts(hoprank, memory.name)) == 2


OWN = (
    "Catalog Corpus DroppedCorpus Document Chunk Entity Tally Judgement ServiceJob KnowledgeGraph KnowledgeNode"
).split()
HOSTILE = [
    *OWN,
    *(f"HopRank{name}" for name in OWN),
    *("service job", "HopRank service job", "hoprank corpus", "CHILD_OF", "child of", "PART_OF", "MENTIONS"),
    *("`) DETACH DELETE n //", "x` {a: 1}]-() DELETE r //", "'; DROP INDEX hoprank_chunk_id; //", "$label", "<label>"),
    *("HopRankGraph_0", "HopRankCorpus_0_vector", "hoprank_corpus_id", "a\u200bb", "\u202eCorpus", "ＣＯＲＰＵＳ"),
]
"""Types and properties that look like what HopRank matches by itself, or that end a name in Cypher."""


def everything(cypher: Cypher) -> dict[str, Any]:
    """All nodes by label and all edges by type that aren't the hostile graph's, with what the corpora hold."""
    nodes = cypher(
        "MATCH (n) WHERE NOT n.hostile IS NOT NULL UNWIND labels(n) AS label"
        " WITH label, count(n) AS nodes WHERE label STARTS WITH 'HopRank' AND NOT label STARTS WITH 'HopRankKnowledge'"
        " RETURN label, nodes"
    )
    corpora = cypher("MATCH (c:HopRankCorpus) RETURN c {.id, .generation, .documents} AS c ORDER BY c.id")
    return {"nodes": {row["label"]: row["nodes"] for row in nodes}, "corpora": [dict(row["c"]) for row in corpora]}


def test_hostile_types_labels_and_properties_stay_data(
    hoprank: HopRank, cypher: Cypher, unique: str, library: str
) -> None:
    assert len(HOSTILE) >= 40
    before, found = everything(cypher), hoprank.search("punched cards", corpus=library).items
    graph = hoprank.graph(unique)
    try:
        job: dict[str, Any] = {
            "state": "queued",
            "corpus": library,
            "kind": "sync",
            "attempt": 0,
            "request": "{}",
            "name": library,
        }
        for number, name in enumerate(HOSTILE):
            properties = {**job, name: name, "created_at": "2000-01-01T00:00:00+00:00", "hostile": True, "since": 0}
            graph.add_node(KnowledgeNode(f"{number}", name, labels=[name], properties=properties))
            graph.add_edge(KnowledgeEdge(f"{number}", f"{number}", name, properties={name: name, "since": 0}))
        given = {row["l"] for row in cypher("MATCH (n {hostile: true}) UNWIND labels(n) AS l RETURN l")}

        assert not {label for label in given if label in {f"HopRank{name}" for name in OWN}} - {"HopRankKnowledgeNode"}
        assert sorted(node.type for node in graph.nodes()) == sorted(HOSTILE)
        assert [node.properties[node.type] for node in graph.nodes()] == [node.type for node in graph.nodes()]
        assert [item.content for item in hoprank.search("punched cards", corpus=library).items] == [
            item.content for item in found
        ]
    finally:
        graph.drop()
    after = everything(cypher)
    after["nodes"] = {label: count for label, count in after["nodes"].items() if not label.startswith("HopRankGraph_")}
    before["nodes"] = {label: n for label, n in before["nodes"].items() if not label.startswith("HopRankGraph_")}
    assert after == before
