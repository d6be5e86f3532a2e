"""Identifiers in running text and code: names of a programming language or a shell, recognised by their spelling."""

import re

_JOINED = re.compile(r"[^\W\d_]\w*_\w|_+[^\W\d_]\w*_|__[^\W\d_]")
_CAMEL = re.compile(r"[a-z][a-z0-9]*[A-Z]")
_DOTTED = re.compile(r"(?:[A-Za-z_]\w+\.)+[A-Za-z_]\w+")
_FILE = re.compile(r"[\w./\-]*\w\.[a-z][a-z0-9]{0,4}")
_NUMBERED = re.compile(r"[a-z]+\d[a-z0-9]*")
_VERSION = re.compile(r"v\d+(?:\.\d+)*|\d+(?:\.\d+){2,}")
_ANY = re.compile(r"[`_]|--[A-Za-z]|\w\.[A-Za-z_]\w|[a-z][A-Z\d]|/\w|\d\.\d+\.\d")
_MARKS = ("`", "-")
_LONGEST = 80
_LONGEST_TARGET = 200


def may_hold_identifiers(text: str) -> bool:
    """Return whether a text may hold identifiers: a cheap test, which most prose fails."""
    return _ANY.search(text) is not None


def is_identifier(text: str, start: int, end: int) -> bool:
    """Return whether the word ``text[start:end]`` is an identifier.

    Identifiers are snake_case, camelCase, a dotted.name, a --flag, a path, a version, a word with a digit (utf8), and
    any single word in backticks. CamelCase with a capital first letter is a name already. A word or path in the target
    of a Markdown link becomes an edge instead.
    """
    word, before = text[start:end], text[max(0, start - 1) : start]
    if end - start > _LONGEST or (before not in _MARKS and word.isalpha() and word.islower()):
        return False
    if before == "`":
        return text[end : end + 1] == "`"
    if before == "-":
        return _is_flag(text, start)
    return _has_identifier_form(word, before) and not _is_link_target(text, start)


def _has_identifier_form(word: str, before: str) -> bool:
    if "/" in word:
        return before == "/" or bool(_FILE.fullmatch(word))
    return bool(
        _JOINED.match(word)
        or _CAMEL.match(word)
        or _DOTTED.fullmatch(word)
        or _NUMBERED.fullmatch(word)
        or _VERSION.fullmatch(word)
    )


def _is_link_target(text: str, start: int) -> bool:
    """Return whether a word lies in the target of a Markdown link."""
    opened = text.rfind("](", max(0, start - _LONGEST_TARGET), start)
    return opened >= 0 and ")" not in text[opened:start]


def _is_flag(text: str, start: int) -> bool:
    """Return whether the word after a hyphen is an option (``--flag``), not part of a sentence between dashes."""
    return (
        text[max(0, start - 2) : start - 1] == "-"
        and text[max(0, start - 3) : start - 2] in ("", " ", "\n", "`", "[", "(", '"', "'", "|")
        and text[start].isalpha()
    )
