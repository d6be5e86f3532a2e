"""Plain text: what a reader sees of Markdown and reStructuredText, without the signs of headings and links."""

import re
from collections.abc import Callable, Iterator

from pipeline.text.prose import prose

_LINE = r"(?P<{0}>[=\-~^\"'*+#`:.<>_])(?P={0}){{2,}}[ \t]*"
_RULE = re.compile(rf"^[ \t]*{_LINE.format('sign')}$\n?", re.MULTILINE)
_HEADING = re.compile(
    r"^[ \t]*#{1,6}[ \t].*$\n?"
    rf"|(?:\A|(?<=\n\n))(?:{_LINE.format('over')}\n)?[ \t]*\w.*\n{_LINE.format('under')}$\n?",
    re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,}).*$\n?", re.MULTILINE)
_LINKS = (
    (re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]"), r"\1"),
    (re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*(?:\s+\"[^\"\n]*\")?\)"), r"\1"),
    (re.compile(r"\[([^\[\]\n]+)\]\[[^\[\]\n]*\]"), r"\1"),
    # roles and links of reStructuredText: :ref:`text <target>`, :class:`~package.Name`, `text <target>`_
    (re.compile(r"(?<![:\w])(?::[\w+.-]{1,40}){1,3}:`~(?:\w+\.)*([^`<\n]+)`"), r"\1"),
    (re.compile(r"(?<![:\w])(?::[\w+.-]{1,40}){1,3}:`!?([^`<]+?)(?:\s*<[^`<>]*>)?`"), r"\1"),
    (re.compile(r"(?<![`\w])`([^`<]+?)\s*<[^`<>]+>`_{1,2}"), r"\1"),
)
"""Taken off before the prose is looked for, in which the target of a link is blanked out."""

_INLINE = (
    # notes: [1]_ and [#name]_ of reStructuredText, [^1] of Markdown
    (re.compile(r"[ \t]?\[#?\w*\]_\b|[ \t]?\[\^\w+\]:?"), ""),
    # code and emphasis; a name such as __init__ isn't emphasised
    (re.compile(r"(?<!`)(`{1,2})(?!`)([^`]+)\1(?!`)_{0,2}"), r"\2"),
    (re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]+?)(?<=\S)\1(?![\w*])"), r"\2"),
    (re.compile(r"(?<!\w)_(?=[^\W_])([^_\n]+?)(?<=\S)_(?!\w)"), r"\1"),
    (re.compile(r"(?<!\w)__(?=[^\W_])([^_\n]* [^_\n]*?)(?<=\S)__(?!\w)"), r"\1"),
    # signs that open or end a line
    (re.compile(r"^[ \t]*#{1,6}[ \t]+", re.MULTILINE), ""),
    (re.compile(r"^(?:[ \t]*>)+[ \t]?", re.MULTILINE), ""),
    (re.compile(r"^([ \t]*)[*+-][ \t]+(?=\S)", re.MULTILINE), r"\1• "),
    (re.compile(r"::[ \t]*$", re.MULTILINE), ":"),
    (re.compile(r"\\([*_`\[\]#<>~|\\-])"), r"\1"),
)


def plain(text: str) -> str:
    """Return a passage as a reader sees it: heading lines, links, emphasis and roles without their signs.

    Code blocks and tables stay as they are written.
    """
    return _in_prose(text, _unmarked)


def without_rules(text: str) -> str:
    """Return a passage without the lines of signs below and above headings, which may mean a fence to Markdown."""
    return _in_prose(text, lambda stretch: _RULE.sub("", stretch))


def plain_sentences(text: str) -> str:
    """Return the sentences of a passage as a reader sees them; of a passage of code or tables alone, these."""
    found = _unmarked(prose(_unlinked(_HEADING.sub("\n", text))))
    if any(map(str.isalnum, found)):
        return found
    bare = _FENCE.sub("", _RULE.sub("", text))
    return bare if any(map(str.isalnum, bare)) else text


def _unmarked(text: str) -> str:
    text = _RULE.sub("", _unlinked(text))
    for pattern, shown in _INLINE:
        text = pattern.sub(shown, text)
    return text


def _unlinked(text: str) -> str:
    for pattern, shown in _LINKS:
        text = pattern.sub(shown, text)
    return text


def _in_prose(text: str, change: Callable[[str], str]) -> str:
    stretches = _stretches(text, prose(text))
    return "".join(change(text[start:end]) if is_prose else text[start:end] for start, end, is_prose in stretches)


def _stretches(text: str, kept: str) -> Iterator[tuple[int, int, bool]]:
    """Yield runs of lines, as (start, end, prose): those with prose, and those that ``kept`` has blanked out."""
    start = at = 0
    before = True
    for line in text.splitlines(keepends=True):
        blank = not line.strip()
        is_prose = before if blank else bool(kept[at : at + len(line)].strip())
        if is_prose != before:
            if at > start:
                yield start, at, before
            start, before = at, is_prose
        at += len(line)
    if at > start:
        yield start, at, before
