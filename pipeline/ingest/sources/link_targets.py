"""Targets of links that lead to other documents."""

import re
from urllib.parse import unquote

_ALIAS = re.compile(r"\\?\|")
_ENDS_NAME = re.compile(r"\\?\||#|\^")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def document_target(href: str) -> str | None:
    """Return the path in ``href``, percent-decoded, without query and fragment.

    Returns None for a link to the web (any scheme, or ``//host``) or within the same document.
    """
    if _SCHEME.match(href):
        return None
    return unquote(re.split("[?#]", href, maxsplit=1)[0]).strip() or None


def document_fragment(href: str) -> str:
    """Return the fragment of ``href``, percent-decoded; empty for a link to the web."""
    return "" if _SCHEME.match(href) else unquote(href.partition("#")[2]).strip()


def wikilink_target(inside: str) -> str | None:
    """Return the note's name in ``[[inside]]``, without alias, heading and block; None for the same note."""
    return _ENDS_NAME.split(inside, maxsplit=1)[0].strip() or None


def wikilink_fragment(inside: str) -> str:
    """Return the heading, or ``^`` and the block, that ``[[inside]]`` names in its note; empty if it names none."""
    name = _ALIAS.split(inside, maxsplit=1)[0]
    start = _ENDS_NAME.search(name)
    return name[start.start() :].removeprefix("#").strip() if start else ""
