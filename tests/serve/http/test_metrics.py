"""Metrics for Prometheus: requests, stages of searches and jobs, and what the server holds."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Never

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from pipeline.errors import ServerLost
from pipeline.serve.http.metrics import method_of
from pipeline.serve.http.routes import health
from tests.serve.http.conftest import Start

ALL, LIBRARY_ALONE = "opens-all-corpora-0001", "opens-the-library-only"


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what a job, or the next look at the server, brings."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_requests_are_counted_by_route_without_names(service: TestClient, library: str) -> None:
    service.get(f"/v1/corpora/{library}")
    service.get("/no/such/path")

    text = service.get("/metrics").text

    assert 'hoprank_requests_total{method="GET",route="/v1/corpora/{corpus}",status="200"}' in text
    assert 'route="none",status="404"' in text
    of_contents = ("hoprank_corpus_", "hoprank_jobs{")
    assert not [line for line in text.splitlines() if library in line and not line.startswith(of_contents)]


def test_they_have_no_word_of_a_client(service: TestClient) -> None:
    routes = service.app.routes  # type: ignore[attr-defined]
    methods = {method for route in routes if isinstance(route, APIRoute) for method in route.methods or ()}
    assert methods == {method_of(method) for method in methods}

    for number in range(20):
        service.request(f"BREW{number}", "/v1/corpora")
        service.request(f"BREW{number}", f"/none/{number}")
        service.get("/health", headers={"X-Request-ID": f"word-{number}"})

    text = service.get("/metrics").text
    assert 'hoprank_requests_total{method="OTHER",route="/v1/corpora",status="405"}' in text
    assert "BREW" not in text
    assert "word-" not in text


def test_the_stages_of_searches_are_timed(service: TestClient, library: str) -> None:
    service.post("/v1/search", json={"query": "Who founded the yard?", "corpus": library})

    text = service.get("/metrics").text

    counts = dict(re.findall(r'hoprank_search_stage_seconds_count{stage="([^"]+)"} (\S+)', text))
    assert {"embed question", "find candidates", "choose seeds", "walk", "score", "rank", "hydrate"} == set(counts)
    assert min(map(float, counts.values())) >= 1


def test_corpora_and_jobs_are_those_that_the_token_opens(start: Start, library: str, corpus_name: str) -> None:
    client = start(token=ALL, tokens=[{"token": LIBRARY_ALONE, "corpora": [library]}])
    everything, some = ({"Authorization": f"Bearer {token}"} for token in (ALL, LIBRARY_ALONE))
    body = {"corpus": corpus_name, "documents": [{"id": "moon", "text": "The moon raises the tides."}]}
    job = client.post("/v1/ingest", json=body, headers=everything).json()["id"]
    wait_until(lambda: client.get(f"/v1/jobs/{job}", headers=everything).json()["state"] == "succeeded")

    def metrics(headers: Mapping[str, str], awaited: str) -> str:
        wait_until(lambda: awaited in client.get("/metrics", headers=headers).text)
        return client.get("/metrics", headers=headers).text

    whole = metrics(everything, f'hoprank_corpus_documents{{corpus="{corpus_name}"}} 1.0')
    assert f'hoprank_jobs{{corpus="{corpus_name}",state="succeeded"}} 1.0' in whole
    assert float(re.findall(r'hoprank_job_stage_seconds_total{kind="ingest",stage="embed"} (\S+)', whole)[0]) > 0
    assert corpus_name not in metrics(some, f'hoprank_corpus_documents{{corpus="{library}"}} 12.0')
    assert client.get("/metrics").status_code == 401


def test_they_are_there_while_the_server_is_away(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> Never:
        raise ServerLost("The server went away.", "Start it.")

    monkeypatch.setattr(health, "contents", gone)
    answer = start().get("/metrics")

    assert answer.status_code == 200
    assert "hoprank_calls_running" in answer.text
    assert "hoprank_corpus_documents{" not in answer.text
