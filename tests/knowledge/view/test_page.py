"""The page that shows a graph: whole in itself, safe with any text, and working in a browser."""

from __future__ import annotations

import html
import json
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.errors import GraphError
from pipeline.knowledge.records import GraphSize
from pipeline.knowledge.store.memory import MemoryStore
from pipeline.knowledge.view import page, picture
from tests.browser import browser_path

NASTY = "</script><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">{{library}}\u2028"

NODES = [
    KnowledgeNode("hub", "skill", ["one label"], {"name": "The hub", "text": "a gloomy basalt"}),
    KnowledgeNode(NASTY, NASTY, [NASTY], {NASTY: NASTY, "name": NASTY}),
    *(KnowledgeNode(f"leaf {number}", "tool") for number in range(4)),
]
EDGES = [
    *(KnowledgeEdge(f"leaf {number}", "hub", "requires", weight=0.5) for number in range(4)),
    KnowledgeEdge("hub", NASTY, NASTY, directed=False),
]
STORE = MemoryStore(NASTY, NODES, EDGES)


def test_importance_makes_large_and_types_have_colours() -> None:
    drawn = picture(STORE, GraphSize(6, 5))

    sizes = {node["id"]: node["size"] for node in drawn["nodes"]}
    assert max(sizes, key=lambda one: sizes[one]) == "hub"
    assert [row[:2] for row in drawn["edge_types"]] == [("requires", 4), (NASTY, 1)]
    assert len({row[2] for row in (*drawn["edge_types"], *drawn["node_types"])}) == 5
    assert drawn == picture(STORE, GraphSize(6, 5)), "the same at every run"


def test_a_stated_importance_makes_large_in_place_of_pagerank() -> None:
    stated = {"a": 4.0, "b": 1, "c": None, "d": "9", "e": True, "f": -1.0}
    nodes = [
        KnowledgeNode(name, "t", properties={"importance": value} if value else {}) for name, value in stated.items()
    ]
    edges = [KnowledgeEdge(name, "c", "requires") for name in "abdef"]

    drawn = picture(MemoryStore("g", nodes, edges), GraphSize(6, 5))

    assert {node["id"]: node["size"] for node in drawn["nodes"]} == {
        "a": 60.0,
        "b": 37.0,  # a quarter of the area above the smallest size
        **dict.fromkeys("cdef", 14.0),
    }
    assert max(drawn["nodes"], key=lambda node: node["pagerank"])["id"] == "c"


def test_the_page_asks_for_nothing_from_elsewhere() -> None:
    text = page(STORE, GraphSize(6, 5))

    library = (Path(__file__).parents[3] / "pipeline/knowledge/view/cytoscape.min.js").read_text(encoding="utf-8")
    rest = text.replace(library, "")
    assert "default-src 'none'" in rest
    assert not re.search(r"""(?:src|href)=|https?://|@import|url\(""", rest.replace("src=x", ""))


def test_whatever_the_graph_holds_is_data() -> None:
    text = page(STORE, GraphSize(6, 5))

    assert "<img" not in text
    assert text.count("</script>") == 3
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert data
    assert json.loads(data[1])["name"] == NASTY
    assert f"<title>{html.escape(NASTY)}</title>" in text


def test_only_the_most_important_are_drawn(graph: KnowledgeGraph, tmp_path: Path) -> None:
    graph.add_nodes(NODES)
    graph.add_edges(EDGES)

    graph.view(tmp_path / "graph.html", limit=2)

    text = (tmp_path / "graph.html").read_text(encoding="utf-8")
    data = re.search(r'type="application/json">(.*?)</script>', text, re.DOTALL)
    assert data
    drawn = json.loads(data[1])
    assert drawn["total_nodes"] == 6
    assert {node["id"] for node in drawn["nodes"]} == {"hub", NASTY}


@pytest.mark.parametrize("nodes", [[], NODES[:1]])
def test_an_empty_graph_has_a_page_too(nodes: list[KnowledgeNode]) -> None:
    assert len(picture(MemoryStore("g", nodes, []), GraphSize(0, 0))["nodes"]) == len(nodes)


def branching(count: int) -> MemoryStore:
    """A graph with hubs, some pairs, and a fifth of its nodes without an edge."""
    chance = random.Random(count)  # noqa: S311 - a graph of a test
    names = [f"{chance.choice(('send', 'list', 'weather', 'find the'))} repository {number}" for number in range(count)]
    joined = [(number, int(number * chance.random() ** 2)) for number in range(1, int(count * 0.7)) for _ in range(2)]
    joined += [(number, number + 1) for number in range(int(count * 0.7), int(count * 0.8), 2)]
    ends = dict.fromkeys((one, other) for one, other in joined if one != other)
    nodes = [
        KnowledgeNode(f"n{number}", f"type {number % 4}", properties={"name": n}) for number, n in enumerate(names)
    ]
    return MemoryStore("branching", nodes, [KnowledgeEdge(f"n{one}", f"n{other}", "requires") for one, other in ends])


@pytest.mark.parametrize("count", [2, 100, 320])
def test_no_two_nodes_touch_and_hubs_make_no_knot(count: int) -> None:
    drawn = picture(branching(count), GraphSize(count, count))["nodes"]

    places = np.array([(node["x"], node["y"]) for node in drawn])
    radii = np.array([node["size"] / 2 for node in drawn])
    apart = cdist(places, places) - radii[:, None] - radii[None] + np.eye(count) * 1e9
    assert apart.min() > 0
    # A knot takes a small part of the drawing: half of the nodes would be within a tenth of it.
    middle = np.abs(places - np.median(places, axis=0))
    assert np.median(middle, axis=0).min() > np.ptp(places, axis=0).max() / 20 or count == 2


def test_a_long_property_is_cut() -> None:
    store = MemoryStore("g", [KnowledgeNode("a", "t", properties={"text": "x" * 100_000, "list": ["y"] * 9_000})], [])

    assert len(json.dumps(picture(store, GraphSize(1, 0)))) < 6_000


def test_a_page_that_cannot_be_written_says_so(graph: KnowledgeGraph, tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="can't be written"):
        graph.view(tmp_path / "no" / "graph.html")
    with pytest.raises(GraphError, match="top_k is 0"):
        graph.view(tmp_path / "graph.html", limit=0)


@pytest.fixture
def in_browser(tmp_path: Path) -> Callable[[str], Any]:
    """Run a script in the page in a browser without a network, and return what it returns."""
    browser = browser_path()

    def run(script: str, store: MemoryStore = STORE) -> Any:
        path = tmp_path / "page.html"
        # A module as the page's own script, so that it runs after that.
        asked = f"document.body.dataset.result = JSON.stringify((() => {{ {script} }})());"
        end = f"<script type='module'>{asked}</script></body>"
        path.write_text(page(store, GraphSize(6, 5)).replace("</body>", end), encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
        offline = [
            "--window-size=1280,860",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--virtual-time-budget=3000",
            "--dump-dom",
        ]
        command = [browser, *options, *offline, path.as_uri()]
        dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
        result = re.search(r'data-result="([^"]*)"', dom)
        assert result, dom[-2000:]
        return json.loads(html.unescape(result[1]))

    return run


def test_a_browser_draws_it(in_browser: Callable[[str], Any]) -> None:
    drawn = in_browser(
        "const cy = hoprank.cy; return {nodes: cy.nodes().length, edges: cy.edges().length,"
        " canvas: document.querySelectorAll('canvas').length,"
        " counts: document.getElementById('counts').textContent, title: document.title,"
        " types: [...document.querySelectorAll('.graph-edges span')].map((one) => one.textContent).filter(Boolean)}"
    )

    assert (drawn["nodes"], drawn["edges"]) == (6, 5)
    assert drawn["canvas"] >= 1
    assert drawn["counts"] == "6 nodes; 5 edges"
    assert drawn["types"] == ["requires", "4", NASTY, "1"]
    assert drawn["title"].startswith("</script>"), "and nothing of it was run"


def test_a_browser_searches_and_shows_details(in_browser: Callable[[str], Any]) -> None:
    found = in_browser(
        "const input = document.querySelector('.graph-tools input'); input.value = 'GLOOMY basalt';"
        " const found = hoprank.search();"
        " const faded = hoprank.cy.nodes('.faded').length; hoprank.choose(found[0]);"
        " return {found: found.length, faded, heading: document.querySelector('.graph-detail h2').textContent,"
        " detail: document.querySelector('.graph-detail').textContent,"
        " links: document.querySelectorAll('.graph-detail li').length}"
    )

    assert (found["found"], found["faded"]) == (1, 5)
    assert found["heading"] == "The hub"
    assert "a gloomy basalt" in found["detail"]
    assert "one label" in found["detail"]
    assert found["links"] == 5


def test_a_browser_hides_an_edge_type(in_browser: Callable[[str], Any]) -> None:
    left = in_browser(
        "document.querySelector('.graph-edges input').click();"
        " return hoprank.cy.edges(':visible').map((one) => one.data('kind'))"
    )

    assert left == [NASTY]


@pytest.mark.parametrize("count", [100, 320])
def test_no_two_labels_overlap_and_the_most_important_have_one(in_browser: Callable[..., Any], count: int) -> None:
    drawn = in_browser(
        "const { labels, cy } = hoprank; const by = cy.nodes().sort((a, b) => b.data('size') - a.data('size'));"
        " const crossing = labels.filter((one, at) => labels.some((other, place) => place > at"
        " && one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom));"
        " return {labels: labels.length, crossing,"
        " unnamed: by.slice(0, 5).filter((one) => !one.hasClass('labelled')).length}",
        branching(count),
    )

    assert drawn["crossing"] == []
    assert drawn["labels"] >= 30
    assert drawn["unnamed"] == 0
