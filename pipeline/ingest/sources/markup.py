"""Markup in a line of .jsonl: a text that is Markdown or reStructuredText gets the structure that its file would have.

The suffix of the document's id tells which it is (``guide/setup.md``); without a suffix, Markdown is told by its front
matter or its headings. Everything else is plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import PurePosixPath

from pipeline.ingest.sources.source import Unreadable
from pipeline.records import Document

_MODULES = {".md": "markdown", ".markdown": "markdown", ".rst": "rst"}
_SUFFIX = re.compile(r"\.[A-Za-z]\w{0,9}")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?=[^\n]*:)(?:[^\n]*\n)*?---[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"(?:\A|\n[ \t]*\n)#{1,6}[ \t]+\S[^\n]*(?=\n[ \t]*\n)")
"""Between blank lines, which a comment in code seldom is."""

_ENOUGH_HEADINGS = 2


def structured(document: Document) -> Document:
    """Return a document of a .jsonl file with the headings, blocks, links and front matter that its markup has.

    One that brings its own chunks, or whose markup is malformed or all that there is, is returned as it is.
    """
    text = document.text.replace("\r\n", "\n").lstrip()
    markup = None if document.prechunked else _markup_of(document.key, text)
    if markup is None:
        return document
    structure: Callable[[Document], Document] = import_module(f"pipeline.ingest.sources.{markup}").structure
    try:
        found = structure(replace(document, text=text, blocks=()))
    except Unreadable:
        return document
    return found if found.blocks else document


def _markup_of(key: str, text: str) -> str | None:
    suffix = PurePosixPath(key).suffix.lower()
    if _SUFFIX.fullmatch(suffix):
        return _MODULES.get(suffix)
    headings = sum(1 for _ in _HEADING.finditer(text))
    return "markdown" if headings >= _ENOUGH_HEADINGS or _FRONT_MATTER.match(text) else None
