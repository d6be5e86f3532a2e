"""A session of an agent with its memory, over HTTP: it stores, recalls as of a date, corrects and forgets."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

import pytest
from anyio.from_thread import BlockingPortal

from pipeline import HopRank, Memory
from pipeline.json_values import plain
from tests.serve.mcp.conftest import Talk, http_server, talking_over_http

pytestmark = pytest.mark.slow

TEAM, READER, OTHER = "writes-the-team-0001", "reads-the-team-00001", "writes-another-00001"
FACT = {"source": "api-server", "relation": "depends_on", "target": "hono", "create": ["library"]}


@pytest.fixture
def team(hoprank: HopRank) -> Iterator[str]:
    """The name of a memory, which is dropped afterwards."""
    name = f"test-team-{uuid.uuid4().hex[:8]}"
    yield name
    Memory(hoprank, name).drop()


def session(talk: Talk, team: str, hoprank: HopRank) -> None:
    """Hold a session; every step sees what the one before did."""
    told = talk.call(
        "memory_remember", text="We moved the API server to Hono.", date="2026-02-10", speaker="Ada", memory=team
    )
    assert told["time"].startswith("2026-02-10")
    stated = talk.call("memory_fact", **FACT, since="2026-02-10", evidence="Ada said so", memory=team)
    assert [one["target"] for one in stated["added"]] == ["default|library|hono"]
    assert stated["expired"] == []

    later = talk.call("memory_recall", question="What does the API server run on?", memory=team)
    before = talk.call("memory_recall", question="What does the API server run on?", as_of="2026-01-01", memory=team)
    assert "moved the API server to Hono" in json.dumps(later)
    assert "moved the API server to Hono" not in json.dumps(before)
    same = plain(Memory(hoprank, team).search("What does the API server run on?"))
    assert later["items"] == json.loads(json.dumps(same["items"]))

    corrected = talk.call(
        "memory_supersede",
        **FACT,
        by="express",
        at="2026-06-01",
        evidence="Bo moved it back",
        memory=team,
    )
    assert len(corrected["expired"]) == 1
    history = talk.call("memory_history", entity="api-server", relation="depends_on", memory=team)["facts"]
    held = {one["target"]: (one["valid_at"], one["invalid_at"]) for one in history if one["expired_at"] is None}
    assert {target: [time and time[:10] for time in times] for target, times in held.items()} == {
        "default|library|hono": ["2026-02-10", "2026-06-01"],
        "default|library|express": ["2026-06-01", None],
    }

    steps = [{"tool": "deploy", "input": {"server": "api"}, "result": "started"}]
    task = talk.call("memory_remember", text="Deploy the API", steps=steps, outcome="It runs.", memory=team)
    (traced,) = talk.call("memory_recall", question="How is the API deployed?", traces=True, memory=team)["items"]
    assert (traced["hit"]["document"], "It runs." in traced["hit"]["text"]) == (task["key"], True)

    would = talk.call("memory_forget", topic="Hono", memory=team)
    assert (would["dry_run"], would["memories"]) == (True, [told["key"]])
    assert "moved the API server to Hono" in json.dumps(talk.call("memory_mentions", what="Ada", memory=team))
    gone = talk.call("memory_forget", topic="Hono", dry_run=False, memory=team)
    assert (gone["dry_run"], gone["memories"]) == (False, [told["key"]])
    after = talk.call("memory_recall", question="What does the API server run on?", memory=team)
    assert "moved the API server to Hono" not in json.dumps(after)
    assert "what to forget" in talk.refusal("memory_forget", memory=team)
    assert "no entity 'nobody'" in talk.refusal("memory_history", entity="nobody", memory=team)


def test_an_agent_with_a_token_for_its_memory_holds_a_session_over_http(
    portal: BlockingPortal, server_environment: dict[str, str], team: str, hoprank: HopRank
) -> None:
    tokens = [
        {"token": TEAM, "corpora": [team], "write": True},
        {"token": READER, "corpora": [team]},
        {"token": OTHER, "corpora": ["other"], "write": True},
    ]
    named = {"HOPRANK_SERVE__TOKENS": json.dumps(tokens)}
    with http_server(server_environment | named, "--domain", "memory") as server:
        with talking_over_http(portal, server.url, TEAM) as talk:
            session(talk, team, hoprank)
        with talking_over_http(portal, server.url, READER) as talk:
            offered = {tool.name for tool in talk.ask("list_tools").tools}
            assert {"memory_recall", "memory_history"} <= offered
            assert not offered & {"memory_remember", "memory_fact", "memory_supersede", "memory_forget"}
            assert "permits reading only" in talk.refusal("memory_remember", text="x", memory=team)
            assert talk.call("memory_history", entity="api-server", memory=team)["facts"]
        with talking_over_http(portal, server.url, OTHER) as talk:
            for tool, given in (("memory_recall", {"question": "x"}), ("memory_remember", {"text": "x"})):
                assert f"doesn't open '{team}'" in talk.refusal(tool, **given, memory=team)
