"""Markup in .jsonl: Markdown, reStructuredText and source code get the same structure as from a file.

The suffix of the document's id names the format (``guide/setup.md``, ``sessions.py``). Without a suffix, Markdown is
recognised by its front matter or its headings. Everything else is plain text.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import PurePosixPath

from pipeline.code.languages import language_of
from pipeline.files import Unreadable
from pipeline.records import Document

_MODULES = {".md": "markdown", ".markdown": "markdown", ".rst": "rst"}
_SUFFIX = re.compile(r"\.[A-Za-z]\w{0,9}")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?=[^\n]*:)(?:[^\n]*\n)*?---[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"(?:\A|\n[ \t]*\n)#{1,6}[ \t]+\S[^\n]*(?=\n[ \t]*\n)")
"""A heading between blank lines, where a comment in code seldom stands."""

_MIN_HEADINGS = 2


def structured(document: Document) -> Document:
    """Return a document of a .jsonl file with the headings, blocks, links and front matter of its markup.

    A document is returned unchanged if it brings its own chunks, if its markup is malformed, or if it has no other
    text.
    """
    text = document.text.replace("\r\n", "\n").lstrip()
    markup = None if document.prechunked else _markup_of(document.key, text)
    if markup is None:
        return document
    structure: Callable[[Document], Document] = import_module(f"pipeline.ingest.sources.{markup}").structure
    try:
        result = structure(replace(document, text=text, blocks=()))
    except Unreadable:
        return document
    return result if result.blocks else document


def _markup_of(key: str, text: str) -> str | None:
    suffix = PurePosixPath(key).suffix.lower()
    if _SUFFIX.fullmatch(suffix):
        return _MODULES.get(suffix) or ("code" if language_of(key) else None)
    headings = sum(1 for _ in _HEADING.finditer(text))
    return "markdown" if headings >= _MIN_HEADINGS or _FRONT_MATTER.match(text) else None
