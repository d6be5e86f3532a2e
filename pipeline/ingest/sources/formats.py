"""Formats of files, recognised by name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pipeline.code.languages import language_of
from pipeline.ingest.sources.source import Parse, Unreadable

LINES = "jsonl"
"""The format with a document per line; files of all others hold a single document."""

CODE = "code"
"""The format of source code, which is read on request."""

_MODULES = {
    ".txt": "text",
    ".text": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".rst": "rst",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".jsonl": LINES,
}
_TEXT_FILES = frozenset(
    "AUTHORS CHANGELOG CHANGES CONTRIBUTING COPYING LICENCE LICENSE NEWS NOTICE README TODO".split()
)


def format_of(path: Path, *, code: bool = True) -> str:
    """Return the name of the format of ``path``. Raises Unreadable if it isn't read; source code is with ``code``."""
    name = _MODULES.get(path.suffix.lower()) or ("text" if path.name in _TEXT_FILES else "")
    if not name and language_of(path.name):
        if not code:
            raise Unreadable(
                "is source code, read only with --set sources.code=true", "Set it, or name the file itself."
            )
        return CODE
    if not name:
        kind = f"the suffix {path.suffix}" if path.suffix else "no suffix"
        raise Unreadable(f"has {kind}, which isn't read", f"Convert it to one of {' '.join(_MODULES)}.")
    return name


def parser_of(name: str) -> Parse:
    """Return the parser of the format ``name``; its library is imported only when a file needs it."""
    parse: Parse = import_module(f"pipeline.ingest.sources.{name}").parse
    return parse
