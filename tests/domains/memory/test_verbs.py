"""The verbs for servers."""

from __future__ import annotations

from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.remember import add_text
from tests.domains.verbs import asked


def test_memories_are_recalled(memory: AgentMemory) -> None:
    made, _ = add_text(memory, "We moved the API server to Hono.", date="2026-02-10", speaker="Ada")

    found = asked(memory.hoprank, "memory", "recall", question="What runs the API server?", memory=memory.name)
    before = asked(
        memory.hoprank, "memory", "recall", question="What runs the API?", as_of="2026-01-01", memory=memory.name
    )

    assert "We moved the API server to Hono." in str(found)
    assert "moved the API server" not in str(before["items"])
    texts = asked(memory.hoprank, "memory", "mentions", what="Ada", memory=memory.name)["texts"]
    assert [(text["key"], text["text"]) for text in texts] == [(made.key, "We moved the API server to Hono.")]
    named = asked(memory.hoprank, "memory", "mentions", what=made.key, kind="text", memory=memory.name)["entities"]
    assert [(entity["type"], entity["name"]) for entity in named] == [("person", "Ada")]
