"""A token of one corpus, over every route: it learns no name, text or number of what it doesn't open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from pipeline import HopRank, KnowledgeNode
from pipeline.db.catalogue import drop_corpus, get_corpus
from tests.serve.http.conftest import Start

OWN, ABSENT, SECRET, SECRET_GRAPH = "own-shelf", "shelf-of-anna", "shelf-of-anne", "shelf-of-anne-graph"
TEXT, NODE = "A word that is kept", "hidden-node"
TOKEN = "opens-one-shelf-0001"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}

NAMES = [
    ABSENT,
    SECRET,
    SECRET_GRAPH,
    f"{SECRET} ",
    SECRET.upper(),
    f"{OWN}/../{SECRET}",
    f"{OWN}\\{SECRET}",
    "*",
    "\x00",
]
"""Names that a client may try: one that its token opens and nothing has, so that a message may suggest others."""


@pytest.fixture(scope="module")
def scoped(start: Start, hoprank: HopRank) -> Iterator[TestClient]:
    """A service whose token opens a corpus, and names that nothing has; beside them are a corpus and a graph."""
    for name in (OWN, SECRET):
        hoprank.add([{"id": f"of-{name}", "title": f"Kept {name}", "text": f"{TEXT} of {name}."}], name)
    graph = hoprank.graph(SECRET_GRAPH)
    graph.add_nodes([KnowledgeNode(NODE, "thing", properties={"name": TEXT})])
    yield start(tokens=[{"token": TOKEN, "corpora": [OWN, ABSENT], "write": True}])
    graph.drop()
    for name in (OWN, SECRET):
        drop_corpus(hoprank.client, get_corpus(hoprank.client, name))


def operations(client: TestClient) -> list[tuple[str, str, dict[str, Any]]]:
    paths = client.get("/openapi.json").json()["paths"]
    return [(method.upper(), path, one) for path, all_ in paths.items() for method, one in all_.items()]


def test_no_route_tells_what_the_token_does_not_open(scoped: TestClient, hoprank: HopRank) -> None:
    sent = 0
    for method, path, described in operations(scoped):
        if path.endswith("/events"):
            continue
        query = {one["name"]: NODE for one in described.get("parameters", ()) if one.get("required")}
        for name in NAMES:
            filled = path.replace("{key}", f"of-{SECRET}").replace("{verb}", "search").replace("{domain}", "skills")
            filled = filled.replace("{corpus}", quote(name, "")).replace("{graph}", quote(name, ""))
            body = {"corpus": name, "query": "kept", "graph": name, "documents": [{"id": "x", "text": "x"}]}
            if name == ABSENT and (method == "PUT" or path in {"/v1/ingest", "/v1/sync"}):
                continue  # would make the corpus
            answer = scoped.request(
                method,
                filled.replace("{job}", name if name.isprintable() else "none").replace("\\", "%5C"),
                params={key: value for key, value in query.items() if f"{{{key}}}" not in path},
                json=body if method in {"POST", "PUT"} else None,
                headers=HEADERS,
            )
            sent += 1
            given = f"{name} of-{SECRET} {NODE}"  # its own words it may be told
            hidden = [word for word in (SECRET, SECRET_GRAPH, NODE) if word not in given]
            assert not [word for word in hidden if word in answer.text], (method, filled, answer.text)
            assert TEXT not in answer.text.replace(f"{TEXT} of {OWN}", "")
            assert answer.status_code < 500, (method, filled, answer.text)

    assert sent > 200
    assert [hoprank.document(f"of-{name}", name).text for name in (OWN, SECRET)] == [
        f"{TEXT} of {name}." for name in (OWN, SECRET)
    ]
