"""Routes of the page: ``/`` and its files under ``/page``. They need no token, and hold nothing of any corpus."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response

from pipeline.serve.page.files import PageFile, read_files

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""The page runs its own files and nothing else, and reaches nothing but its own service."""

_METHODS = ["GET", "HEAD"]


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
