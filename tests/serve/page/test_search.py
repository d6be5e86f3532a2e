"""Searching in the explorer: hits, paths, the drawn graph, two legs, and the keyboard alone."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from pipeline import HopRank
from tests.serve.page.conftest import Open

pytestmark = pytest.mark.slow

QUESTION = "Who designed the Analytical Engine?"
OTHER = "What raises the tides of the sea?"
HITS = "#hits > .hit:not(.skeleton)"


def asked(corpus: str, question: str = QUESTION, view: str = "search") -> str:
    return f"#/{view}?corpus={quote(corpus)}&q={quote(question)}"


def ids(page: Page) -> list[str]:
    page.wait_for_selector(HITS)
    return [hit.get_attribute("data-id") or "" for hit in page.locator(HITS).all()]


def test_hits_come_while_a_question_is_typed(open_page: Open, hoprank: HopRank, library: str) -> None:
    page = open_page(f"#/search?corpus={library}")

    page.locator("#question").press_sequentially(QUESTION, delay=15)
    expect(page.locator("#search-summary")).to_contain_text("analytical engine")

    expected = hoprank.search(QUESTION, corpus=library, explain=True)
    assert ids(page) == [item.metadata["id"] for item in expected.items]
    first = page.locator(HITS).first
    legs = expected.items[0].metadata["legs"]
    assert first.locator(".legs .name").all_text_contents() == list(legs)
    assert first.locator(".legs .place").all_text_contents() == [f"#{leg['rank']}" for leg in legs.values()]
    assert "Analytical Engine" in (first.locator("mark").text_content() or "")
    assert first.locator(".path .chip").count() >= 1
    assert "q=Who+designed" in page.url


def test_the_back_button_goes_through_the_questions(open_page: Open, library: str) -> None:
    page = open_page(f"#/search?corpus={library}")
    for question in (QUESTION, OTHER):
        page.fill("#question", question)
        page.press("#question", "Enter")
        expect(page.locator("#hits")).to_contain_text("tides" if question == OTHER else "Charles Babbage designed")

    page.go_back()

    expect(page.locator("#question")).to_have_value(QUESTION)
    expect(page.locator(HITS).first).to_contain_text("Analytical Engine")


def test_a_bookmark_opens_the_question_with_its_leg_and_hit(open_page: Open, hoprank: HopRank, library: str) -> None:
    hit = hoprank.search(QUESTION, corpus=library, leg="bm25").items[1]

    page = open_page(f"{asked(library)}&leg=bm25&hit={hit.metadata['id']}")

    expect(page.locator("#leg")).to_have_value("bm25")
    expect(page.locator("#map-title")).to_have_text(hit.metadata["title"])
    expect(page.locator(".hit.chosen")).to_have_attribute("data-id", hit.metadata["id"])


def test_a_hit_is_drawn_and_a_click_on_a_node_goes_on(open_page: Open, library: str) -> None:
    page = open_page(asked(library))
    hit = page.locator(HITS).filter(has_text="Mary Somerville").first

    hit.locator(".open").click()
    page.wait_for_selector("#node .chip")

    assert page.locator("#canvas canvas").count() >= 1
    before = page.evaluate("hoprank.drawing().size")
    assert before["nodes"] >= 3
    assert before["edges"] >= before["nodes"] - 1
    expect(page.locator("#node h3")).to_have_text("Mary Somerville ¶1")
    page.wait_for_timeout(500)  # the drawing comes to rest
    ada = page.evaluate("hoprank.drawing().find('Ada Lovelace', 'entity')")
    page.locator("#canvas").click(position=ada["place"])
    expect(page.locator("#node h3")).to_have_text("Ada Lovelace")
    expect(page.locator("#node")).to_contain_text("is mentioned in")
    expect(page.locator("#node")).not_to_contain_text("undefined")
    assert page.evaluate("hoprank.drawing().size.nodes") > before["nodes"]


def test_a_step_of_a_path_is_drawn(open_page: Open, library: str) -> None:
    page = open_page(asked(library))
    chip = page.locator(".path .chip.entity").first
    name = chip.text_content()
    assert name

    chip.click()

    expect(page.locator("#node h3")).to_have_text(name)
    assert page.evaluate("hoprank.drawing().pathLength") >= 2


def test_the_path_from_a_neighbour_of_a_neighbour_to_the_hit_is_drawn(open_page: Open, library: str) -> None:
    page = open_page(asked(library))
    page.locator(HITS).filter(has_text="Mary Somerville").first.locator(".open").click()
    for name in ("Ada Lovelace", "Ada Lovelace ¶1", "Charles Babbage"):
        page.get_by_label("Graph", exact=True).get_by_role("button", name=name, exact=True).first.click()
        expect(page.locator("#node h3")).to_have_text(name)

    page.get_by_role("button", name="Path to the hit").click()

    expect(page.locator("#map-notice")).to_have_text(
        re.compile(r"^The path to the hit: Charles Babbage – .* – Mary Somerville ¶1\.$")
    )


def test_the_keyboard_alone_does_it(open_page: Open, library: str) -> None:
    page = open_page(f"#/search?corpus={library}")
    expect(page.locator("#corpus")).to_have_value(library)
    page.locator("#leg").focus()
    page.locator("body").press("Tab")
    page.evaluate("document.activeElement.blur()")

    page.keyboard.press("/")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector(HITS)
    expect(page.locator("#search-summary")).to_contain_text("analytical engine")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")

    second = page.locator(HITS).nth(1)
    expect(second.locator(".open")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_selector("#node .chip")
    expect(page.locator("#map")).to_be_focused()
    shown = page.locator("#node h3").text_content()
    assert shown
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('#node .chip')"):
            break
    page.keyboard.press("Enter")
    expect(page.locator("#node h3")).not_to_have_text(shown)
    page.keyboard.press("Escape")
    expect(page.locator("#map")).to_be_hidden()
    expect(second.locator(".open")).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_the_skip_link_leads_to_the_content(open_page: Open, library: str) -> None:
    page = open_page(asked(library))
    ids(page)

    page.locator("#skip").focus()
    page.keyboard.press("Enter")

    expect(page.locator("#main")).to_be_focused()
    assert len(ids(page)) > 1


@pytest.mark.parametrize("legs", [("vector", "hoprank"), ("fulltext", "hybrid")])
def test_two_legs_are_compared(open_page: Open, hoprank: HopRank, library: str, legs: tuple[str, str]) -> None:
    page = open_page(f"{asked(library, view='compare')}&left={legs[0]}&right={legs[1]}")
    page.wait_for_selector(".compared")

    ranks = [
        {item.metadata["id"]: item.metadata["rank"] for item in hoprank.search(QUESTION, corpus=library, leg=leg).items}
        for leg in legs
    ]
    for side, (own, other) in enumerate((ranks, ranks[::-1])):
        rows = page.locator(".column").nth(side).locator(".compared")
        assert [row.get_attribute("data-id") for row in rows.all()] == list(own)
        shown = [text.strip() for text in rows.locator(".difference").all_text_contents()]
        assert shown == [difference(rank, other.get(id_)) for id_, rank in own.items()]


def difference(rank: int, other: int | None) -> str:
    if other is None:
        return "only here"
    return "=" if other == rank else f"{'▲' if other > rank else '▼'} {abs(other - rank)}"


def test_a_compared_hit_opens_in_the_search_by_its_leg(open_page: Open, library: str) -> None:
    page = open_page(asked(library, view="compare"))
    first = page.locator(".column").first.locator(".title").first
    title = first.text_content()
    assert title

    first.click()

    expect(page.locator("#leg")).to_have_value("vector")
    expect(page.locator("#map-title")).to_have_text(title)


def test_no_hits_and_wrong_input_are_said(open_page: Open, library: str) -> None:
    page = open_page(f"{asked(library, 'xyzzy plugh')}&leg=fulltext")
    expect(page.locator("#hits")).to_contain_text("Nothing in this corpus answers that.")

    page.fill("#question", "x" * 1_000_001)
    page.press("#question", "Enter")
    expect(page.locator("#hits")).to_contain_text("1,000,000 are the most")
