"""The handlers, in this process: bugs, and calls that last."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent
from pydantic import SecretStr
from starlette.testclient import TestClient

from pipeline import HopRank
from pipeline.errors import Forbidden, ServerUnreachable
from pipeline.registry import registry
from pipeline.serve.access import Access, Grant
from pipeline.serve.gate import Gate
from pipeline.serve.mcp.run import make_app
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
    server = make_server(Service(_unused, settings), [tool_of(broken)], Gate(1), lambda _: Grant())

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
    server = make_server(Service(_unused, settings), [tool_of(slow)], Gate(2), lambda _: Grant())
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


@pytest.mark.parametrize(("read_only", "refusal"), [(True, "longer than 0.05 s"), (False, "")])
def test_a_call_that_reads_for_too_long_is_an_error_and_one_that_writes_is_waited_for(
    settings: ServeSettings, read_only: bool, refusal: str
) -> None:
    tool = replace(tool_of(slow), read_only=read_only)
    server = make_server(Service(_unused, settings), [tool], Gate(1, 1, 0.05), lambda _: Grant())

    async def ask() -> CallToolResult:
        async with Client(server) as client:
            return await client.call_tool("tried", {"seconds": 0.2})

    result = anyio.run(ask)

    (content,) = result.content
    assert isinstance(content, TextContent)
    assert (result.is_error, refusal in content.text) == (read_only, True)


def test_a_client_over_http_is_refused_beyond_the_rate(settings: ServeSettings) -> None:
    limited = settings.model_copy(update={"rate": 2, "token": SecretStr("full-of-rights-0001")})
    app = make_app(Service(_unused, limited), [], Access(limited), "127.0.0.1")
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    sent = {"Authorization": "Bearer full-of-rights-0001", "Accept": "application/json, text/event-stream"}

    with TestClient(app, base_url="http://127.0.0.1") as client:
        left = 60 - time.time() % 60
        time.sleep(left if left < 3 else 0)  # the limit counts the requests of each minute
        answers = [client.post("/mcp", json=ping, headers=sent) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[-1].headers["Retry-After"]) > 0
    assert "serve.rate" in answers[-1].text


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


def test_a_verb_that_names_its_graph_needs_a_token_that_opens_it(settings: ServeSettings) -> None:
    recall = next(one for one in domain_tools(["memory"], read_only=False) if one.name == "memory_recall")
    opens, default = (Call(Service(_unused, settings), Grant(frozenset([name]))) for name in ("team", "memory"))

    with pytest.raises(Forbidden, match="doesn't open 'other'"):
        recall.function(opens, question="?", memory="other")
    with pytest.raises(Forbidden, match="doesn't open 'memory'"):
        recall.function(opens, question="?")
    for call, arguments in ((opens, {"memory": "team"}), (default, {})):
        with pytest.raises(AssertionError, match="nothing connects"):
            recall.function(call, question="?", **arguments)


WRITES = {
    "memory_remember": False,
    "memory_fact": False,
    "memory_supersede": False,
    "memory_forget": True,
    "vault_create_knowledge_node": False,
    "vault_link_knowledge_nodes": False,
    "vault_update_knowledge_node": True,
    "vault_delete_knowledge_node": True,
}
"""The verbs that write, each with whether it is destructive."""


def test_the_verbs_that_write_need_a_token_that_writes(settings: ServeSettings) -> None:
    tools = {tool.name: tool for tool in domain_tools(["memory", "vault"], read_only=False)}
    writes = {name: tool.destructive for name, tool in tools.items() if not tool.read_only}
    named = frozenset(["memory", "vault"])
    reader, some, other = (
        Call(Service(_unused, settings), grant)
        for grant in (Grant(write=False), Grant(named, write=False), Grant(frozenset("a")))
    )

    assert writes == WRITES
    assert tools.keys() - writes.keys() == {tool.name for tool in domain_tools(["memory", "vault"], read_only=True)}
    for name in writes:
        for call, says in ((reader, "permits reading only"), (some, "permits reading only"), (other, "doesn't open")):
            with pytest.raises(Forbidden, match=says):
                tools[name].function(call, note="Basil")


def test_every_domain_offers_its_verbs() -> None:
    names = [domain.name for domain in registry().domains]
    tools = domain_tools(names, read_only=True)

    assert len({tool.name for tool in tools}) == len(tools)
    assert {tool.name.split("_")[0] for tool in tools} == set(names)
    assert all(1 <= len(domain_tools([name], read_only=False)) <= 8 for name in names), "a client's context is short"
    for tool in tools:
        signature = tool.signature()
        assert signature.output_schema["type"] == "object"
        assert "hoprank" not in signature.input_schema["properties"]
