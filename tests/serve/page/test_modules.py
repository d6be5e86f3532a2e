"""Modules of the page by themselves, in the browser: names in excerpts, paths in words, and places of nodes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from pipeline.edges import EdgeKind, evidence_line
from tests.serve.page.conftest import Service

Call = Callable[..., Any]


@pytest.fixture(scope="module")
def page(browser: Browser, service: Service) -> Iterator[Page]:
    """One page for all tests here, which change nothing in it."""
    with browser.new_context() as context:
        opened = context.new_page()
        opened.goto(service.url)
        yield opened


@pytest.fixture
def call(page: Page) -> Call:
    """Call a function of a module in the page."""
    script = "([module, name, args]) => import(`/page/${module}.js`).then((found) => found[name](...args))"
    return lambda module, name, *args: page.evaluate(script, [module, name, args])


def test_the_names_of_a_path_are_emphasised_in_an_excerpt(page: Page) -> None:
    steps = [{"kind": "Entity", "name": name, "by": ""} for name in ("Joseph Jacquard", "C++ (old)")]
    excerpt = "joseph jacquard knew C++ (old); Joseph Jacquards loom."
    script = (
        "item => import('/page/hit.js').then(({ excerptOf }) =>"
        " [...excerptOf(item).querySelectorAll('mark')].map((one) => one.textContent))"
    )

    found = page.evaluate(script, {"content": "", "metadata": {"excerpt": excerpt, "evidence": steps}})

    assert found == ["joseph jacquard", "C++ (old)"]


def test_relationships_are_worded_as_on_the_command_line(call: Call) -> None:
    for kind, (before, after) in product(EdgeKind, (("Chunk", "Entity"), ("Entity", "Chunk"), ("Document", "Chunk"))):
        steps = [{"kind": before, "name": "A", "by": ""}, {"kind": after, "name": "B", "by": kind.value}]

        assert f"—{call('relations', 'relation', kind.value, before)}→" in evidence_line(steps)


def test_a_document_and_its_own_chunk_are_one_step(call: Call) -> None:
    steps = [
        ("Entity", "Ada", ""),
        ("Chunk", "Loom", "MENTIONS"),
        ("Document", "Lyon", "REFERS_TO"),
        ("Chunk", "Lyon", "PART_OF"),
    ]

    shown = call("relations", "shownSteps", [{"kind": kind, "name": name, "by": by} for kind, name, by in steps])

    assert [(step["kind"], step["name"], step["by"]) for step in shown] == [
        ("Entity", "Ada", ""),
        ("Chunk", "Loom", "MENTIONS"),
        ("Chunk", "Lyon", "REFERS_TO"),
    ]


@pytest.mark.parametrize("lead", ["It was taken on the Long Line Voyage in 1968.", ""])
def test_a_hit_shows_the_sentence_that_leads_to_it(page: Page, lead: str) -> None:
    title = "Long Line Voyage"
    steps = [
        ("Chunk", "worm", "Lantern worm", "", lead),
        ("Document", "voyage document", title, "REFERS_TO", ""),
        ("Chunk", "voyage", title, "PART_OF", "The Long Line Voyage took weeks."),
    ]
    fields = ("kind", "id", "name", "by", "sentence")
    evidence = [dict(zip(fields, step, strict=True)) for step in steps]
    places = {"path": "", "document": "d", "heading": "", "line_start": 1, "line_end": 2, "rank": 1, "legs": {}}
    voyage = {
        "content": "The Long Line Voyage took weeks.",
        "metadata": {**places, "excerpt": "", "id": "voyage", "title": title, "evidence": evidence},
    }
    script = (
        "args => import('/page/hit.js').then(({ hitItem }) => hitItem(...args).querySelector('.lead')?.textContent)"
    )

    shown = page.evaluate(script, [voyage, {"q": "Who paid?", "corpus": "c"}])
    assert shown == (f"{lead} Lantern worm" if lead else None)


@pytest.mark.parametrize("count", [1, 2, 15, 40, 90])
def test_nodes_keep_apart_and_within_the_drawing(call: Call, count: int) -> None:
    chance = random.Random(count)  # noqa: S311 - places of a test
    boxes = [
        {
            "id": str(number),
            "x": chance.random(),
            "y": chance.random(),
            "left": 60,
            "right": chance.randint(8, 60),
            "top": 14,
            "bottom": 26,
        }
        for number in range(count)
    ]

    found = call("spread", "spread", boxes, 600, 400)

    assert 0 < found["scale"] <= 1
    edges = [
        (one["x"] - one["left"], one["x"] + one["right"], one["y"] - one["top"], one["y"] + one["bottom"])
        for one in found["places"]
    ]
    for left, right, top, bottom in edges:
        assert -0.5 <= left <= right <= 600 / found["scale"] + 0.5
        assert -0.5 <= top <= bottom <= 400 / found["scale"] + 0.5
    for one, other in combinations(edges, 2):
        assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]


def test_rings_count_the_steps_and_the_path_leads_to_the_left(page: Page) -> None:
    links = [
        ["root", ["a", "path"]],
        ["a", ["root", "b"]],
        ["b", ["a"]],
        ["path", ["root", "seed"]],
        ["seed", ["path"]],
        ["far", []],
    ]
    script = (
        "links => import('/page/radial.js').then(({ radial }) => [...radial('root', new Map(links), ['seed', 'path'])])"
    )

    places = dict(page.evaluate(script, links))

    rings = {name: round((place["x"] ** 2 + place["y"] ** 2) ** 0.5, 6) for name, place in places.items()}
    assert rings == {"root": 0, "a": 1, "path": 1, "b": 2, "seed": 2, "far": 3}
    assert places["path"]["x"] == pytest.approx(-1)
    assert places["seed"]["x"] == pytest.approx(-2)
