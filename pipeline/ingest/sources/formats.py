"""Which format a file is in, by its name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pipeline.ingest.sources.source import Parse, Unreadable

LINES = "jsonl"
"""The format that holds a document a line; all others hold one a file."""

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
_TEXTS = frozenset("AUTHORS CHANGELOG CHANGES CONTRIBUTING COPYING LICENCE LICENSE NEWS NOTICE README TODO".split())


def format_of(path: Path) -> str:
    """Return the name of the format of ``path``. Raises Unreadable when it is none that is read."""
    name = _MODULES.get(path.suffix.lower()) or ("text" if path.name in _TEXTS else "")
    if not name:
        kind = f"the suffix {path.suffix}" if path.suffix else "no suffix"
        raise Unreadable(f"has {kind}, which isn't read", f"Convert it to one of {' '.join(_MODULES)}.")
    return name


def parser_of(name: str) -> Parse:
    """Return what parses the format ``name``; its library is imported only when a file needs it."""
    parse: Parse = import_module(f"pipeline.ingest.sources.{name}").parse
    return parse
