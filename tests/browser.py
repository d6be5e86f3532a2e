"""The browser that tests of pages run in: Chromium, as it is installed here."""

from __future__ import annotations

import os
import shutil

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def browser_path() -> str:
    """Return the path of Chromium; skip the test if there is none, or fail it if HOPRANK_TEST_BROWSER promised one."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        assert "HOPRANK_TEST_BROWSER" not in os.environ, "there was a browser when the tests began"
        pytest.skip("no Chromium here")
    return found
