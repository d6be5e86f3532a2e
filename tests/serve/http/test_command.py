"""``hoprank serve`` as a process: its start, its stop, and a job that its death doesn't lose."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import neo4j
import pytest
import requests

from tests.serve.service import COMMAND, Service, serving, status, wait_for


def refused(environment: Mapping[str, str], *options: str) -> str:
    """What the command says when it refuses to start."""
    done = subprocess.run(
        [*COMMAND, *options], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2, done.stderr
    return done.stderr


def test_off_loopback_it_needs_a_token(server_environment: dict[str, str]) -> None:
    said = refused(server_environment, "--host", "192.0.2.1")

    assert "HOPRANK_SERVE__TOKEN" in said


@pytest.mark.slow
def test_a_taken_port_is_told(server_environment: dict[str, str]) -> None:
    with serving(server_environment) as service:
        port = service.url.rpartition(":")[2]

        assert f"127.0.0.1:{port}" in refused(server_environment, "--port", port)
        assert service.stop(signal.SIGINT) == 0


DOCUMENTS = [
    {
        "id": f"d{number}",
        "title": f"Tide {number}",
        "text": f"The tide number {number} rose at Harbour {number % 7}. " * 8,
    }
    for number in range(250)
]


@pytest.fixture
def environment(server_environment: dict[str, str]) -> dict[str, str]:
    return {**server_environment, "HOPRANK_SERVE__RATE": "0"}


FEW = [{"id": "moon", "title": "Moon", "text": "The moon raises the tides."}]


def job_of(service: Service, corpus: str, documents: Sequence[Mapping[str, str]] = DOCUMENTS) -> dict[str, Any]:
    answer = requests.post(f"{service.url}/v1/ingest", json={"corpus": corpus, "documents": documents}, timeout=60)
    assert answer.status_code == 202, answer.text
    job: dict[str, Any] = answer.json()
    return job


@pytest.mark.slow
def test_a_job_outlives_a_service_that_is_stopped_and_one_of_two_that_is_killed(
    environment: dict[str, str],
    corpus_name: str,
    new_corpus: Callable[[], AbstractContextManager[str]],
    cypher: Callable[..., list[neo4j.Record]],
) -> None:
    with serving(environment) as stopped:
        job = job_of(stopped, corpus_name)
        wait_for(stopped, job, "running", stage="embed")
        with requests.get(f"{stopped.url}/v1/jobs/{job['id']}/events", stream=True, timeout=30) as events:
            lines = events.iter_lines()
            next(lines)
            assert stopped.stop(signal.SIGTERM) == 0
            list(lines)

    with serving(environment) as one, serving(environment) as other, new_corpus() as second:
        found = wait_for(one, job, "running", stage="embed")
        owner = cypher("MATCH (j:HopRankServiceJob {id: $id}) RETURN j.owner AS owner", id=job["id"])[0]["owner"]
        killed, last = (one, other) if owner.split("/")[1] == str(one.process.pid) else (other, one)
        # Each tells of what the other runs, and takes jobs that it was not sent.
        assert {status(service, job)["attempt"] for service in (one, other)} == {found["attempt"]} == {2}
        waiting = [job_of(service, corpus_name, FEW) for service in (killed, last)]
        elsewhere = job_of(killed, second, FEW)
        listed = requests.get(f"{last.url}/v1/jobs", timeout=10).json()["jobs"]
        assert [found["id"] for found in listed[:4]] == [found["id"] for found in (elsewhere, *waiting[::-1], job)]
        cancelled = requests.post(f"{last.url}/v1/jobs/{waiting[0]['id']}/cancel", timeout=10).json()
        assert (cancelled["state"], status(killed, waiting[0])["state"]) == ("cancelled", "cancelled")
        start = time.perf_counter()
        assert requests.get(f"{killed.url}/health", timeout=10).json()["status"] == "ok"
        assert time.perf_counter() - start < 5
        killed.stop(signal.SIGKILL)

        ended = wait_for(last, job, "succeeded", "failed")
        assert wait_for(last, waiting[1], "succeeded")["started_at"] >= ended["finished_at"]
        assert wait_for(last, elsewhere, "succeeded")["attempt"] == 1
        corpus = requests.get(f"{last.url}/v1/corpora/{corpus_name}", timeout=10).json()
        assert (ended["state"], ended["attempt"]) == ("succeeded", 3), json.dumps(ended)
        assert (corpus["documents"], corpus["writer"]) == (len(DOCUMENTS) + 1, None)
        assert last.stop(signal.SIGTERM) == 0
