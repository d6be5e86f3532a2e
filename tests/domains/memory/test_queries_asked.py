"""How often a memory asks the server: what a question and a text cost before anything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import neo4j
import pytest

from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.recall.recall import recall
from pipeline.domains.memory.remember import add_text

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
