"""Ingests and syncs as jobs over HTTP."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pipeline import HopRank
from pipeline.db.corpus import open_corpus
from pipeline.db.lease import lease
from tests.serve.http.conftest import Start

DOCUMENTS = [{"id": f"d{number}", "text": f"The tide number {number} comes."} for number in range(3)]


@pytest.fixture(scope="module")
def service(start: Start, tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """A service that may read the temporary folders of the tests; the only one of this file, so it runs every job."""
    return start(folders=[str(tmp_path_factory.getbasetemp())])


def ended(service: TestClient, job: Mapping[str, Any]) -> dict[str, Any]:
    """The job when it has ended, by its stream of events, which ends then."""
    with service.stream("GET", f"/v1/jobs/{job['id']}/events") as stream:
        events = [json.loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line.startswith("data: ")]
    last: dict[str, Any] = events[-1]
    assert last["state"] in {"succeeded", "failed", "cancelled"}
    return last


def begin(service: TestClient, path: str, **body: Any) -> dict[str, Any]:
    answer = service.post(path, json=body)
    assert answer.status_code == 202, answer.text
    job: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"/v1/jobs/{job['id']}"
    return job


def keys(service: TestClient, corpus: str) -> list[str]:
    return [one["key"] for one in service.get(f"/v1/corpora/{corpus}/documents").json()["documents"]]


@pytest.mark.slow
def test_documents_are_ingested_and_synced(service: TestClient, corpus_name: str) -> None:
    first = ended(service, begin(service, "/v1/ingest", corpus=corpus_name, documents=DOCUMENTS))
    planned = ended(service, begin(service, "/v1/sync", corpus=corpus_name, documents=DOCUMENTS[:1], dry_run=True))
    assert keys(service, corpus_name) == ["d0", "d1", "d2"]
    synced = ended(service, begin(service, "/v1/sync", corpus=corpus_name, documents=DOCUMENTS[:1]))

    assert (first["state"], first["result"]["changed"], first["attempt"]) == ("succeeded", 3, 1)
    assert planned["result"]["done"] is None
    assert planned["result"]["plan"]["removed"] == ["d1", "d2"]
    assert synced["result"]["done"]["documents"] == 1
    assert keys(service, corpus_name) == ["d0"]
    listed = service.get("/v1/jobs", params={"limit": 1}).json()
    assert listed["jobs"] == [synced]
    following = service.get("/v1/jobs", params={"limit": 1, "before": listed["next"]}).json()
    assert following["jobs"] == [planned]


@pytest.mark.slow
def test_paths_are_read_below_the_folders_alone(service: TestClient, corpus_name: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThe moon.\n", encoding="utf-8")

    done = ended(service, begin(service, "/v1/ingest", corpus=corpus_name, paths=[str(tmp_path)]))
    refused = service.post("/v1/ingest", json={"corpus": corpus_name, "paths": [str(Path(__file__).parent)]})

    assert done["result"]["changed"] == 1
    for url in ("http://127.0.0.1:1/a.md", "s3://bucket", tmp_path.as_uri()):
        for kind in ("ingest", "sync"):
            answer = service.post(f"/v1/{kind}", json={"corpus": corpus_name, "paths": [url]})
            assert (answer.status_code, "is a URL" in answer.json()["detail"]) == (403, True), answer.text
    assert (refused.status_code, refused.json()["type"]) == (403, "Forbidden")
    assert "serve.folders" in refused.json()["fix"]


@pytest.mark.slow
def test_files_are_sent_and_those_that_cannot_be_read_are_named(service: TestClient, corpus_name: str) -> None:
    contents = {
        "notes/a.md": b"# Tides\n\nThe moon.\n",
        "page.html": b"<title>Ebb</title><p>The water falls.</p>",
        "lines.jsonl": b'{"id": "one", "text": "The first."}\n{"id": "two"}\n',
        "broken.pdf": b"no pdf",
        "program.exe": b"MZ",
    }
    files = [{"key": key, "content": b64encode(content).decode()} for key, content in contents.items()]

    done = ended(service, begin(service, "/v1/ingest", corpus=corpus_name, files=files))

    assert done["state"] == "succeeded", done
    assert keys(service, corpus_name) == ["notes/a.md", "one", "page.html"]
    left_out = [one["source"] for one in done["result"]["skipped"]]
    assert left_out == ["lines.jsonl, line 2", "broken.pdf", "program.exe"]
    found = service.get(f"/v1/corpora/{corpus_name}/documents/notes/a.md").json()
    assert (found["title"], found["path"]) == ("Tides", "")


@pytest.mark.parametrize("key", ["../a.md", "a/../../b.md", "/etc/a.md", "a\\b.md", "a\x00.md", "a\n.md", "..", ""])
def test_a_file_whose_name_leads_elsewhere_is_refused(service: TestClient, key: str) -> None:
    answer = service.post("/v1/ingest", json={"corpus": "c", "files": [{"key": key, "content": "eA=="}]})

    assert (answer.status_code, answer.json()["type"]) == (422, "RequestError")


@pytest.mark.parametrize(
    ("body", "type_"),
    [
        ({}, "InputError"),
        ({"documents": DOCUMENTS, "paths": ["/x"]}, "InputError"),
        ({"documents": []}, "RequestError"),
        ({"documents": [{"id": "a"}]}, "RequestError"),
        ({"documents": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]}, "SourceError"),
        ({"documents": DOCUMENTS, "corpus": ""}, "RequestError"),
    ],
)
def test_a_request_that_cannot_run_makes_no_job(service: TestClient, body: dict[str, Any], type_: str) -> None:
    before = service.get("/v1/jobs").json()

    answer = service.post("/v1/ingest", json=body)

    assert (answer.status_code, answer.json()["type"]) == (422, type_)
    assert service.get("/v1/jobs").json() == before


@contextmanager
def another_writer(hoprank: HopRank, corpus: str) -> Iterator[None]:
    """Somebody else writes to the corpus."""
    with lease(open_corpus(hoprank.client, corpus)):
        yield


@pytest.mark.slow
def test_a_job_waits_for_another_writer_while_others_run_and_is_cancelled_meanwhile(
    service: TestClient, hoprank: HopRank, new_corpus: Callable[[], AbstractContextManager[str]]
) -> None:
    with new_corpus() as corpus, new_corpus() as other:
        hoprank.add([{"id": "kept", "text": "This stays."}], corpus)
        with another_writer(hoprank, corpus):
            job = begin(service, "/v1/ingest", corpus=corpus, documents=DOCUMENTS)
            waiting = wait_for(service, job, "queued", problem="Busy")
            passed = ended(service, begin(service, "/v1/ingest", corpus=other, documents=DOCUMENTS))
            service.post(f"/v1/jobs/{job['id']}/cancel")
            cancelled = ended(service, job)

        assert (waiting["attempt"], waiting["started_at"]) == (0, None)
        assert passed["state"] == "succeeded"
        assert (cancelled["state"], cancelled["problem"]) == ("cancelled", None)
        assert keys(service, corpus) == ["kept"]
        assert service.post(f"/v1/jobs/{job['id']}/cancel").status_code == 409
        assert service.post(f"/v1/jobs/{job['id']}/retry").json()["state"] == "queued"
        assert ended(service, job)["state"] == "succeeded"
        assert service.post(f"/v1/jobs/{job['id']}/retry").status_code == 409


@pytest.mark.slow
def test_a_job_that_waited_too_long_for_another_writer_fails(
    service: TestClient, hoprank: HopRank, corpus_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.serve.jobs.runner._BUSY_LIMIT", 1.0)
    hoprank.add([{"id": "kept", "text": "This stays."}], corpus_name)
    with another_writer(hoprank, corpus_name):
        failed = ended(service, begin(service, "/v1/ingest", corpus=corpus_name, documents=DOCUMENTS))

    assert (failed["state"], failed["attempt"], failed["problem"]["type"]) == ("failed", 1, "Busy")


def wait_for(
    service: TestClient, job: Mapping[str, Any], state: str, *, stage: str = "", problem: str = ""
) -> dict[str, Any]:
    for _ in range(600):
        found: dict[str, Any] = service.get(f"/v1/jobs/{job['id']}").json()
        at = (found["progress"] or {}).get("stage", "")
        of = (found["problem"] or {}).get("type", "")
        if found["state"] == state and stage in ("", at) and problem in ("", of):
            return found
        time.sleep(0.05)
    pytest.fail(f"the job is never {state}")


@pytest.mark.slow
def test_a_running_ingest_is_stopped_and_leaves_the_corpus_as_it_was(
    service: TestClient, hoprank: HopRank, corpus_name: str
) -> None:
    hoprank.add([{"id": "kept", "text": "This stays."}], corpus_name)
    documents = [{"id": f"n{number}", "text": f"Number {number} is another text. " * 20} for number in range(120)]
    job = begin(service, "/v1/ingest", corpus=corpus_name, documents=documents)
    wait_for(service, job, "running", stage="embed")
    service.post(f"/v1/jobs/{job['id']}/cancel")

    assert ended(service, job)["state"] == "cancelled"
    assert keys(service, corpus_name) == ["kept"]
    assert ended(service, service.post(f"/v1/jobs/{job['id']}/retry").json())["state"] == "succeeded"
    assert service.get(f"/v1/corpora/{corpus_name}").json()["documents"] == 121


@pytest.mark.slow
def test_a_job_that_fails_says_why_and_keeps_its_request(service: TestClient, corpus_name: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"

    failed = ended(service, begin(service, "/v1/ingest", corpus=corpus_name, paths=[str(page)]))
    page.write_text("# Page\n\nText.\n", encoding="utf-8")
    (tmp_path / "broken.pdf").write_bytes(b"no pdf")
    again = ended(service, service.post(f"/v1/jobs/{failed['id']}/retry").json())
    partly = ended(service, begin(service, "/v1/ingest", corpus=corpus_name, paths=[str(tmp_path)]))
    (tmp_path / "broken.pdf").unlink()
    whole = ended(service, service.post(f"/v1/jobs/{partly['id']}/retry").json())

    assert failed["problem"]["type"] == "SourceError"
    assert failed["problem"]["fix"]
    assert again["state"] == "succeeded"
    assert [one["source"] for one in partly["result"]["skipped"]] == [str(tmp_path / "broken.pdf")]
    assert whole["result"]["skipped"] == []


def test_an_unknown_job_is_told(service: TestClient) -> None:
    for method, path in (("GET", ""), ("GET", "/events"), ("POST", "/cancel"), ("POST", "/retry")):
        answer = service.request(method, f"/v1/jobs/none{path}")
        assert (answer.status_code, answer.json()["type"]) == (404, "UnknownJob")
