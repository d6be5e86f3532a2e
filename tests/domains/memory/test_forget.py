"""Forgetting: texts, and what is known from them alone, leave together; the rest stays."""

from __future__ import annotations

import pytest

from pipeline.db.corpus import open_corpus
from pipeline.domains.memory import patterns
from pipeline.domains.memory.chats.messages import Read
from pipeline.domains.memory.chats.read import read_memories
from pipeline.domains.memory.entities import upsert
from pipeline.domains.memory.forget import Selection, forget
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.patterns import history
from pipeline.domains.memory.records import Entity, Fact
from pipeline.domains.memory.remember import remember
from pipeline.domains.memory.revise import add_facts
from pipeline.errors import GraphError, InputError
from pipeline.ingest.update.stored import stored_documents
from tests.domains.memory.test_conversations import HARBOUR


@pytest.fixture
def harbour(memory: AgentMemory) -> AgentMemory:
    """The conversation, remembered."""
    remember(memory, read_memories(HARBOUR))
    return memory


def keys(memory: AgentMemory) -> set[str]:
    return {key.removeprefix("harbour/") for key in stored_documents(open_corpus(memory.hoprank.client, memory.name))}


@pytest.mark.slow
def test_what_a_dry_run_tells_is_what_is_forgotten_afterwards(harbour: AgentMemory) -> None:
    before = harbour.graph().size()

    planned = forget(harbour, Selection(session="migration"), dry_run=True)

    assert len(planned.memories) == 4
    assert "default|convention|file names in kebab-case" in planned.entities
    assert {fact.type for fact in planned.facts} >= {"triggers"}
    assert harbour.graph().size() == before
    assert len(keys(harbour)) == 12

    assert forget(harbour, Selection(session="migration")) == planned

    assert keys(harbour) == {f"{session}:{turn}" for session in ("kickoff", "summer") for turn in range(1, 5)}
    with pytest.raises(GraphError):
        harbour.resolve("hono")
    assert harbour.resolve("Marten").mention_count == 6
    assert not any("migration" in node.id for node in harbour.graph().nodes())
    assert not any("migration" in said for fact in _all(harbour) for said in (*fact.evidence, fact.ended))


@pytest.mark.slow
def test_a_fact_with_other_evidence_stays_and_loses_the_forgotten_sentence(harbour: AgentMemory) -> None:
    service, base = harbour.resolve("tide-service"), harbour.resolve("tidebase")
    fact = Fact(service.id, "depends_on", base.id, "2026-01-12T08:00:00+00:00", evidence=("package.json",))
    add_facts(harbour, [fact])

    done = forget(harbour, Selection(session="kickoff"))

    (kept,) = [fact for fact in history(harbour, service, "depends_on", base) if not fact.expired_at]
    assert kept.evidence == ("package.json",)
    assert [one.triple for one in done.weakened if not one.expired_at] == [fact.triple]


@pytest.mark.slow
def test_an_entity_takes_what_mentions_it_along(harbour: AgentMemory) -> None:
    ilse = harbour.resolve("Ilse")

    forget(harbour, Selection(entity=ilse))

    with pytest.raises(GraphError):
        harbour.resolve("Ilse")
    assert keys(harbour) == {"kickoff:2", "kickoff:4", "migration:1", "migration:3", "summer:2", "summer:4"}


@pytest.mark.slow
def test_a_topic_and_a_period_must_both_hold(harbour: AgentMemory) -> None:
    selection = Selection(topic="gauge Orme Lock", since="2026-02-01T00:00:00+00:00", until="2026-03-01T00:00:00+00:00")

    forget(harbour, selection)

    assert {"kickoff:3", "summer:3"} <= keys(harbour)
    assert "migration:4" not in keys(harbour)


@pytest.mark.slow
def test_a_scope_goes_with_its_entities_and_leaves_others(harbour: AgentMemory) -> None:
    upsert(harbour, [Entity("gauge.py", "file", "repo"), Entity("other.py", "file", "elsewhere")])

    forget(harbour, Selection(scope="repo"))

    assert [entity.name for entity in patterns.by_type(harbour, "file")] == ["other.py"]
    assert len(keys(harbour)) == 12
    with pytest.raises(InputError, match="Nothing says what to forget"):
        forget(harbour, Selection())


def test_what_is_forgotten_can_be_remembered_again(harbour: AgentMemory) -> None:
    before = {(edge.source, edge.target, edge.type) for edge in harbour.graph().edges()}
    forget(harbour, Selection(session="summer"))

    remember(harbour, Read(tuple(one for one in read_memories(HARBOUR).memories if one.session == "summer")))

    assert {(edge.source, edge.target, edge.type) for edge in harbour.graph().edges()} == before


def _all(memory: AgentMemory) -> list[Fact]:
    return [Fact.of(edge) for edge in memory.graph().edges() if edge.type != "mentions"]
