"""The state of a running service, and the dependencies by which routes read it."""

import asyncio
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from pipeline.api import HopRank
from pipeline.async_api import AsyncHopRank
from pipeline.errors import LimitExceeded, Unauthenticated
from pipeline.serve.access import Access, Grant
from pipeline.serve.gate import Gate, Places, Shared
from pipeline.serve.http.metrics import Contents, Metrics
from pipeline.serve.http.models import Asked, Readiness
from pipeline.serve.jobs.runner import JobRunner
from pipeline.serve.jobs.store import JobStore
from pipeline.settings import ServeSettings

bearer = HTTPBearer(auto_error=False, description="A token of serve.token or serve.tokens, if there are any.")


@dataclass(frozen=True, slots=True)
class State:
    """Shared by the routes of a service. ``stopping`` is set when it shuts down, so that streams of events end."""

    hoprank: AsyncHopRank
    settings: ServeSettings
    access: Access
    gate: Gate
    answers: Places
    jobs: JobStore
    runner: JobRunner
    metrics: Metrics
    readiness: Shared[Readiness]
    contents: Shared[Contents]
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def connection(self) -> HopRank:
        """The connection itself, for calls in the gate."""
        return self.hoprank.hoprank

    def check(self, grant: Grant, body: Asked) -> None:
        """Raise what refuses a question before it is searched: Forbidden for its corpus, or LimitExceeded."""
        grant.check(body.corpus)
        self.check_question(body.query)
        self.check_top_k(body.top_k)

    def check_top_k(self, top_k: int) -> None:
        """Raise LimitExceeded if ``top_k`` is more than the settings allow."""
        if top_k > self.settings.max_top_k:
            raise LimitExceeded(f"top_k is {top_k:,}; {self.settings.max_top_k:,} is the most.", "Ask for fewer.")

    def check_question(self, question: str) -> None:
        """Raise LimitExceeded if the question is longer than the settings allow."""
        if len(question) > self.settings.max_question:
            raise LimitExceeded(
                f"The question has {len(question):,} characters; {self.settings.max_question:,} are the most.",
                "Ask for less at a time.",
            )


def _state(request: Request) -> State:
    state: State = request.app.state.service
    return state


def _grant(request: Request, _: Annotated[object, Depends(bearer)]) -> Grant:
    grant = _state(request).access.grant(request.headers.get("Authorization"))
    request.state.grant = grant
    return grant


def _is_known(request: Request) -> bool:
    try:
        return bool(_grant(request, None))
    except Unauthenticated:
        return False


Service = Annotated[State, Depends(_state)]
Granted = Annotated[Grant, Depends(_grant)]
Known = Annotated[bool, Depends(_is_known)]
"""Whether the request's token is known, or none is needed."""
