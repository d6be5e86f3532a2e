"""Domains over HTTP: their verbs, described and called."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, KnowledgeNode, Memory
from pipeline.registry import registry
from tests.serve.http.conftest import Start

READER, LOOKER = "reads-only-some-001", "looks-only-at-one-01"


@pytest.fixture
def skills(graph: KnowledgeGraph) -> KnowledgeGraph:
    """Two skills, of which one requires the other."""
    graph.add_nodes(
        [KnowledgeNode(name, "skill", properties={"name": name, "text": name}) for name in ("bake", "knead")]
    )
    graph.add_edges([KnowledgeEdge("bake", "knead", "requires")])
    return graph


def test_domains_are_listed_with_their_verbs(service: TestClient) -> None:
    listed = service.get("/v1/domains").json()

    assert [one["name"] for one in listed] == [one.name for one in registry().domains]
    assert all(verb["arguments"]["type"] == "object" for one in listed for verb in one["verbs"])
    assert sum(len(one["verbs"]) for one in listed) >= len(listed)


def test_a_verb_answers_as_its_function_does(service: TestClient, skills: KnowledgeGraph) -> None:
    answer = service.post("/v1/domains/skills/order", json={"skill": "bake", "graph": skills.name})

    assert answer.status_code == 200, answer.text
    assert [one["id"] for one in answer.json()["load"]] == ["knead", "bake"]


def test_wrong_arguments_and_unknown_verbs_are_told(service: TestClient) -> None:
    wrong = service.post("/v1/domains/skills/order", json={"no": 1})
    unknown = service.post("/v1/domains/skills/ordr", json={})

    assert (wrong.status_code, wrong.json()["type"]) == (422, "InputError")
    assert (unknown.status_code, unknown.json()["type"]) == (404, "Unknown")
    assert unknown.json()["fix"] == "Did you mean 'skills/order'?"


def test_a_token_of_some_corpora_calls_no_verb(start: Start, library: str) -> None:
    scoped = start(tokens=[{"token": READER, "corpora": [library]}])

    answer = scoped.post(
        "/v1/domains/routing/search", json={"question": "?"}, headers={"Authorization": f"Bearer {READER}"}
    )

    assert (answer.status_code, answer.json()["type"]) == (403, "Forbidden")


def test_a_token_tells_the_memory_that_it_opens_and_no_other(start: Start, hoprank: HopRank) -> None:
    name = f"test-told-{uuid.uuid4().hex[:8]}"
    service = start(tokens=[{"token": READER, "corpora": [name], "write": True}, {"token": LOOKER, "corpora": [name]}])

    def told(verb: str, token: str = READER, **arguments: object) -> tuple[int, dict[str, Any]]:
        headers = {"Authorization": f"Bearer {token}"}
        answer = service.post(f"/v1/domains/memory/{verb}", json=arguments, headers=headers)
        return answer.status_code, answer.json()

    try:
        status, made = told("remember", text="The tide table is printed on Monday.", speaker="Orme", memory=name)
        assert (status, {*made}) == (200, {"key", "time", "facts", "concepts"})
        status, found = told("recall", LOOKER, question="When is the tide table printed?", memory=name)
        assert (status, "on Monday" in str(found["items"])) == (200, True)
        assert told("forget", session="x", dry_run=False, memory=name)[0] == 200
        for refused in (
            told("remember", LOOKER, text="x", memory=name),
            told("remember", text="x", memory="another"),
            told("recall", question="x"),
        ):
            assert (refused[0], refused[1]["type"]) == (403, "Forbidden")
    finally:
        Memory(hoprank, name).drop()
