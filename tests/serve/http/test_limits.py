"""Tokens, limits and hosts: what the service refuses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from pipeline.serve.http.routes import corpora
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


def test_a_body_beyond_the_limit_is_refused_also_without_its_length(guarded: TestClient) -> None:
    def body() -> Iterator[bytes]:
        yield b'{"query": "' + b"x" * 11_000
        yield b'"}'

    declared = guarded.post("/v1/search", json={"query": "x" * 11_000}, headers=bearer(FULL))
    streamed = guarded.post("/v1/search", content=body(), headers={**bearer(FULL), "Content-Type": "application/json"})

    for answer in (declared, streamed):
        assert (answer.status_code, answer.json()["type"]) == (413, "TooLarge")


def test_a_client_beyond_the_rate_waits_and_monitoring_does_not(start: Start) -> None:
    limited = start(rate=3, token=FULL, tokens=[{"token": READER, "corpora": []}])

    answers = [limited.get("/v1/domains", headers=bearer(FULL)) for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) > 0
    assert limited.get("/v1/domains", headers=bearer(READER)).status_code == 200
    made_up = [limited.get("/v1/domains", headers=bearer(f"made-up-token-{number:04}")) for number in range(4)]
    assert [answer.status_code for answer in made_up] == [401, 401, 401, 429]
    assert limited.get("/health").status_code == 200


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


def test_a_plain_request_id_is_kept_and_another_is_replaced(service: TestClient) -> None:
    assert service.get("/health", headers={"X-Request-ID": "mine-1"}).headers["x-request-id"] == "mine-1"
    assert service.get("/health", headers={"X-Request-ID": "a b"}).headers["x-request-id"] != "a b"


def test_metrics_count_by_route_without_names(service: TestClient, library: str) -> None:
    service.get(f"/v1/corpora/{library}")
    service.get("/no/such/path")

    text = service.get("/metrics").text

    assert 'hoprank_requests_total{method="GET",route="/v1/corpora/{corpus}",status="200"}' in text
    assert 'route="none",status="404"' in text
    assert library not in text


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
