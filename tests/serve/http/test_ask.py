"""Answers over HTTP: events as they are written, refusals before them, and clients that leave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from pipeline import HopRank
from pipeline.serve.http.routes import ask as routes
from tests.answer.endpoint import Endpoint, chat_endpoint, errs, event, hangs, says
from tests.serve.http.conftest import Start
from tests.serve.service import serving

QUESTION = "Who met Charles Babbage at a party?"
TOKEN = "a-token-of-the-library"

Events = list[tuple[str, Any]]


@pytest.fixture(scope="module")
def running() -> Iterator[Endpoint]:
    with chat_endpoint() as server:
        yield server


@pytest.fixture
def endpoint(running: Endpoint) -> Endpoint:
    running.will()
    return running


@pytest.fixture(scope="module")
def asking(running: Endpoint, start: Start, library: str) -> TestClient:
    """A service whose model is at the endpoint; its token opens the library alone."""
    ask = {"base_url": running.root, "model": "some/model", "timeout": 20}
    return start(ask, tokens=[{"token": TOKEN, "corpora": [library]}], max_answers=1, queue_timeout=0.2)


HEADERS = {"Authorization": f"Bearer {TOKEN}"}


def read(text: str) -> Events:
    """The events of a stream."""
    blocks = (dict(line.split(": ", 1) for line in block.splitlines()) for block in text.strip().split("\n\n"))
    return [(one["event"], json.loads(one["data"])) for one in blocks if "event" in one]


def ask(client: TestClient, **body: Any) -> Events:
    answer = client.post("/v1/ask", json={"query": QUESTION, **body}, headers=HEADERS)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    return read(answer.text)


def test_the_context_comes_first_then_the_text_and_at_the_end_the_whole(
    asking: TestClient, endpoint: Endpoint, hoprank: HopRank, library: str
) -> None:
    endpoint.will(says("<think>Hm.</think>", "Ada Lovelace, in 18", "33 [", "1] [9", "9]."))

    (first, context), *texts, (last, whole) = ask(asking, corpus=library, tokens=200)

    expected = hoprank.context(QUESTION, corpus=library, tokens=200)
    assert (first, last, {name for name, _ in texts}) == ("context", "done", {"text"})
    assert [one["document"] for one in context["passages"]] == [one.document for one in expected.passages]
    assert "".join(data["text"] for _, data in texts) == whole["answer"] == "Ada Lovelace, in 1833 [1] [99?]."
    cited = [(data["citation"], data["known"]) for _, data in texts if data["citation"] is not None]
    assert cited == [(1, True), (99, False)]
    assert whole["citations"][0]["document"] == expected.passages[0].document
    assert whole["unknown_citations"] == [99]
    assert whole["context_tokens"] == expected.tokens
    assert expected.passages[0].text in endpoint.prompt


def test_what_the_model_can_t_do_is_the_last_event(asking: TestClient, endpoint: Endpoint, library: str) -> None:
    endpoint.will(errs(404, {"error": {"message": "model 'x' not found"}}))

    (first, _), (last, problem) = ask(asking, corpus=library)

    assert (first, last) == ("context", "error")
    assert (problem["type"], problem["status"]) == ("ConfigurationError", 422)
    assert "model 'x' not found" in problem["detail"]
    assert problem["fix"]


def test_what_is_refused_is_no_stream(
    asking: TestClient, service: TestClient, endpoint: Endpoint, library: str
) -> None:
    body = {"query": QUESTION, "corpus": library}
    refused = {
        "another corpus": asking.post("/v1/ask", json={**body, "corpus": "secret"}, headers=HEADERS),
        "no token": asking.post("/v1/ask", json=body),
        "another model": asking.post("/v1/ask", json={**body, "model": "m"}, headers=HEADERS),
        "another endpoint": asking.post("/v1/ask", json={**body, "base_url": "http://x"}, headers=HEADERS),
        "too many": asking.post("/v1/ask", json={**body, "top_k": 10_000}, headers=HEADERS),
        "too long": asking.post("/v1/ask", json={**body, "query": "a" * 1_000_001}, headers=HEADERS),
        "empty": asking.post("/v1/ask", json={**body, "query": " "}, headers=HEADERS),
        "no model": service.post("/v1/ask", json=body),
    }

    found = {why: (answer.status_code, answer.json()["type"]) for why, answer in refused.items()}
    assert found == {
        "another corpus": (403, "Forbidden"),
        "no token": (401, "Unauthenticated"),
        "another model": (422, "RequestError"),
        "another endpoint": (422, "RequestError"),
        "too many": (422, "LimitExceeded"),
        "too long": (422, "LimitExceeded"),
        "empty": (422, "QuestionError"),
        "no model": (422, "ConfigurationError"),
    }
    assert endpoint.requests == []


def test_the_service_tells_which_model_answers(asking: TestClient, service: TestClient) -> None:
    assert asking.get("/v1/ask", headers=HEADERS).json() == {"model": "some/model"}
    assert asking.get("/v1/ask").status_code == 401
    assert service.get("/v1/ask").json() == {"model": None}


def leave(
    client: TestClient, body: Mapping[str, Any], after: bytes, later: float = 0, *, reads: bool = True
) -> list[bytes]:
    """Ask, and go away once ``after`` has arrived, or some seconds ``later``; return what has arrived.

    A client that doesn't read stays, and takes nothing after ``after``.
    """
    arrived: list[bytes] = []

    async def drive() -> None:
        left, messages = asyncio.Event(), [{"type": "http.request", "body": json.dumps(body).encode()}]

        async def receive() -> Any:
            if messages:
                return messages.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            arrived.append(message.get("body", b""))
            if after in arrived[-1] and reads:
                asyncio.get_running_loop().call_later(later, left.set)
            elif after in arrived[-1]:
                await asyncio.Event().wait()

        headers = [(b"content-type", b"application/json"), (b"authorization", f"Bearer {TOKEN}".encode())]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},  # as uvicorn's
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/v1/ask",
            "raw_path": b"/v1/ask",
            "query_string": b"",
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 1),
        }
        await asyncio.wait({asyncio.ensure_future(client.app(scope, receive, send))})

    assert client.portal
    client.portal.call(drive)
    return arrived


def test_a_client_that_leaves_ends_the_model_s_work_and_frees_its_place(
    asking: TestClient, endpoint: Endpoint, library: str
) -> None:
    body = {"query": QUESTION, "corpus": library}
    endpoint.will(hangs(event(content="Ada Lovelace, at a party in 1833")), hangs())

    arrived = leave(asking, body, b"event: text")
    assert b"event: done" not in b"".join(arrived)
    assert endpoint.gone.wait(2)

    endpoint.gone.clear()
    leave(asking, body, b"event: context", later=0.3)  # the model is silent
    assert len(endpoint.requests) == 2
    assert endpoint.gone.wait(2)

    assert ask(asking, corpus=library)[-1][0] == "done"


def test_a_client_that_does_not_read_holds_no_place_for_ever(
    asking: TestClient, endpoint: Endpoint, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "_READING_SECONDS", -19.0)  # one second is left of twenty
    endpoint.will(hangs())

    leave(asking, {"query": QUESTION, "corpus": library}, b"event: context", reads=False)

    monkeypatch.undo()
    assert ask(asking, corpus=library)[-1][0] == "done"


def test_more_answers_than_there_are_places_are_refused(asking: TestClient, endpoint: Endpoint, library: str) -> None:
    service = asking.app.state.service  # type: ignore[attr-defined]
    assert asking.portal
    asking.portal.call(service.answers.take)
    try:
        answer = asking.post("/v1/ask", json={"query": QUESTION, "corpus": library}, headers=HEADERS)
    finally:
        service.answers.give()

    assert (answer.status_code, answer.json()["type"]) == (503, "Overloaded")
    assert answer.headers["Retry-After"]
    assert endpoint.requests == []


@pytest.mark.slow
def test_a_running_service_streams_and_lets_go(
    endpoint: Endpoint, library: str, server_environment: Mapping[str, str]
) -> None:
    settings = {"HOPRANK_ASK__BASE_URL": endpoint.root, "HOPRANK_ASK__MODEL": "some/model"}
    endpoint.will(hangs(event(content="Ada Lovelace, at a party in 1833")))
    body = {"query": QUESTION, "corpus": library}

    with serving({**server_environment, **settings}) as service:
        with httpx.stream("POST", f"{service.url}/v1/ask", json=body, timeout=30) as answer:
            assert any("event: text" in line for line in answer.iter_lines())
        assert endpoint.gone.wait(5)
        text = httpx.post(f"{service.url}/v1/ask", json=body, timeout=30).text

        assert read(text)[-1][1]["citations"][0]["number"] == 1
        assert service.stop() == 0
    assert QUESTION not in "".join(service.lines)
