"""A name means the corpus that has it now: under every route, tool and method, after it was renamed or made anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pipeline import HopRank, KnowledgeNode, Vault
from pipeline.errors import CorpusError, Unknown
from pipeline.flows.maintain import drop, rename
from pipeline.json_values import plain
from pipeline.serve.access import Access, Grant
from pipeline.serve.http.app import make_app
from pipeline.serve.mcp.service import Call, Service
from pipeline.serve.mcp.tools import graph, read
from pipeline.serve.mcp.uris import document_uri
from tests.domains.verbs import asked

Ask = Callable[[HopRank, TestClient, Call, str], Any]
WORDS = {"one": "Alder", "two": "Birch"}


def texts(word: str) -> list[dict[str, Any]]:
    """Two documents of which each names the other, and both a name; the key and the name are those of no other."""
    return [
        {"id": f"{word}-{end}", "title": f"{word} {end}", "text": f"{word} Corrigall built the {end} yard. {other}"}
        for end, other in (("first", f"See {word} second."), ("second", f"See {word} first."))
    ]


def corpus_path(_: HopRank, client: TestClient, __: Call, name: str) -> Any:
    ids = [node(client, name, place) for place in (0, 1)]
    return get(client, f"/v1/corpora/{name}/graph/path", source=ids[0], target=ids[1])


def node(client: TestClient, name: str, place: int) -> str:
    return str(post(client, "/v1/search", name)["items"][place]["metadata"]["id"])


def get(client: TestClient, path: str, **params: Any) -> Any:
    response = client.get(path, params=params)
    if response.status_code == 404:
        raise Unknown(response.text)
    return response.raise_for_status().json()


def post(client: TestClient, path: str, name: str) -> Any:
    response = client.post(path, json={"query": "Who built the yard?", "corpus": name})
    if response.status_code == 404:
        raise Unknown(response.text)
    return response.raise_for_status().json()


def mcp_path(hoprank: HopRank, _: TestClient, call: Call, name: str) -> Any:
    first, second = (entry.key for entry in hoprank.documents(name))
    return graph.path(call, first, second, name).model_dump()


def key_of(hoprank: HopRank, name: str) -> str:
    return hoprank.documents(name)[0].key


def refusal(hoprank: HopRank, verb: str, name: str, **arguments: Any) -> str:
    """What a verb that writes says of a vault's first note, which no agent made: the message names it."""
    key = key_of(hoprank, name)
    with pytest.raises(CorpusError) as refused:
        asked(hoprank, "vault", verb, note=key, vault=name, **arguments)
    return refused.value.message


ASKED: dict[str, Ask] = {
    "search": lambda hoprank, _, __, name: plain(hoprank.search("Who built the yard?", corpus=name).hits),
    "filtered search": lambda hoprank, _, __, name: plain(
        hoprank.search("Who built the yard?", corpus=name, filters={"ordinal": 0}).hits
    ),
    "context": lambda hoprank, _, __, name: [one.text for one in hoprank.context("the yard", corpus=name).passages],
    "documents": lambda hoprank, _, __, name: list(map(asdict, hoprank.documents(name))),
    "document": lambda hoprank, _, __, name: hoprank.document(key_of(hoprank, name), name).to_json(),
    "retriever": lambda hoprank, _, __, name: plain(hoprank.retriever(name).search("Who built the yard?").hits),
    "open_graph": lambda hoprank, _, __, name: [one.properties for one in hoprank.open_graph(name).nodes()],
    "read_graph": lambda hoprank, _, __, name: hoprank.read_graph(
        name, lambda opened: [one.properties for one in opened.nodes()], corpus=True
    ),
    "POST /v1/search": lambda _, client, __, name: post(client, "/v1/search", name),
    "POST /v1/context": lambda _, client, __, name: post(client, "/v1/context", name),
    "GET documents": lambda _, client, __, name: get(client, f"/v1/corpora/{name}/documents"),
    "GET document": lambda hoprank, client, _, name: get(
        client, f"/v1/corpora/{name}/documents/{key_of(hoprank, name)}"
    ),
    "GET neighbours": lambda _, client, __, name: get(
        client, f"/v1/corpora/{name}/graph/neighbours", id=node(client, name, 0)
    ),
    "GET path": corpus_path,
    "MCP search": lambda _, __, call, name: read.search(call, "Who built the yard?", name).model_dump(),
    "MCP fetch": lambda hoprank, _, call, name: read.fetch(
        call, document_uri(name, key_of(hoprank, name))
    ).model_dump(),
    "MCP context": lambda _, __, call, name: read.context(call, "Who built the yard?", name).model_dump(),
    "MCP neighbors": lambda hoprank, _, call, name: graph.neighbors(call, key_of(hoprank, name), name).model_dump(),
    "MCP path": mcp_path,
    "Vault": lambda hoprank, _, __, name: list(hoprank.kept(Vault, name).graph().notes),
    "Vault.list": lambda hoprank, _, __, name: [entry.key for entry in hoprank.kept(Vault, name).list()],
    "Vault update": lambda hoprank, _, __, name: refusal(hoprank, "update_knowledge_node", name, content="Changed."),
    "Vault delete": lambda hoprank, _, __, name: refusal(hoprank, "delete_knowledge_node", name),
}


@pytest.fixture
def asking(
    hoprank: HopRank, new_corpus: Callable[[], Any]
) -> Iterator[tuple[HopRank, TestClient, Call, dict[str, str]]]:
    """One connection, one service and one server, and the names of two corpora."""
    with ExitStack() as stack:
        names = {name: stack.enter_context(new_corpus()) for name in WORDS}
        settings = hoprank.settings.model_copy(update={"serve": hoprank.settings.serve.model_copy(update={"rate": 0})})
        connection = HopRank(hoprank.client, hoprank.embedder, settings)
        app = make_app(connection, Access(settings.serve))
        client = stack.enter_context(TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False))
        call = Call(Service(lambda: connection, settings.serve), Grant())
        for name, word in WORDS.items():
            connection.add(texts(word), corpus=names[name])
        yield connection, client, call, names


@pytest.mark.slow
def test_a_name_means_what_it_means_now(asking: tuple[HopRank, TestClient, Call, dict[str, str]]) -> None:
    connection, client, call, names = asking
    one, two = names["one"], names["two"]

    def words(name: str) -> dict[str, list[str]]:
        """Return, for each way of asking, the words of the corpora whose texts it answers with, or "none"."""
        found = {}
        for way, ask in ASKED.items():
            try:
                answer = json.dumps(plain(ask(connection, client, call, name)), default=str)
            except Unknown:
                answer = "none"
            found[way] = [word for word in ("Alder", "Birch", "Cedar", "none") if word in answer]
        return found

    def everywhere(*words: str) -> dict[str, list[str]]:
        return {way: [*words] for way in ASKED}

    assert words(one) == everywhere("Alder")
    for old, new in ((one, f"{one}-aside"), (two, one), (f"{one}-aside", two)):
        rename(connection.client, old, new)
    assert words(one) == everywhere("Birch"), "after a swap"

    rename(connection.client, one, f"{one}-aside")
    assert words(one) == everywhere("none"), "after a new name"
    rename(connection.client, f"{one}-aside", one)

    drop(connection.client, one)
    connection.add(texts("Cedar"), corpus=one)
    assert words(one) == everywhere("Cedar"), "made anew"


@pytest.mark.slow
def test_the_name_of_a_graph_means_the_one_that_has_it_now(
    asking: tuple[HopRank, TestClient, Call, dict[str, str]],
) -> None:
    connection, client, call, names = asking
    name = f"{names['one']}-graph"
    ways: dict[str, Callable[[], Any]] = {
        "graph": lambda: [node.id for node in connection.graph(name, create=False).nodes()],
        "read_graph": lambda: connection.read_graph(name, lambda opened: [node.id for node in opened.nodes()]),
        "GET size": lambda: get(client, f"/v1/graphs/{name}"),
        "GET search": lambda: get(client, f"/v1/graphs/{name}/search", query="tree"),
        "MCP neighbors": lambda: graph.neighbors(call, "A tree", graph=name).model_dump(),
    }
    for word in ("Alder", "Birch"):
        made = connection.graph(name)
        made.add_nodes([KnowledgeNode(word, "tree", properties={"name": "A tree"})])
        answers = {way: str(plain(ask())) for way, ask in ways.items()}
        assert all(word in answer for way, answer in answers.items() if way != "GET size"), answers
        assert "'nodes': 1" in answers["GET size"]
        made.drop()
        for ask in ways.values():
            with pytest.raises(Unknown):
                ask()
