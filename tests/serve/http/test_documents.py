"""Corpora and documents over HTTP: listed, read, put and deleted."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from pipeline import HopRank
from pipeline.serve.access import Grant
from pipeline.serve.mcp.resources import read_resource
from pipeline.serve.mcp.service import Call, Service
from pipeline.serve.mcp.tools.read import fetch
from pipeline.serve.mcp.uris import document_uri, parse_document_uri
from tests.conftest import LIBRARY


def test_corpora_are_listed_and_described(service: TestClient, library: str) -> None:
    listed = {one["name"]: one for one in service.get("/v1/corpora").json()}
    stats = service.get(f"/v1/corpora/{library}").json()

    assert listed[library]["documents"] == stats["documents"] == len(LIBRARY)
    assert {**listed[library], **stats} == stats
    assert stats["writer"] is None
    assert {"name": "Ada Lovelace", "mentions": 2} in stats["top"]


def test_degrees_count_every_link_of_a_chunk(service: TestClient, hoprank: HopRank, library: str) -> None:
    degrees = service.get(f"/v1/corpora/{library}/degrees").json()["degrees"]

    edges = service.get(f"/v1/corpora/{library}").json()["edges"]
    assert sum(one["degree"] * one["chunks"] for one in degrees["MENTIONS"]) == edges["MENTIONS"]
    assert sum(one["degree"] * one["chunks"] for one in degrees["REFERS_TO"]) == edges["REFERS_TO"]


def test_documents_are_listed_by_pages_and_read(service: TestClient, library: str) -> None:
    keys, after = [], ""
    while after is not None:
        page = service.get(f"/v1/corpora/{library}/documents", params={"limit": 5, "after": after}).json()
        keys += [one["key"] for one in page["documents"]]
        after = page["next"]

    read = service.get(f"/v1/corpora/{library}/documents/moon").json()
    assert keys == sorted(LIBRARY)
    assert (read["title"], read["text"]) == LIBRARY["moon"]


def test_a_put_document_is_found_changed_and_deleted(service: TestClient, corpus_name: str) -> None:
    url = f"/v1/corpora/{corpus_name}/documents/sea/tides one.md"

    made = service.put(url, json={"title": "Tides", "text": "The moon raises tides.", "metadata": {"year": 2026}})
    again = service.put(url, json={"title": "Tides", "text": "The moon raises tides.", "metadata": {"year": 2026}})
    service.put(url, json={"title": "Tides", "text": "The sun raises tides too."})

    assert (made.json()["changed"], again.json()["changed"]) == (1, 0)
    found = service.post("/v1/search", json={"query": "tides", "corpus": corpus_name}).json()["items"]
    assert [item["content"] for item in found] == ["The sun raises tides too."]
    assert service.delete(url).json()["documents"] == 0
    for gone in (service.get(url), service.delete(url)):
        assert (gone.status_code, gone.json()["type"]) == (404, "UnknownDocument")


def test_the_bytes_of_a_file_are_put(service: TestClient, corpus_name: str) -> None:
    base = f"/v1/corpora/{corpus_name}"

    made = service.put(f"{base}/files/notes/tides.md", content=b"# Tides\n\nThe moon raises the tides.\n")
    refused = service.put(f"{base}/files/notes/tides.xyz", content=b"x")

    assert made.json()["changed"] == 1
    assert service.get(f"{base}/documents/notes/tides.md").json()["title"] == "Tides"
    assert (refused.status_code, refused.json()["type"]) == (422, "SourceError")


def test_a_corpus_is_dropped(service: TestClient, corpus_name: str) -> None:
    service.put(f"/v1/corpora/{corpus_name}/documents/a", json={"text": "One."})

    assert service.delete(f"/v1/corpora/{corpus_name}").status_code == 204
    assert service.get(f"/v1/corpora/{corpus_name}").status_code == 404


KEYS = (
    "two\nlines",
    "ends in one\n",
    "\n",
    "carriage\r\nreturn",
    "tab\tand\x1b[31mcolour",
    "line\u2028separator",
    "what?",
    "a#b",
    "100%",
    "%2F",
    "%0A",
    "a/b/c",
    "a//b",
    "/absolute",
    "folder/",
    "..",
    ".",
    "../up",
    "a/../b",
    "a;b=c&d+e",
    "\\\\share\\x",
    "\u202eright to left",
    " ",
    "😀",
)


@pytest.fixture(scope="module")
def keyed(service: TestClient, shared_corpus_name: str, hoprank: HopRank) -> str:
    """A corpus with a document for each key; blank ones can't be ids."""
    hoprank.add([{"id": key, "text": f"The text of {key!r}."} for key in KEYS if key.strip()], shared_corpus_name)
    return shared_corpus_name


@pytest.mark.parametrize("key", [key for key in KEYS if key.strip()])
def test_each_key_is_reachable(service: TestClient, keyed: str, hoprank: HopRank, key: str) -> None:
    # As a client writes it whose library resolves no dots.
    path = quote(key, safe="").replace(".", "%2E")
    if "%" in key:
        path = quote(path)  # the client of tests decodes twice
    url = f"/v1/corpora/{keyed}/documents/{path}"

    read = service.get(url)

    assert read.status_code == 200, read.text
    assert (read.json()["key"], read.json()["text"]) == (key, f"The text of {key!r}.")
    uri = document_uri(keyed, key)
    assert parse_document_uri(uri) == (keyed, key)
    call = Call(Service(lambda: hoprank, hoprank.settings.serve), Grant())
    assert read_resource(call, uri).text == fetch(call, uri).text == read.json()["text"]
    assert service.put(url, json={"text": f"The text of {key!r}."}).json()["unchanged"] == 1
