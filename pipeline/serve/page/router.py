"""Routes of the page: ``/`` and its files under ``/page``. They need no token, and hold nothing of any corpus."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request, Response

from pipeline.edges import EDGES
from pipeline.knowledge.view import SHARED

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page runs its own files and nothing else, and reaches nothing but its own service."""

_METHODS = ["GET", "HEAD"]

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


def make_router() -> APIRouter:
    """Return the routes; the files are read now, so that a page never mixes two versions."""
    router = APIRouter(include_in_schema=False)
    files = read_files()

    @router.api_route("/", methods=_METHODS)
    async def page(request: Request) -> Response:
        return _answer(files["index.html"], request)

    @router.api_route("/page/{name}", methods=_METHODS)
    async def page_file(name: str, request: Request) -> Response:
        if name not in files:
            raise HTTPException(404, "The page has no such file.")
        return _answer(files[name], request)

    return router


def _answer(file: PageFile, request: Request) -> Response:
    headers = {
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        # Kept, but asked for again each time: names of files stay the same when HopRank is updated.
        "Cache-Control": "no-cache",
        "ETag": file.etag,
    }
    known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
    if known & {file.etag, "*"}:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


def read_files() -> Mapping[str, PageFile]:
    """Read the files of the page, by name; those that draw a graph are the same as in the pages of ``graph view``.

    ``edges.js`` is made of :mod:`pipeline.edges`: the words for the relationships of a corpus.
    """
    paths = [
        *SHARED,
        *(path for path in sorted((Path(__file__).parent / "static").iterdir()) if path.suffix in _MEDIA_TYPES),
    ]
    files = {path.name: _file(path.read_bytes(), path.suffix) for path in paths}
    edges = {kind.value: {"along": edge.along, "against": edge.against} for kind, edge in EDGES.items()}
    return files | {"edges.js": _file(f"export const EDGES = {json.dumps(edges)};\n".encode(), ".js")}


def _file(content: bytes, suffix: str) -> PageFile:
    return PageFile(content, _MEDIA_TYPES[suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')
