"""Which links lead to another document, and to which."""

from __future__ import annotations

import re
from urllib.parse import unquote

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def document_target(href: str) -> str | None:
    """Return the path that ``href`` names, percent-decoded, without query and fragment; None if it leads elsewhere.

    Elsewhere is the web (any scheme, or ``//host``) or the same document.
    """
    if _SCHEME.match(href):
        return None
    return unquote(re.split("[?#]", href, maxsplit=1)[0]).strip() or None


def wikilink_target(inside: str) -> str | None:
    """Return the note that ``[[inside]]`` names, without alias, heading and block; None for the same note."""
    return re.split(r"\\?\||#|\^", inside, maxsplit=1)[0].strip() or None
