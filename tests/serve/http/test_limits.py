"""Tokens, limits and hosts: what the service refuses."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pipeline import HopRank
from pipeline.errors import HopRankError, JobError, LoginRefused, ServerUnreachable
from pipeline.serve.access import Access
from pipeline.serve.http.models import Readiness
from pipeline.serve.http.routes import corpora, health
from pipeline.serve.jobs.records import Kind, Request
from pipeline.serve.jobs.store import JobStore
from pipeline.serve.rate import LimitRate
from pipeline.settings import load_settings
from tests.serve.http.conftest import Start

FULL, READER = "full-of-rights-0001", "reads-only-some-001"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def guarded(start: Start, library: str) -> TestClient:
    return start(token=FULL, tokens=[{"token": READER, "corpora": [library]}], max_megabytes=0.01)


def test_every_operation_but_the_checks_needs_a_token(guarded: TestClient) -> None:
    paths = guarded.get("/openapi.json").json()["paths"]
    open_ = set()
    for path, operations in paths.items():
        for method in operations:
            answer = guarded.request(method, path.replace("{", "").replace("}", ""), json={})
            if answer.status_code != 401:
                open_.add(path)
            else:
                assert answer.headers["www-authenticate"] == "Bearer"

    assert open_ == {"/health", "/ready"}


def test_no_body_is_read_without_a_token(guarded: TestClient) -> None:
    """FastAPI parses a body before a route asks for the token, and answers a malformed one with 422."""
    sent: list[dict[str, Any]] = [{"content": b"{"}, {"content": b"x" * 20_000}, {"content": iter([b"{", b"["])}]

    for body in sent:
        assert guarded.post("/v1/search", headers={"Content-Type": "application/json"}, **body).status_code == 401
    assert guarded.post("/v1/search", content=b"{", headers=bearer(FULL)).status_code == 422


def test_a_token_opens_its_corpora_alone(guarded: TestClient, library: str) -> None:
    reader = bearer(READER)

    assert [one["name"] for one in guarded.get("/v1/corpora", headers=reader).json()] == [library]
    assert guarded.post("/v1/search", json={"query": "moon", "corpus": library}, headers=reader).status_code == 200
    for refused in (
        guarded.post("/v1/search", json={"query": "moon", "corpus": "other"}, headers=reader),
        guarded.get("/v1/graphs/other", headers=reader),
        guarded.put(f"/v1/corpora/{library}/documents/x", json={"text": "x"}, headers=reader),
        guarded.delete(f"/v1/corpora/{library}", headers=reader),
        guarded.post("/v1/ingest", json={"corpus": library, "documents": [{"id": "x", "text": "x"}]}, headers=reader),
    ):
        assert (refused.status_code, refused.json()["type"]) == (403, "Forbidden")


def test_a_token_of_some_corpora_learns_no_other_names(start: Start, library: str) -> None:
    scoped = start(tokens=[{"token": READER, "corpora": ["gone"], "write": True}])

    answer = scoped.get("/v1/corpora/gone", headers=bearer(READER))

    assert answer.status_code == 404
    assert library not in answer.text


def test_a_job_of_a_corpus_that_a_token_does_not_open_is_unknown(start: Start, hoprank: HopRank, library: str) -> None:
    scoped = start(tokens=[{"token": READER, "corpora": ["gone"], "write": True}])
    job = JobStore(hoprank.client).create(Kind.SYNC, library, Request(paths=("/none",), dry_run=True))

    try:
        for method, path in (("GET", ""), ("GET", "/events"), ("POST", "/cancel"), ("POST", "/retry")):
            answers = [
                scoped.request(method, f"/v1/jobs/{id_}{path}", headers=bearer(READER)) for id_ in (job.id, "0" * 32)
            ]
            assert [answer.status_code for answer in answers] == [404, 404]
            assert answers[0].text == answers[1].text.replace("0" * 32, job.id)
    finally:
        with suppress(JobError):  # a service of this file may have run it: it fails
            JobStore(hoprank.client).cancel(job.id)


def test_a_body_beyond_the_limit_is_refused_also_without_its_length(guarded: TestClient) -> None:
    def body() -> Iterator[bytes]:
        yield b'{"query": "' + b"x" * 11_000
        yield b'"}'

    declared = guarded.post("/v1/search", json={"query": "x" * 11_000}, headers=bearer(FULL))
    streamed = guarded.post("/v1/search", content=body(), headers={**bearer(FULL), "Content-Type": "application/json"})

    for answer in (declared, streamed):
        assert (answer.status_code, answer.json()["type"]) == (413, "TooLarge")


@pytest.fixture
def within_a_minute() -> None:
    """Wait for the next minute if this one is about to end: the limit counts the requests of each."""
    left = 60 - time.time() % 60
    time.sleep(left if left < 6 else 0)


@pytest.mark.usefixtures("within_a_minute")
def test_a_client_beyond_the_rate_waits_and_monitoring_does_not(start: Start) -> None:
    limited = start(rate=3, token=FULL, tokens=[{"token": READER, "corpora": []}])

    answers = [limited.get("/v1/domains", headers=bearer(FULL)) for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) > 0
    assert limited.get("/v1/domains", headers=bearer(READER)).status_code == 200
    made_up = [limited.get("/v1/domains", headers=bearer(f"made-up-token-{number:04}")) for number in range(4)]
    assert [answer.status_code for answer in made_up] == [401, 401, 401, 429]
    assert limited.get("/health").status_code == 200


@pytest.mark.usefixtures("within_a_minute")
def test_the_rate_is_that_of_a_token_however_its_header_is_written(start: Start) -> None:
    limited = start(rate=3, token=FULL)

    written = (f"Bearer {FULL}", f"bearer {FULL}", f"BEARER   {FULL}", f"Bearer {FULL}\t", f"bEARER  {FULL}  ")
    answers = [limited.get("/v1/domains", headers={"Authorization": one}) for one in written]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]


def test_clients_that_are_counted_are_bounded(start: Start) -> None:
    async def app(*_: object) -> None:
        """Answers nothing."""

    settings = load_settings({"serve": {"token": FULL}}).serve
    limit = LimitRate(app, 600, Access(settings), lambda _: app)
    addresses = (f"2001:db8::{number:x}" for number in range(20_000))
    sent = [(b"authorization", b"Bearer made-up-token-0001")]

    clients = {limit.client({"type": "http", "headers": sent, "client": (address, 1)}) for address in addresses}

    assert 1000 < len(clients) <= 4096


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1:8765", ""])
def test_without_a_token_other_host_names_are_refused(service: TestClient, host: str) -> None:
    answer = service.get("/v1/corpora", headers={"Host": host})

    assert answer.status_code == 421
    assert answer.json()["fix"]


@pytest.mark.parametrize("host", ["localhost", "localhost:8765", "127.0.0.1:1", "[::1]:8765"])
def test_without_a_token_this_machine_is_answered(service: TestClient, host: str) -> None:
    assert service.get("/health", headers={"Host": host}).status_code == 200


def test_no_other_page_may_read_the_service_unless_it_is_listed(service: TestClient, start: Start) -> None:
    origin = {"Origin": "https://example.org"}
    listed = start(origins=["https://example.org"])

    assert "access-control-allow-origin" not in service.get("/health", headers=origin).headers
    assert listed.get("/health", headers=origin).headers["access-control-allow-origin"] == "https://example.org"
    other = listed.get("/health", headers={"Origin": "https://other.example"})
    assert "access-control-allow-origin" not in other.headers


WRITES = [
    ("POST", "/v1/jobs/none/cancel"),
    ("POST", "/v1/jobs/none/retry"),
    ("DELETE", "/v1/corpora/none"),
    ("DELETE", "/v1/corpora/none/documents/x"),
    ("PUT", "/v1/corpora/none/files/x"),
]


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_a_page_elsewhere_writes_nothing_unless_it_is_listed(
    service: TestClient, start: Start, method: str, path: str
) -> None:
    listed = start(origins=["https://example.org"])

    for origin in ("https://example.org", "http://localhost:9", "http://127.0.0.1.example.org", "null", ""):
        refused = service.request(method, path, headers={"Origin": origin})
        assert (refused.status_code, refused.json()["type"]) == (403, "Forbidden")
    for client, origin in ((service, "http://127.0.0.1"), (listed, "https://example.org")):
        assert client.request(method, path, headers={"Origin": origin}).status_code in {404, 422}
    assert service.request(method, path).status_code in {404, 422}


def test_a_plain_request_id_is_kept_and_another_is_replaced(service: TestClient) -> None:
    assert service.get("/health", headers={"X-Request-ID": "mine-1"}).headers["x-request-id"] == "mine-1"
    assert service.get("/health", headers={"X-Request-ID": "a b"}).headers["x-request-id"] != "a b"


def test_readiness_is_checked_once_for_all_who_ask(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = start()
    checks, check = [], health.readiness

    def counted(hoprank: HopRank) -> Readiness:
        checks.append(1)
        return check(hoprank)

    monkeypatch.setattr(health, "readiness", counted)

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: asked.get("/ready"), range(50)))

    assert {answer.status_code for answer in answers} == {200}
    assert answers[0].json()["status"] == "ready"
    assert answers[0].json()["server"]
    assert len(checks) <= 5


def test_without_a_token_readiness_tells_no_address(guarded: TestClient, hoprank: HopRank) -> None:
    unknown = guarded.get("/ready", headers=bearer("made-up-token-0001"))

    assert guarded.get("/ready").json() == unknown.json() == {"status": "ready", "server": "", "model": ""}
    told = guarded.get("/ready", headers=bearer(READER)).json()
    assert (told["server"], told["model"]) == (hoprank.client.address.uri, hoprank.embedder.name)


@pytest.mark.parametrize("error", [ServerUnreachable("At secret:7687.", "A secret."), LoginRefused("secret", "secret")])
def test_without_a_token_readiness_tells_no_reason(
    start: Start, monkeypatch: pytest.MonkeyPatch, error: HopRankError
) -> None:
    def fail(_: Any) -> None:
        raise error

    monkeypatch.setattr(health, "readiness", fail)
    broken = start(token=FULL)

    answers = [broken.get("/ready"), broken.get("/ready", headers=bearer(FULL))]

    assert [answer.status_code for answer in answers] == [503, 503]
    assert [answer.json()["type"] for answer in answers] == [type(error).__name__] * 2
    assert ["secret" in answer.text for answer in answers] == [False, True]


def test_an_unexpected_error_is_a_problem_with_an_id_and_is_counted(
    service: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(corpora, "list_corpora", broken)
    answer = service.get("/v1/corpora")

    assert (answer.status_code, answer.json()["type"]) == (500, "Fault")
    assert "secret" not in answer.text
    assert answer.headers["x-request-id"]
    assert 'route="/v1/corpora",status="500"' in service.get("/metrics").text


def test_an_unknown_path_and_method_are_problems(service: TestClient) -> None:
    for answer, status in ((service.get("/no"), 404), (service.put("/v1/search"), 405)):
        assert (answer.status_code, answer.json()["status"]) == (status, status)
        assert answer.headers["content-type"] == "application/problem+json"
