"""What the explorer does without a service, without a corpus, without a token, and when it is told to wait."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.serve.page.conftest import Open, Serving

pytestmark = pytest.mark.slow

QUESTION = "Who designed the Analytical Engine?"
TOKEN = "a token of the tests"


def test_a_service_that_is_gone_is_waited_for(open_page: Open, serving: Serving, library: str) -> None:
    with serving() as service:
        page = open_page(f"#/search?corpus={library}", url=service.url)
        page.fill("#question", "What raises the tides of the sea?")
        expect(page.locator("#hits")).to_contain_text("The moon raises the tides")

        service.stop()
        page.fill("#question", QUESTION)
        expect(page.locator("#banner")).to_contain_text("can't be reached")
        page.locator("#question").press_sequentially(" And why")
        expect(page.locator("#question")).to_have_value(f"{QUESTION} And why")
        assert page.locator("#hits > .hit:not(.skeleton)").count() > 0, "the last hits stay"

        service.start()
        expect(page.locator("#banner")).to_be_hidden(timeout=10_000)
        expect(page.locator("#hits > .hit:not(.skeleton)").first).to_contain_text("Analytical Engine")
        expect(page.locator("#question")).to_have_value(f"{QUESTION} And why")


def test_jobs_and_corpora_go_on_when_the_service_is_back(open_page: Open, serving: Serving, library: str) -> None:
    with serving() as service:
        page = open_page("#/jobs", url=service.url)
        page.wait_for_selector("#jobs > *")
        service.stop()
        expect(page.locator("#banner")).to_be_visible(timeout=10_000)
        page.get_by_role("link", name="Corpora").click()
        service.start()
        expect(page.locator(".menu")).to_contain_text(library, timeout=10_000)
        expect(page.locator("#banner")).to_be_hidden()


def test_a_token_is_asked_for_and_kept_in_the_tab(open_page: Open, serving: Serving, library: str) -> None:
    with serving(token=TOKEN) as service:
        page = open_page(f"#/search?corpus={library}&q={QUESTION}", url=service.url)
        dialog = page.locator("#token-dialog")
        expect(dialog).to_contain_text("answers only requests with a token")
        page.fill("#token", "a wrong one")
        page.keyboard.press("Enter")
        expect(page.locator("#token-reason")).to_have_text("The token is unknown.")
        page.fill("#token", TOKEN)
        page.keyboard.press("Enter")

        expect(dialog).to_be_hidden()
        expect(page.locator("#hits > .hit:not(.skeleton)").first).to_contain_text("Analytical Engine")
        page.reload()
        expect(page.locator("#hits > .hit:not(.skeleton)").first).to_contain_text("Analytical Engine")
        assert page.evaluate("sessionStorage.length + localStorage.length + document.cookie.length") == 1
        assert TOKEN.split()[0] not in page.url.split("#")[0]
        assert TOKEN not in page.content()


def test_without_a_corpus_the_page_says_how_to_make_one(open_page: Open, serving: Serving) -> None:
    with serving(tokens=[{"token": TOKEN, "corpora": ["there is no such corpus"]}]) as service:
        page = open_page("", url=service.url)
        page.fill("#token", TOKEN)
        page.keyboard.press("Enter")

        expect(page.locator("#none")).to_contain_text("There is no corpus yet.")
        expect(page.locator("#none pre")).to_have_text("hoprank ingest docs/ --corpus docs")
        expect(page.locator("#ask")).to_be_hidden()
        for view in ("Corpora", "Search", "Jobs"):
            page.get_by_role("link", name=view, exact=True).click()
            words = "There are no jobs." if view == "Jobs" else "There is no corpus yet."
            expect(page.locator(".empty-title:visible")).to_have_text([words])


def test_a_service_that_is_asked_too_often_is_left_alone_for_a_while(
    open_page: Open, serving: Serving, library: str
) -> None:
    with serving(rate=40) as service:
        page = open_page(f"#/search?corpus={library}", url=service.url)
        for number in range(30):
            page.fill("#question", f"{QUESTION} {number}")
            page.press("#question", "Enter")
            page.wait_for_timeout(50)
            if page.locator("#banner").is_visible():
                break

        expect(page.locator("#banner")).to_contain_text("More than 40 requests")
        expect(page.locator("#banner")).to_contain_text(re.compile(r"asks again in \d+ s"))
        expect(page.locator("#question")).to_have_value(re.compile(re.escape(QUESTION)))
