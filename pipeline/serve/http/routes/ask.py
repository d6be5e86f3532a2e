"""Answers by the language model of the settings, as they are written."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent

from pipeline.answer.chat import check_model
from pipeline.answer.citations import Piece
from pipeline.answer.reader import Discarded
from pipeline.answer.records import AnswerEvent
from pipeline.errors import HopRankError
from pipeline.flows.ask import answer
from pipeline.retrieve.context import Context
from pipeline.serve.http.models import Asking, AskRequest
from pipeline.serve.http.problems import problem_of
from pipeline.serve.http.state import Granted, Service

router = APIRouter(prefix="/v1", tags=["ask"])

_READING_SECONDS = 30.0
"""Beyond ``ask.timeout``, in which a client has to have read an answer: it could else hold a place for ever. Chosen by
hand."""


async def _found(body: AskRequest, service: Service, grant: Granted) -> AsyncIterator[Context]:
    """Find the context, and hold a place while the answer is written: what is refused is no stream yet."""
    service.check(grant, body)
    settings = service.connection.settings.ask
    check_model(settings)
    await service.answers.take()
    request = asyncio.current_task()
    assert request is not None  # noqa: S101 - it runs
    unread = asyncio.get_running_loop().call_later(settings.timeout + _READING_SECONDS, request.cancel)
    try:
        asked = {**body.model_dump(exclude={"query"}), "tokens": body.tokens or settings.tokens}
        yield await service.gate.run(service.connection.context, body.query, **asked)
    finally:
        unread.cancel()
        service.answers.give()


@router.get("/ask", response_model=Asking)
async def asking(service: Service, _: Granted) -> Asking:
    """Tell which language model answers, if one is set up."""
    settings = service.connection.settings.ask
    return Asking(model=settings.model if settings.base_url and settings.model else None)


@router.post("/ask", response_class=EventSourceResponse)
async def ask(
    body: AskRequest, context: Annotated[Context, Depends(_found)], service: Service
) -> AsyncIterator[ServerSentEvent]:
    """Send the context of a question, the answer as it is written, and the whole of it, as server-sent events.

    The events: `context`, the passages; `text`, more of the answer, with `citation` if it is one, which is `known` if a
    passage has its number; `reset`, all text so far was no part of the answer; at the end `done`, the answer with
    its citations, or `error`, a problem.
    """
    try:
        async with aclosing(answer(service.connection.settings, context, body.min_relevance)) as events:
            async for event in events:
                yield _sent(event)
    except HopRankError as error:
        yield ServerSentEvent(event="error", data=problem_of(error).model_dump(exclude_none=True))


def _sent(event: AnswerEvent) -> ServerSentEvent:
    match event:
        case Piece():
            return ServerSentEvent(
                event="text", data={"text": event.text, "citation": event.citation, "known": event.known}
            )
        case Discarded():
            return ServerSentEvent(event="reset", data={})
        case Context():
            return ServerSentEvent(event="context", data=event.to_json())
        case _:
            return ServerSentEvent(event="done", data=event.to_json())
