"""The handlers, in this process: bugs, and calls that last."""

from __future__ import annotations

import threading
import time

import anyio
import pytest
from mcp import Client
from mcp_types import TextContent

from pipeline import HopRank
from pipeline.errors import Forbidden, ServerUnreachable
from pipeline.registry import registry
from pipeline.serve.access import Grant
from pipeline.serve.mcp.server import make_server
from pipeline.serve.mcp.service import Call, Service
from pipeline.serve.mcp.tools.table import Tool, domain_tools
from pipeline.settings import ServeSettings, load_settings


@pytest.fixture
def settings() -> ServeSettings:
    return load_settings().serve


def broken(_call: Call) -> dict[str, int]:
    raise RuntimeError("the secret of the server")


def slow(_call: Call, seconds: float) -> dict[str, float]:
    time.sleep(seconds)
    return {"seconds": seconds}


def tool_of(function: object) -> Tool:
    assert callable(function)
    return Tool(name="tried", title="Tried", description="Tried.", function=function)


def test_a_bug_tells_clients_nothing_of_the_server(settings: ServeSettings, caplog: pytest.LogCaptureFixture) -> None:
    server = make_server(Service(_unused, settings), [tool_of(broken)], lambda _: Grant())

    async def ask() -> None:
        async with Client(server) as client:
            result = await client.call_tool("tried", {})
        (content,) = result.content
        assert result.is_error
        assert isinstance(content, TextContent)
        assert "secret" not in content.text
        assert "because of a bug" in content.text

    anyio.run(ask)
    assert "the secret of the server" in caplog.text


def test_a_slow_call_keeps_no_other_waiting(settings: ServeSettings) -> None:
    server = make_server(Service(_unused, settings), [tool_of(slow)], lambda _: Grant())
    ended = []

    async def call(client: Client, seconds: float) -> None:
        await client.call_tool("tried", {"seconds": seconds})
        ended.append(seconds)

    async def ask() -> None:
        async with Client(server) as client, anyio.create_task_group() as group:
            group.start_soon(call, client, 1.0)
            group.start_soon(call, client, 0.0)

    anyio.run(ask)
    assert ended == [0.0, 1.0]


def test_a_connection_that_failed_is_tried_again(settings: ServeSettings) -> None:
    made = iter([ServerUnreachable("Nothing answers."), None])

    def connect() -> HopRank:
        if error := next(made):
            raise error
        return object.__new__(HopRank)

    service = Service(connect, settings)
    service.warm_up()

    assert service.hoprank is service.hoprank


def test_two_calls_at_once_connect_once(settings: ServeSettings) -> None:
    made = []

    def connect() -> HopRank:
        time.sleep(0.05)
        made.append(1)
        return object.__new__(HopRank)

    service = Service(connect, settings)
    threads = [threading.Thread(target=lambda: service.hoprank) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert made == [1]


def _unused() -> HopRank:
    raise AssertionError("nothing connects")


def test_a_verb_needs_a_token_that_opens_everything(settings: ServeSettings) -> None:
    verb = next(one for one in domain_tools(["skills"], read_only=False) if one.name == "skills_search")
    call = Call(Service(_unused, settings), Grant(frozenset(["docs"])))

    with pytest.raises(Forbidden, match="some corpora only"):
        verb.function(call, task="anything")


def test_every_domain_offers_its_verbs() -> None:
    names = [domain.name for domain in registry().domains]
    tools = domain_tools(names, read_only=True)

    assert len({tool.name for tool in tools}) == len(tools)
    assert {tool.name.split("_")[0] for tool in tools} == set(names)
    for tool in tools:
        signature = tool.signature()
        assert signature.output_schema["type"] == "object"
        assert "hoprank" not in signature.input_schema["properties"]
