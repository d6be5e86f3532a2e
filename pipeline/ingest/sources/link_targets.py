"""Targets of links that lead to other documents."""

from __future__ import annotations

import re
from urllib.parse import unquote

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def document_target(href: str) -> str | None:
    """Return the path in ``href``, percent-decoded, without query and fragment.

    Returns None for a link to the web (any scheme, or ``//host``) or within the same document.
    """
    if _SCHEME.match(href):
        return None
    return unquote(re.split("[?#]", href, maxsplit=1)[0]).strip() or None


def wikilink_target(inside: str) -> str | None:
    """Return the note's name in ``[[inside]]``, without alias, heading and block; None for the same note."""
    return re.split(r"\\?\||#|\^", inside, maxsplit=1)[0].strip() or None
