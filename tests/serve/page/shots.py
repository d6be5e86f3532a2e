"""The README's picture: ``python -m tests.serve.page.shots URL CORPUS FOLDER "QUESTION" HIT``.

``explorer.png`` in FOLDER has the question and the hit of that number with its path, drawn. It is of ``hoprank demo``,
its last example and the second hit, in ``pipeline/docs/images``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser import browser_path

HIT = "#hits > .hit:not(.skeleton)"
REST_MILLISECONDS = 700
"""Time in which a drawing comes to rest."""


def main() -> None:
    url, corpus, folder, question, hit = sys.argv[1:]
    file = Path(folder) / "explorer.png"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path())
        page = browser.new_context(viewport={"width": 1320, "height": 920}, color_scheme="light").new_page()
        page.goto(f"{url}/#/search?{urlencode({'corpus': corpus, 'q': question})}")
        page.wait_for_selector(HIT)
        page.reload()  # the first question waited for the model
        page.wait_for_selector(HIT)
        page.locator(f"{HIT} .open").nth(int(hit) - 1).click()
        page.wait_for_selector("#node .chip")
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(REST_MILLISECONDS)
        page.screenshot(path=file)
        browser.close()
    Image.open(file).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)


if __name__ == "__main__":
    main()
