"""The files of the page, read once, each with a validator for caches."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.knowledge.view import CYTOSCAPE

_STATIC = Path(__file__).parent / "static"
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file as it is sent. ``etag`` is a strong validator: it changes with the content."""

    content: bytes
    media_type: str
    etag: str


def read_files() -> Mapping[str, PageFile]:
    """Read the files of the page, by name; Cytoscape.js is the copy that drawn graphs embed too."""
    paths = [CYTOSCAPE, *(path for path in sorted(_STATIC.iterdir()) if path.suffix in _MEDIA_TYPES)]
    return {path.name: _read(path) for path in paths}


def _read(path: Path) -> PageFile:
    content = path.read_bytes()
    return PageFile(content, _MEDIA_TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')
