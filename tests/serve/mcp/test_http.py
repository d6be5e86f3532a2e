"""The server over HTTP: tokens, protection against rebinding, and its end."""

from __future__ import annotations

import json
import signal
import socket
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from pipeline import HopRank
from pipeline.db.catalogue import drop_corpus, find_corpus, get_corpus
from tests.serve.mcp.conftest import FULL, READER, WRITER, WRITTEN, Connect, http_server

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def post(url: str, **headers: str) -> httpx.Response:
    accepted = {"Accept": "application/json, text/event-stream"}
    with httpx.Client(trust_env=False) as client:
        return client.post(url, json=INITIALIZE, headers=accepted | headers)


def search(url: str, query: str, corpus: str) -> Any:
    """Search without the protocol's client, as a script would."""
    call = {"name": "search", "arguments": {"query": query, "corpus": corpus}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {"Authorization": f"Bearer {FULL}", "Accept": "application/json, text/event-stream"}
    with httpx.Client(trust_env=False, timeout=60) as client:
        answer = client.post(url, json=request, headers=headers)
    event = next(line for line in answer.text.splitlines() if line.startswith("data: {"))
    return json.loads(event.removeprefix("data: "))["result"]


@pytest.mark.slow
@pytest.mark.parametrize("header", [None, "Bearer wrong-token-000001", f"Basic {FULL}"])
def test_a_request_without_a_valid_token_is_refused(url: str, header: str | None) -> None:
    response = post(url, **({"Authorization": header} if header else {}))

    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_token_opens_the_corpora_that_it_lists(over_http: Connect, library: str) -> None:
    with over_http(READER) as talk:
        assert talk.call("search", query="Who met Babbage?", corpus=library, top_k=1)["results"]
        assert talk.call("search", query="Who met Babbage?", top_k=1)["results"], "the only one that it opens"
        assert [corpus["name"] for corpus in talk.call("list_corpora")["corpora"]] == [library]
        assert talk.call("list_corpora")["graphs"] == []
        listed = talk.ask("list_resources").resources
        assert {resource.uri.split("/")[3] for resource in listed} == {library}
        for tool, arguments in {
            "search": {"query": "x", "corpus": "other"},
            "context": {"query": "x", "corpus": "other"},
            "fetch": {"id": "hoprank://corpora/other/documents/x"},
            "neighbors": {"node": "x", "corpus": "other"},
            "path": {"source": "x", "target": "y", "graph": "other"},
        }.items():
            assert "doesn't open 'other'" in talk.refusal(tool, **arguments)
        with pytest.raises(Exception, match="doesn't open 'other'"):
            talk.ask("read_resource", "hoprank://corpora/other/documents/x")


def test_a_message_names_nothing_that_the_token_does_not_open(over_http: Connect, hoprank: HopRank) -> None:
    hidden = hoprank.graph(f"{WRITTEN}-hidden")
    hoprank.add([{"id": "a", "text": "b"}], hidden.name)
    try:
        with over_http(WRITER) as talk, over_http(FULL) as full:
            calls: dict[str, dict[str, Any]] = {
                "search": {"query": "x", "corpus": WRITTEN},
                "context": {"query": "x", "corpus": WRITTEN},
                "fetch": {"id": f"hoprank://corpora/{WRITTEN}/documents/x"},
                "neighbors": {"node": "x", "corpus": WRITTEN},
                "path": {"source": "x", "target": "y", "graph": WRITTEN},
                "forget": {"documents": ["x"], "corpus": WRITTEN},
            }
            for tool, arguments in calls.items():
                assert hidden.name not in talk.refusal(tool, **arguments)
                assert hidden.name in full.refusal(tool, **arguments)
            with pytest.raises(Exception, match="There is no") as refused:
                talk.ask("read_resource", f"hoprank://corpora/{WRITTEN}/documents/x")
            assert hidden.name not in str(refused.value)
    finally:
        hidden.drop()
        drop_corpus(hoprank.client, get_corpus(hoprank.client, hidden.name))


def test_a_token_that_reads_is_offered_no_writes(over_http: Connect, library: str) -> None:
    with over_http(READER) as talk:
        names = {tool.name for tool in talk.ask("list_tools").tools}
        assert not names & {"ingest", "forget"}
        documents = [{"id": "a", "text": "b"}]
        assert "permits reading only" in talk.refusal("ingest", documents=documents, corpus=library)
        assert "permits reading only" in talk.refusal("forget", documents=["ada"], corpus=library, dry_run=False)


def test_a_token_writes_into_its_corpora(over_http: Connect, hoprank: HopRank) -> None:
    try:
        with over_http(WRITER, "legacy") as talk:
            assert talk.call("ingest", documents=[{"id": "a", "text": "b"}], corpus=WRITTEN)["documents"] == 1
            assert "doesn't open" in talk.refusal("ingest", documents=[{"id": "a", "text": "b"}], corpus="other")
    finally:
        if corpus := find_corpus(hoprank.client, WRITTEN):
            drop_corpus(hoprank.client, corpus)


def test_clients_with_a_handshake_are_served(over_http: Connect, library: str) -> None:
    with over_http(mode="legacy") as talk:
        assert len(talk.ask("list_tools").tools) == 8
        assert talk.call("search", query="Who met Babbage?", corpus=library, top_k=1)["results"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:8766"}, 200),
        ({"Host": "rebound.example.org"}, 421),
        ({"Origin": "https://evil.example.org"}, 403),
    ],
)
def test_a_page_elsewhere_reaches_nothing(url: str, headers: dict[str, str], status: int) -> None:
    assert post(url, Authorization=f"Bearer {FULL}", **headers).status_code == status


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_good_order(
    server_environment: dict[str, str], library: str, number: signal.Signals
) -> None:
    environment = server_environment | {"HOPRANK_SERVE__TOKEN": FULL}
    with http_server(environment) as server:
        found = search(server.url, "marmalade", library)
        assert "results" in found["structuredContent"]
        server.process.send_signal(number)
        assert server.process.wait(20) == 0
        assert server.process.stdout is not None
        assert server.process.stdout.read() == ""

    log = "".join(server.said)
    assert "Traceback" not in log
    assert "marmalade" not in log
    assert FULL not in log


@pytest.mark.slow
def test_clients_that_go_away_in_a_call_leave_it_running_and_quiet(server_environment: dict[str, str]) -> None:
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_corpora", "arguments": {}}}
    body = json.dumps(call).encode()
    with http_server(server_environment) as server:
        at = urlsplit(server.url)
        accepts = "Accept: application/json, text/event-stream\r\nContent-Type: application/json"
        head = (
            f"POST {at.path} HTTP/1.1\r\nHost: {at.netloc}\r\n{accepts}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        )
        began = len(server.said)
        for sent in (head + body, head + body[:10], head[:40], b"\x00", head) * 5:
            with socket.create_connection((at.hostname or "", at.port or 0)) as connection:
                connection.sendall(sent)
        with socket.create_connection((at.hostname or "", at.port or 0)) as connection:
            connection.sendall(head + body)
            assert connection.recv(20).startswith(b"HTTP/1.1 200")
        server.process.terminate()
        assert server.process.wait(30) == 0
        assert "Traceback" not in "".join(server.said[began:])
