"""The files of the page: what they are sent with, and what they hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from pipeline.knowledge.view import CYTOSCAPE
from pipeline.retrieve.legs import Leg
from pipeline.serve.page import router
from pipeline.serve.page.router import CONTENT_SECURITY_POLICY, make_router

FOLDER = Path(router.__file__).parent / "static"
OWN = sorted(path for path in FOLDER.iterdir() if path.suffix in (".js", ".html", ".css", ".svg"))


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI()
    app.include_router(make_router())
    return TestClient(app)


def test_the_page_is_sent_with_a_policy(client: TestClient) -> None:
    answer = client.get("/")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert "'unsafe-inline'" not in CONTENT_SECURITY_POLICY
    assert "<title>HopRank</title>" in answer.text


@pytest.mark.parametrize("name", ["/", "/page/main.js", "/page/style.css", "/page/cytoscape.min.js"])
def test_a_known_file_is_not_sent_again(client: TestClient, name: str) -> None:
    first = client.get(name)
    tag = first.headers["etag"]

    for known in (tag, f'"other", W/{tag}', "*"):
        again = client.get(name, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert client.get(name, headers={"If-None-Match": '"other"'}).content == first.content
    assert first.headers["cache-control"] == "no-cache"


def test_the_head_of_a_file_has_no_body(client: TestClient) -> None:
    answer = client.head("/page/main.js")

    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) == (FOLDER / "main.js").stat().st_size


@pytest.mark.parametrize("name", ["none.js", "router.py", "..%2Frouter.py", "../files.py"])
def test_nothing_else_is_sent(client: TestClient, name: str) -> None:
    assert client.get(f"/page/{name}").status_code == 404


def test_every_file_is_sent_and_the_library_is_there_once(client: TestClient) -> None:
    for path in OWN:
        assert client.get(f"/page/{path.name}").content == path.read_bytes()
    assert client.get("/page/cytoscape.min.js").content == CYTOSCAPE.read_bytes()
    assert not list(FOLDER.glob("cytoscape*"))


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_no_file_makes_markup_of_a_text_or_names_another_host(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")

    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)
    assert not re.search(r"https?://|url\(|@import", text)
    assert not re.search(r"""\sstyle="|\son[a-z]+=["']|<script>""", text)


def test_the_page_knows_every_leg() -> None:
    named = re.findall(r'^  (\w+): "', (FOLDER / "legs.js").read_text(encoding="utf-8"), re.MULTILINE)

    assert set(named) == set(Leg)
    assert named[0] == Leg.WHOLE
