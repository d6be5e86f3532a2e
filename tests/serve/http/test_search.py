"""Search and context over HTTP: the answers of the Python calls."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from pipeline import HopRank
from pipeline.retrieve.excerpt import excerpts
from tests.serve.http.conftest import Start

QUESTION = "Who designed the Analytical Engine?"


def test_a_search_returns_what_python_returns(service: TestClient, hoprank: HopRank, library: str) -> None:
    filters = {"document": {"$in": ["ada", "moon", "tides"]}}
    body = {"query": QUESTION, "corpus": library, "top_k": 3, "leg": "graph", "explain": True, "filters": filters}

    answer = service.post("/v1/search", json=body)

    assert answer.status_code == 200
    expected = hoprank.search(QUESTION, corpus=library, top_k=3, leg="graph", explain=True, filters=filters)
    assert answer.json() == expected.to_json()
    assert any(item["metadata"]["evidence"] for item in answer.json()["items"])
    assert answer.headers["x-request-id"]


def test_excerpts_are_those_of_the_command_line(service: TestClient, hoprank: HopRank, library: str) -> None:
    body = {"query": QUESTION, "corpus": library, "excerpts": True}

    items = service.post("/v1/search", json=body).json()["items"]

    found = hoprank.search(QUESTION, corpus=library)
    shown = excerpts(found.items, QUESTION, hoprank.embedder, vector=found.query_vector)
    assert [item["metadata"]["excerpt"] for item in items] == shown


@pytest.mark.slow
def test_fields_that_a_corpus_declares_by_a_job_are_filtered_by_in_its_indexes(
    service: TestClient, corpus_name: str
) -> None:
    documents = [{"id": f"d{n}", "text": f"A regatta in {n}.", "metadata": {"year": n}} for n in (1, 2)]
    body = {"corpus": corpus_name, "documents": documents, "filterable": ["year"]}
    service.get(f"/v1/jobs/{service.post('/v1/ingest', json=body).json()['id']}/events")  # they end with the job

    asked = {"query": "regatta", "corpus": corpus_name, "filters": {"year": {"$gte": 2}}, "explain": True}
    answer = service.post("/v1/search", json=asked).json()

    assert service.get(f"/v1/corpora/{corpus_name}").json()["filterable"] == ["year"]
    assert [item["metadata"]["document"] for item in answer["items"]] == ["d2"]
    assert [one["by"] for one in answer["metadata"]["filter"]["evaluated"]] == ["index"]
    for fields in ([f"f{n}" for n in range(9)], ["title"], [""], "year", [1]):
        assert service.post("/v1/ingest", json={**body, "filterable": fields}).status_code == 422, fields


def test_context_is_what_python_returns(service: TestClient, hoprank: HopRank, library: str) -> None:
    answer = service.post(
        "/v1/context", json={"query": QUESTION, "corpus": library, "tokens": 300, "expand": "section"}
    ).json()

    expected = hoprank.context(QUESTION, corpus=library, tokens=300, expand="section")
    assert answer["markdown"] == expected.to_markdown()
    assert [passage["document"] for passage in answer["passages"]] == [one.document for one in expected.passages]


@pytest.mark.parametrize(
    ("body", "status", "type_", "detail"),
    [
        ({"query": " "}, 422, "QuestionError", "empty"),
        ({"query": "x", "top_k": 0}, 422, "RequestError", "top_k"),
        ({"query": "x", "top_k": 101}, 422, "LimitExceeded", "100 is the most"),
        ({"query": "x " * 500_001}, 422, "LimitExceeded", "1,000,000 are the most"),
        ({"query": "x", "filters": {"a": {"$no": 1}}}, 422, "FilterError", r"\$no"),
        ({"query": "x", "unknown": 1}, 422, "RequestError", "unknown"),
        ({"query": "x", "corpus": "no such corpus"}, 404, "UnknownCorpus", "no such corpus"),
    ],
)
def test_wrong_input_is_a_problem_that_names_it(
    service: TestClient, library: str, body: dict[str, Any], status: int, type_: str, detail: str
) -> None:
    answer = service.post("/v1/search", json={"corpus": library, **body})

    problem = answer.json()
    assert (answer.status_code, problem["type"], problem["status"]) == (status, type_, status)
    assert detail.replace("\\", "") in problem["detail"]
    assert problem["fix"]
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_slow_search_is_cut_and_a_full_service_refuses(start: Start, library: str) -> None:
    slow = start(request_timeout=0.001)
    answer = slow.post("/v1/search", json={"query": "something never asked before", "corpus": library})

    assert (answer.status_code, answer.json()["type"]) == (504, "RequestTimeout")
