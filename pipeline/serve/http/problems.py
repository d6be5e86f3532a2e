"""Errors as ``application/problem+json`` (RFC 9457), made from HopRank's tree of errors."""

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from pipeline import errors
from pipeline.errors import HopRankError
from pipeline.serve.rate import RETRY_SECONDS

MEDIA_TYPE = "application/problem+json"

_LOG = logging.getLogger("hoprank.http")

_STATUSES: tuple[tuple[type[HopRankError], int], ...] = (
    (errors.Unauthenticated, 401),
    (errors.Forbidden, 403),
    (errors.Unknown, 404),
    (errors.JobError, 409),
    (errors.TooLarge, 413),
    (errors.TooManyRequests, 429),
    (errors.ServerError, 503),
    (errors.CorpusError, 409),
    (errors.InputError, 422),
    (errors.Busy, 409),
    (errors.Superseded, 503),
    (errors.AnswerFailed, 502),
    (errors.Overloaded, 503),
    (errors.ServerLost, 503),
    (errors.ServerStartFailed, 503),
    (errors.QueryTimeout, 504),
    (errors.RequestTimeout, 504),
    (HopRankError, 500),
)
"""The status of each error: that of the first class that it is an instance of."""

_RETRY_SECONDS = {409: "5", 429: str(RETRY_SECONDS), 503: "5"}
"""Header ``Retry-After`` by status, for faults that pass."""


class Problem(BaseModel):
    """A problem: ``type`` names the class of the error, ``detail`` says what was wrong, ``fix`` what to do about it."""

    type: str = Field(examples=["UnknownCorpus"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is no corpus 'doc'."])
    fix: str = Field(default="", examples=["Did you mean 'docs'?"])
    errors: list[dict[str, Any]] | None = Field(default=None, description="The fields of the request that are wrong.")


_TITLES = {status.value: status.phrase for status in HTTPStatus} | {
    413: "Content Too Large",
    422: "Unprocessable Content",  # both had other names before RFC 9110, as Python's have
}

_CONTENT = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}

RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": _TITLES[status], "content": _CONTENT}
    for status in (400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 504)
}
"""The problems that any operation may answer with, as OpenAPI describes them."""


def response(
    status: int, type_: str, detail: str, fix: str = "", *, faults: list[dict[str, Any]] | None = None
) -> JSONResponse:
    """Return a problem as a response."""
    return _response(Problem(type=type_, title=_TITLES[status], status=status, detail=detail, fix=fix, errors=faults))


def response_of(error: HopRankError) -> JSONResponse:
    """Return an error as a response; the details of a fault of the service itself are logged too."""
    return _response(problem_of(error))


def problem_of(error: HopRankError) -> Problem:
    """Return an error as a problem; the details of a fault of the service itself are logged too."""
    status = next(status for kind, status in _STATUSES if isinstance(error, kind))
    if status >= 500:
        _LOG.warning("%s: %s", type(error).__name__, error.message)
    name = type(error).__name__
    return Problem(type=name, title=_TITLES[status], status=status, detail=error.message, fix=error.fix)


def _response(problem: Problem) -> JSONResponse:
    headers = {"Retry-After": _RETRY_SECONDS[problem.status]} if problem.status in _RETRY_SECONDS else {}
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(problem.model_dump(exclude_none=True), problem.status, headers, media_type=MEDIA_TYPE)


def add_handlers(app: FastAPI) -> None:
    """Let the application answer every error with a problem."""

    @app.exception_handler(HopRankError)
    async def hoprank(request: Request, error: HopRankError) -> JSONResponse:
        grant = getattr(request.state, "grant", None)
        return response_of(grant.worded(error) if grant else error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        faults = [{"field": ".".join(map(str, one["loc"])), "message": str(one["msg"])} for one in error.errors()]
        detail = "; ".join(f"{fault['field']}: {fault['message']}" for fault in faults)
        return response(422, "RequestError", f"{detail}.", "See /openapi.json.", faults=faults)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        if isinstance(error.__cause__, HopRankError):
            return response_of(error.__cause__)
        answer = response(error.status_code, "RequestError", str(error.detail), "See /openapi.json.")
        answer.headers.update(error.headers or {})
        if error.status_code == 405:
            answer.headers["Allow"] = ", ".join(_allowed(request))
        return answer


def _allowed(request: Request) -> list[str]:
    """Return the methods of all routes that match a request's path; Starlette names those of the first."""
    routes = (route for route in request.app.routes if isinstance(route, Route))
    matching = (route for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    return sorted({method for route in matching for method in route.methods or ()})
