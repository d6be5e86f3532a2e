"""Texts that are remembered: kept as they are, with what they mention; the same again changes nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pipeline import Memory as Chats
from pipeline.db.corpus import open_corpus
from pipeline.domains.memory import patterns
from pipeline.domains.memory.chats.messages import Read
from pipeline.domains.memory.entities import upsert
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity, Memory, When
from pipeline.domains.memory.remember import add_text, remember
from pipeline.errors import HopRankError
from pipeline.ingest.update.stored import stored_documents

MONDAY, TUESDAY = "2026-03-02T09:00:00+00:00", "2026-03-03T09:00:00+00:00"
TURNS = (
    Memory("s1:1", "We keep the tide tables in tables/tide.csv.", MONDAY, "Ada", "s1", turn=1),
    Memory("s1:2", "Orme Lock floods at spring tide, and `read_gauge()` is wrong then.", MONDAY, "Bo", "s1", turn=2),
    Memory("s2:1", "The keeper of Orme Lock has retired.", TUESDAY, "Ada", "s2", turn=1),
)
CONVERSATIONS = Path(__file__).parent / "conversations"
ACCEPTED = {  # what a reader of the conversation calls a topic, a thing or a person that it is about
    "coding": "Grafana, PostgreSQL, Modbus, Prometheus, Slack, TimescaleDB, Alertmanager, GitHub Actions, GitLab CI, "
    "Grundfos, Lena, MacBook, S3, Siemens, VLAN, event_loop, poll_meters, Airflow, Docker, Poetry, asyncpg, pymodbus",
    "family": "Priya, Biscuit, Easter, Heinz, Grandma, Jena, Tobias, Arjun, Signal, Ruth, Skype, Weimar, Zeiss, "
    "Ikea, Sixt, Deutsche Bahn, Brandt, Leipzig, Baltic, Pune",
    "standup": "Captain Jensen, Harbour IT, Beacon, API, BEA-120, Confluence, IALA, Keycloak, Notices, Rostock, "
    "Sentry, k6, BITV, Baltic, Beacon 1.4, Figma, Helm, IndexedDB, Jira, Kiel, MapLibre, OpenAPI, Playwright, "
    "PostgreSQL, Redis, TypeError, buoy.light, iPad, iPads, Offline, tileserver-gl",
}


@dataclass(frozen=True)
class Chat:
    """A chat whose messages are numbered from 1."""

    path: Path
    id: int

    def write(self, *texts: str) -> None:
        messages = [{"id": at, "date": MONDAY, "from": "Ada", "text": text} for at, text in enumerate(texts, 1)]
        self.path.write_text(json.dumps({"id": self.id, "messages": messages}))


KNOWN = [
    Entity("tables/tide.csv", "file"),
    Entity("gauge.py::read_gauge", "function", aliases=("read_gauge",)),
]


def counts(memory: AgentMemory) -> dict[str, int]:
    return {
        entity.name: entity.mention_count
        for kind in ("person", "file", "function", "concept")
        for entity in patterns.by_type(memory, kind)
    }


def graph_of(memory: AgentMemory) -> set[object]:
    graph = memory.graph()
    nodes: set[object] = {(node.id, str(node.properties), node.valid_at, node.created_at) for node in graph.nodes()}
    return nodes | {(edge.source, edge.target, edge.type, edge.id, edge.created_at) for edge in graph.edges()}


@pytest.mark.slow
def test_speakers_known_names_and_shared_names_are_mentioned(memory: AgentMemory) -> None:
    upsert(memory, [replace(entity, mention_count=0) for entity in KNOWN])

    done = remember(memory, Read(TURNS))

    assert counts(memory) == {"Ada": 2, "Bo": 1, "tables/tide.csv": 1, "gauge.py::read_gauge": 1, "Orme Lock": 2}
    assert done.concepts == 1
    assert done.mentioned.memories == 3


@pytest.mark.slow
def test_the_same_texts_again_change_nothing(memory: AgentMemory) -> None:
    upsert(memory, KNOWN)
    remember(memory, Read(TURNS))
    before = graph_of(memory)

    again = remember(memory, Read(TURNS))

    assert graph_of(memory) == before
    assert again.ingested.unchanged == 3
    assert again.mentioned.mentions == 0


@pytest.mark.slow
def test_a_text_that_changes_mentions_what_it_says_now(memory: AgentMemory) -> None:
    upsert(memory, [replace(entity, mention_count=0) for entity in KNOWN])
    remember(memory, Read(TURNS))

    remember(memory, Read((replace(TURNS[0], text="We keep the tide tables in a drawer."),)))

    assert counts(memory)["tables/tide.csv"] == 0
    assert counts(memory)["Ada"] == 2


@pytest.mark.slow
def test_a_namesake_in_another_scope_is_not_meant(memory: AgentMemory) -> None:
    upsert(memory, [Entity("Orme Lock", "concept", scope) for scope in ("default", "elsewhere")])

    add_text(memory, "We walked to Orme Lock.", date=MONDAY)

    assert memory.resolve("Orme Lock", scope="default").mention_count == 2
    assert memory.resolve("Orme Lock", scope="elsewhere").mention_count == 1


@pytest.mark.slow
def test_texts_are_kept_as_they_are(memory: AgentMemory, cypher: object) -> None:
    text = "  two  spaces\n\n\tand a tab \n"

    made, _ = add_text(memory, text, date="2026-03-02", speaker="Ada")

    (item,) = memory.hoprank.search("two spaces", corpus=memory.name, top_k=1).items
    assert item.metadata["document"] == made.key
    stored = stored_documents(open_corpus(memory.hoprank.client, memory.name))
    assert list(stored) == [made.key]


def test_a_title_that_texts_get_is_no_concept(memory: AgentMemory) -> None:
    said = ("Ask for the pump in Vind.", "It stands in Vind, too.", "Vind has pumps.")

    remember(memory, Read(tuple(Memory(f"p:{at}", text, MONDAY, "Ada", title="Pumps") for at, text in enumerate(said))))

    assert counts(memory) == {"Ada": 3, "Vind": 3}


@pytest.mark.slow
def test_a_name_that_is_known_as_something_else_or_is_shared_no_more_is_no_concept(memory: AgentMemory) -> None:
    for at in range(2):
        add_text(memory, f"We ask for Orme Lock, and for Vind, {at} times.", date=MONDAY, key=f"n{at}")
    assert counts(memory) == {"Orme Lock": 2, "Vind": 2}

    add_text(memory, "Yes.", date=TUESDAY, entities=[{"type": "module", "name": "Orme Lock"}])
    add_text(memory, "We ask for nothing.", date=MONDAY, key="n0")

    assert counts(memory) == {}
    assert memory.resolve("Orme Lock").type == "module"


@pytest.mark.slow
@pytest.mark.parametrize("chat", ["coding", "family", "standup"])
def test_concepts_of_chats_are_such_as_a_reader_accepts(memory: AgentMemory, chat: str) -> None:
    Chats(memory.hoprank, memory.name).import_chats(CONVERSATIONS / f"{chat}.json")

    names = [entity.name for entity in patterns.by_type(memory, "concept", limit=50)]

    accepted = ACCEPTED[chat].split(", ")
    assert len(set(names) & set(accepted)) >= max(0.9 * len(names), 15)


@pytest.mark.slow
def test_a_memory_holds_from_its_time_on(memory: AgentMemory) -> None:
    remember(memory, Read(TURNS))
    ada = memory.resolve("Ada")

    speaking = {
        as_of: len(patterns.facts_of(memory, [ada.id]))
        or len(memory.graph_at(When(as_of)).get_neighbors(ada.id, direction="in"))
        for as_of in ("2026-03-01", "2026-03-02T12:00:00", "2026-03-04")
    }

    assert speaking == {"2026-03-01": 0, "2026-03-02T12:00:00": 1, "2026-03-04": 2}


FILE_A, FILE_B = ({"type": "file", "name": name} for name in "ab")


@pytest.mark.parametrize(
    "given",
    [
        {"entities": [{"type": "ship", "name": "x"}]},
        {"facts": [{"source": FILE_A, "type": "depends_on", "target": FILE_B}]},
        {"date": "yesterday"},
    ],
)
def test_nothing_is_written_if_what_is_given_is_wrong(memory: AgentMemory, given: dict[str, object]) -> None:
    with pytest.raises(HopRankError):
        add_text(memory, "some text", **given)  # type: ignore[arg-type]

    assert not memory.has_texts()
