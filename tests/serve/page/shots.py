"""Screenshots of the explorer's states, to look at: ``python -m tests.serve.page.shots URL CORPUS FOLDER "QUESTION"``.

The service at URL has no token, and gets a scratch corpus, which is dropped at the end. ``--hit N`` is the hit to draw.
With ``--picture`` only the README's picture is taken, ``explorer.png``: the question, and the hit with its path, drawn;
it is of ``hoprank demo``, its last example and the second hit, in ``pipeline/docs/images``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import browser_path

HIT = "#hits > .hit:not(.skeleton)"
SCRATCH = "shots-scratch"
REST_MILLISECONDS = 700
"""Time in which drawings come to rest."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("corpus")
    parser.add_argument("folder", type=Path)
    parser.add_argument("question")
    parser.add_argument("--hit", type=int, default=1)
    parser.add_argument("--picture", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path())
        shots = Shots(browser, given)
        if given.picture:
            shots.picture()
        else:
            with running_job(given.url):
                shots.take()
        browser.close()


class Shots:
    """Takes the screenshots of one service."""

    def __init__(self, browser: Browser, given: argparse.Namespace) -> None:
        self._browser = browser
        self._given = given

    def take(self) -> None:
        """Take all."""
        for scheme in ("light", "dark"):
            self._jobs(scheme)
            self._home(scheme)
            self._searches(scheme)
            self._graphs(scheme)
            self._corpora(scheme)
        self._phone()
        self._gone()

    def picture(self) -> None:
        """Take the README's picture."""
        page = self._open("search", width=1320, height=920)
        page.wait_for_selector(HIT)
        page.reload()  # the first question waited for the model
        page.wait_for_selector(HIT)
        self._draw(page)
        page.evaluate("document.activeElement.blur()")
        self._save(page, "explorer")
        file = self._given.folder / "explorer.png"
        Image.open(file).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)

    def _open(self, view: str, scheme: str = "light", width: int = 1440, height: int = 900) -> Page:
        context = self._browser.new_context(viewport={"width": width, "height": height}, color_scheme=_scheme(scheme))
        page = context.new_page()
        params = urlencode({"corpus": self._given.corpus, "q": self._given.question})
        page.goto(f"{self._given.url}/#/{view}?{params}")
        return page

    def _save(self, page: Page, name: str, *, full: bool = False) -> None:
        page.wait_for_timeout(REST_MILLISECONDS)
        page.screenshot(path=self._given.folder / f"{name}.png", full_page=full)

    def _home(self, scheme: str) -> None:
        page = self._open("search", scheme)
        page.wait_for_selector(HIT)
        page.fill("#question", "")
        page.press("#question", "Enter")
        page.wait_for_selector(".example")
        self._save(page, f"home-{scheme}")

    def _graphs(self, scheme: str) -> None:
        page = self._open("graphs", scheme)
        page.wait_for_selector(".graph-canvas canvas")
        self._save(page, f"graphs-{scheme}")
        page.locator(".graph-list button").first.click()
        self._save(page, f"graphs-chosen-{scheme}")

    def _searches(self, scheme: str) -> None:
        page = self._open("search", scheme)
        page.wait_for_selector(HIT)
        self._save(page, f"search-{scheme}")
        self._draw(page)
        self._save(page, f"graph-{scheme}")
        page.locator("#node .chip").first.click()
        page.wait_for_timeout(REST_MILLISECONDS)
        page.locator("#node .chip").last.click()
        self._save(page, f"graph-further-{scheme}")
        page = self._open("compare", scheme)
        page.wait_for_selector(".compared")
        self._save(page, f"compare-{scheme}")

    def _draw(self, page: Page) -> None:
        page.locator(f"{HIT} .open").nth(self._given.hit - 1).click()
        page.wait_for_selector("#node .chip")

    def _corpora(self, scheme: str) -> None:
        page = self._open("corpora", scheme)
        page.wait_for_selector(".documents a")
        self._save(page, f"corpora-{scheme}", full=True)
        page.locator(".documents a").first.click()
        page.wait_for_selector("article .whole")
        self._save(page, f"document-{scheme}")

    def _jobs(self, scheme: str) -> None:
        page = self._open("jobs", scheme)
        page.wait_for_selector(".progress")
        self._save(page, f"jobs-{scheme}")

    def _phone(self) -> None:
        page = self._open("search", width=360, height=740)
        page.wait_for_selector(HIT)
        self._save(page, "phone")
        self._draw(page)
        self._save(page, "phone-graph")
        for view, ready in (
            ("compare", ".compared"),
            ("graphs", "canvas"),
            ("corpora", ".documents a"),
            ("jobs", ".job"),
        ):
            page = self._open(view, "dark", width=360, height=740)
            page.wait_for_selector(ready)
            self._save(page, f"phone-{view}")

    def _gone(self) -> None:
        page = self._open("search")
        page.wait_for_selector(HIT)
        page.context.set_offline(True)
        page.fill("#question", "And where is it now?")
        page.wait_for_selector("#banner:visible")
        self._save(page, "gone")


def _scheme(name: str) -> Any:
    return name


@contextmanager
def running_job(url: str) -> Iterator[None]:
    """Keep a job running in a scratch corpus."""
    texts = [f"The keeper of light {number} met Ada Lovelace at Port {number % 50}. " for number in range(3000)]
    documents = [{"id": str(number), "text": "".join(texts[number : number + 20])} for number in range(2900)]
    with httpx.Client(base_url=url, timeout=60) as client:
        job = client.post("/v1/ingest", json={"corpus": SCRATCH, "documents": documents}).raise_for_status().json()
        try:
            yield
        finally:
            client.post(f"/v1/jobs/{job['id']}/cancel")
            while client.get(f"/v1/jobs/{job['id']}").json()["state"] in ("queued", "running"):
                pass
            client.delete(f"/v1/corpora/{SCRATCH}")


if __name__ == "__main__":
    main()
