"""How a memory asks the server: how often, what a question and a text cost before anything else, and of what state."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import neo4j
import pytest

from pipeline import HopRank, Memory
from pipeline.db.client import Client
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.recall.recall import FoundEntity, FoundText, recall
from pipeline.domains.memory.records import EntityKey
from pipeline.domains.memory.remember import add_text
from pipeline.knowledge.load import load
from pipeline.progress import Progress
from tests.domains.memory.conftest import NewMemory

TEXTS = (
    "We moved the API server of Acme from Express to Hono on 10 February.",
    "Alice Miller owns the billing service; it depends on stripe-node.",
    "Bob Stone said that the Redis cluster in Frankfurt is to be watched by Grafana.",
    "Alice Miller and Bob Stone moved the billing service to Frankfurt.",
)
QUESTION = "Who moved the billing service to Frankfurt?"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the queries that the driver sends, in order."""
    texts: list[str] = []

    def counting(run: Callable[..., neo4j.Result]) -> Callable[..., neo4j.Result]:
        def counted(self: object, query: Any, *given: Any, **params: Any) -> neo4j.Result:
            texts.append(getattr(query, "text", query))
            return run(self, query, *given, **params)

        return counted

    for kind in (neo4j.Session, neo4j.Transaction, neo4j.ManagedTransaction):
        monkeypatch.setattr(kind, "run", counting(kind.run))
    return texts


def test_a_question_asks_twelve_times_at_most_and_a_text_forty(memory: AgentMemory, asked: list[str]) -> None:
    for place, text in enumerate(TEXTS):
        add_text(memory, text, key=f"k{place}", date=f"2026-0{place + 1}-10")
    for _ in range(2):
        recall(memory, QUESTION)

    asked.clear()
    found = recall(memory, QUESTION)
    assert found.items
    assert len(asked) <= 12, asked

    asked.clear()
    add_text(memory, "Alice Miller says that the billing service in Frankfurt is slow.", key="new", date="2026-08-02")
    assert len(asked) <= 40, asked
    assert sum("corpus.lock" in text for text in asked) == sum("corpus.writer = $writer" in text for text in asked)


@pytest.mark.slow
def test_several_files_are_one_run(
    hoprank: HopRank, new_memory: NewMemory, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[int] = []
    encode = hoprank.embedder.encode

    def counting(texts: Sequence[str], *given: Any, **options: Any) -> Any:
        encoded.append(len(texts))
        return encode(texts, *given, **options)

    monkeypatch.setattr(hoprank.embedder, "encode", counting)
    paths = [tmp_path / f"{place}.json" for place in range(len(TEXTS))]
    for path, text in zip(paths, TEXTS, strict=True):
        turn = {"id": path.stem, "text": text, "date": "2026-01-10"}
        turns = [turn, {**turn, "id": "kept", "text": f"Kept: {text}"}]
        path.write_text(json.dumps({"conversation": "one", "messages": turns}))
    costs = []
    for files in (paths[:1], paths):
        asked.clear()
        encoded.clear()
        with new_memory() as memory:
            Memory(hoprank, memory.name).import_chats(*files)
            costs.append((len(asked), len(encoded)))
            texts = {EntityKey.of(id_).name: id_ for id_ in memory.texts_after("")}
            assert texts.keys() == {"one/kept", *(f"one/{path.stem}" for path in files)}
            found = hoprank.search("Kept", None, 1, {"document": "one/kept"}, corpus=memory.name, leg="fulltext")
            assert found.hits[0].text == f"Kept: {TEXTS[len(files) - 1]}"

    (one, passes), (several, passes_of_several) = costs
    assert several <= one + 20, costs
    assert passes_of_several <= passes + 1, costs


def test_a_question_whose_graph_is_replaced_meanwhile_is_answered_from_the_new_one(
    memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, text in enumerate(TEXTS):
        add_text(memory, text, key=f"k{place}", date=f"2026-0{place + 1}-10")
    before = recall(memory, QUESTION)
    nodes, edges = list(memory.graph().nodes()), list(memory.graph().edges())
    reading, client = Client.read, memory.hoprank.client
    times = iter(range(1))

    def read(client: Client, name: str, /, *given: Any, **params: Any) -> Any:
        # The first query of the entities; their graph is deleted once the new one has the name.
        if name not in ("explore", "hydrate", "graphs_named") and next(times, None) is not None:
            load(client, memory.name, (iter(nodes), iter(edges)), Progress())
        return reading(client, name, *given, **params)

    monkeypatch.setattr(Client, "read", read)
    again = recall(memory, QUESTION)

    assert client.read("graphs_named", graph_names=[memory.name])
    assert next(times, None) is None, "the graph was replaced"
    assert [type(item) for item in before.items if isinstance(item, FoundEntity)], "entities are found"
    assert [item.key for item in again.items if isinstance(item, FoundText)] == [
        item.key for item in before.items if isinstance(item, FoundText)
    ]
    assert {item.entity.id for item in again.items if isinstance(item, FoundEntity)} == {
        item.entity.id for item in before.items if isinstance(item, FoundEntity)
    }
