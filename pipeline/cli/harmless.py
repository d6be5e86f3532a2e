"""Texts that a terminal can't obey: documents and names may hold control characters."""

import re

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""The control characters of ASCII and of Latin-1, but for tabs and line ends."""


def harmless(text: str) -> str:
    """Return a text without control characters, which could move the cursor, change colours or rename the window."""
    return CONTROL.sub("", text)
