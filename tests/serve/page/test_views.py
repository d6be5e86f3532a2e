"""Corpora and jobs in the explorer, its looks on a phone and in the dark, and texts that mean harm."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Page, expect

from pipeline import HopRank
from tests.serve.page.conftest import Open, Service, check_width

pytestmark = pytest.mark.slow

HIT = "#hits > .hit:not(.skeleton)"
QUESTION = "Who designed the Analytical Engine?"
HARM = "<script>window.ran = 1</script><img src=x onerror='window.ran = 2'><b onclick=\"ran = 3\">Bold</b>"
TURNED = "\u202egnirts desrever a\u2066"
LONG = "Donaudampfschiff" * 60
HOSTILE = {
    f"{HARM}.md": f"{HARM} Analytical Engine",
    "javascript:alert(1)": "javascript:window.ran=4 Analytical Engine",
    "turned": f"Analytical Engine {TURNED} after it",
    "long": f"Analytical Engine {LONG}",
}


@pytest.fixture(scope="module")
def hostile(hoprank: HopRank, shared_corpus_name: str) -> str:
    """A corpus whose keys, titles, texts and metadata hold markup, scripts, turned and very long words."""
    hoprank.add(
        [
            {
                "id": key,
                "title": f"{text} ({key})",
                "text": f"# {text}\n\nThe Analytical Engine. {text}\n",
                "metadata": {HARM: HARM},
            }
            for key, text in HOSTILE.items()
        ],
        shared_corpus_name,
    )
    return shared_corpus_name


def address(view: str, corpus: str, **more: str) -> str:
    return f"#/{view}?" + "&".join(f"{name}={quote(value)}" for name, value in {"corpus": corpus, **more}.items())


def check_harmless(page: Page) -> None:
    assert page.evaluate("window.ran") is None
    assert page.locator("main :is(script, b, iframe, [onclick], [onerror]), main img").count() == 0
    assert page.locator("a[href^='javascript:']").count() == 0


def test_hostile_texts_stay_texts(open_page: Open, hostile: str) -> None:
    page = open_page(address("search", hostile, q=QUESTION), width=900)
    page.wait_for_selector(HIT)
    assert HARM in (page.locator("#hits").text_content() or "")
    check_harmless(page)

    for number in range(page.locator(HIT).count()):
        page.locator(f"{HIT} .open").nth(number).click()
        page.wait_for_selector("#node .chip")
        check_harmless(page)
        check_width(page)
        page.keyboard.press("Escape")
    for view in ("compare", "corpora"):
        page.goto(page.url.split("#")[0] + address(view, hostile, q=QUESTION))
        page.wait_for_selector(".compared" if view == "compare" else ".documents a")
        check_harmless(page)
        check_width(page)
    page.get_by_role("link", name=re.compile(re.escape("<script>"))).last.click()
    expect(page.locator("article .whole")).to_contain_text(HARM)
    expect(page.locator("article dd", has_text="onerror").first).to_be_visible()
    check_harmless(page)


def test_a_turned_text_turns_nothing_beside_it(open_page: Open, hostile: str) -> None:
    page = open_page(address("corpora", hostile, doc="turned"))

    expect(page.locator("article .whole")).to_contain_text(TURNED)
    assert page.locator("article h3 > bdi").count() == 1
    assert page.evaluate("getComputedStyle(document.querySelector('article h3 > bdi')).unicodeBidi") == "isolate"


def test_a_corpus_is_shown_with_its_plots_and_documents(open_page: Open, hoprank: HopRank, library: str) -> None:
    page = open_page(address("corpora", library))

    expect(page.locator(".figures dd").first).to_have_text("12")
    expect(page.locator(".menu [aria-current]")).to_contain_text(library)
    expect(page.locator(".bars").last).to_contain_text("Ada Lovelace")
    plot = page.get_by_role("img", name=re.compile(r"^MENTIONS: \d+ chunks with .* on average and \d+ at most$"))
    assert plot.locator("circle").count() >= 2
    assert all("NaN" not in box for box in page.locator("svg").evaluate_all("all => all.map(one => one.innerHTML)"))
    expect(page.locator(".documents a")).to_have_count(12)
    page.fill("[aria-label='Keys that begin with']", "jac")
    page.keyboard.press("Enter")
    expect(page.locator(".documents a")).to_have_text(["Jacquard loom"])
    page.locator(".documents a").click()
    expect(page.locator("article .whole")).to_contain_text("The loom of Joseph Jacquard")
    page.go_back()
    expect(page.locator(".figures dd").first).to_have_text("12")


def test_documents_come_in_pages(open_page: Open, hoprank: HopRank, corpus_name: str) -> None:
    hoprank.add(
        [{"id": f"note {number:02}", "text": f"The note number {number}."} for number in range(25)], corpus_name
    )
    page = open_page(address("corpora", corpus_name))
    expect(page.locator(".documents a")).to_have_count(20)

    page.get_by_role("button", name="Next page").click()

    expect(page.locator(".documents a").first).to_have_text("note 20")
    expect(page.get_by_role("button", name="Next page")).to_be_hidden()
    page.get_by_role("button", name="First page").click()
    expect(page.locator(".documents a").first).to_have_text("note 00")


def test_an_empty_corpus_says_so(open_page: Open, hoprank: HopRank, corpus_name: str) -> None:
    hoprank.add([{"id": "one", "text": "The only text."}], corpus_name)
    hoprank.delete(["one"], corpus_name)

    page = open_page(address("corpora", corpus_name))
    expect(page.locator(".details")).to_contain_text("This corpus is empty.")
    expect(page.locator(".details pre")).to_have_text(f"hoprank ingest docs/ --corpus {corpus_name}")
    page.get_by_role("link", name="Search").click()
    page.fill("#question", QUESTION)
    expect(page.locator("#hits")).to_contain_text("Nothing in this corpus answers that.")


@pytest.fixture
def long_job(service: Service, corpus_name: str, cypher: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """A job that takes a while; it is cancelled and deleted at the end, so that its corpus can be dropped."""
    words = [
        f"The keeper of light {number} met Ada Lovelace at Port {number % 50} in the year {1800 + number % 90}. "
        for number in range(900)
    ]
    documents = [{"id": str(number), "text": "".join(words[number : number + 8])} for number in range(890)]
    with httpx.Client(base_url=service.url) as client:
        job = client.post("/v1/ingest", json={"corpus": corpus_name, "documents": documents}).raise_for_status().json()
        yield job
        client.post(f"/v1/jobs/{job['id']}/cancel")
        while client.get(f"/v1/jobs/{job['id']}").json()["state"] in ("queued", "running"):
            time.sleep(0.1)
    cypher("MATCH (job:HopRankServiceJob {id: $id}) DETACH DELETE job", id=job["id"])


def test_a_job_shows_its_progress_and_is_cancelled_and_retried(open_page: Open, long_job: dict[str, Any]) -> None:
    page = open_page("#/jobs")
    job = page.locator(f".job[data-id='{long_job['id']}']")
    expect(job.locator(".state")).to_have_text("running")
    expect(job.locator(".progress span")).to_have_text(re.compile(r"^embed: [1-9]\d* of \d+ \(\d+%\)$"), timeout=30_000)
    assert job.get_by_role("progressbar", name="embed").count() == 1

    job.get_by_role("button", name="Cancel").click()
    expect(job.locator(".state")).to_have_text("cancelled", timeout=60_000)
    expect(job.locator("progress")).to_have_count(0)
    job.get_by_role("button", name="Retry").click()
    expect(job.locator(".state")).to_have_text(re.compile("queued|running"))


def test_a_phone_needs_no_sideways_scrolling(open_page: Open, library: str, hostile: str) -> None:
    page = open_page(address("search", library, q=QUESTION), width=360, height=740, has_touch=True, is_mobile=True)
    page.locator(f"{HIT} .open").first.tap()
    page.wait_for_selector("#node .chip")
    check_width(page)
    box = page.locator("#map").bounding_box()
    assert box
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 360, 740)
    page.get_by_role("button", name="Close").tap()
    for corpus in (library, hostile):
        for view, ready in (
            ("search", HIT),
            ("compare", ".compared"),
            ("corpora", ".documents a"),
            ("jobs", "#jobs > *"),
        ):
            page.goto(page.url.split("#")[0] + address(view, corpus, q=QUESTION))
            page.wait_for_selector(ready)
            check_width(page)


TEXTS = (
    *(("ink", "page"), ("ink", "surface"), ("muted", "page"), ("muted", "surface")),
    *(("accent", "surface"), ("accent", "soft"), ("accent-ink", "accent"), ("mark-ink", "mark")),
    *(
        ("warn-ink", "warn-back"),
        ("note-ink", "note-back"),
        ("good", "surface"),
        ("bad", "surface"),
        ("path", "surface"),
    ),
)
MARKS = tuple((name, "surface") for name in ("chunk", "entity", "document", *(f"node-{row}" for row in range(1, 11))))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_contrast(open_page: Open, library: str, scheme: str) -> None:
    page = open_page(address("search", library, q=QUESTION), color_scheme=scheme)
    page.wait_for_selector(HIT)

    def colour(name: str) -> tuple[float, ...]:
        text = page.evaluate(
            "name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()", name
        )
        digits = text.removeprefix("#") if len(text) == 7 else "".join(2 * digit for digit in text[1:])
        return tuple(int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4))

    assert (luminance(colour("page")) < 0.1) is (scheme == "dark")
    poor = {pair for pair in TEXTS if contrast(*map(colour, pair)) < 4.5}
    assert not poor | {pair for pair in MARKS if contrast(*map(colour, pair)) < 3}


def luminance(colour: tuple[float, ...]) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in colour]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)
