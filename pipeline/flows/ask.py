"""Ask: question -> context -> prompt -> language model -> pieces -> answer, its citations checked.

The model is optional, and the last step: without a passage that is relevant it isn't asked.
"""

import asyncio
import contextvars
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import Future
from contextlib import aclosing, suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from pipeline.answer.chat import check_model, write
from pipeline.answer.citations import Piece
from pipeline.answer.prompt import messages_of
from pipeline.answer.reader import UNANSWERED, AnswerReader, Discarded
from pipeline.answer.records import AnswerEvent, answer_of
from pipeline.errors import AnswerFailed
from pipeline.retrieve.context import Context
from pipeline.settings import AskSettings, Settings

_Event = TypeVar("_Event")


async def answer(
    settings: Settings, context: Context, min_relevance: float | None = None
) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the context, the pieces of the answer as the model writes them, and the whole answer.

    The model isn't asked without passages, nor if the most relevant one is below ``min_relevance``, by default
    ``retrieve.known_relevance``. Closing the generator ends the model's work.

    Raises the errors of :func:`pipeline.answer.chat.write`, and AnswerFailed if the model writes no answer.
    """
    check_model(settings.ask)
    yield context
    reader, pieces, finish = AnswerReader(len(context.passages)), list[Piece](), None
    least = settings.retrieve.known_relevance if min_relevance is None else min_relevance
    relevance = context.metadata.get("relevance")
    model: str | None = settings.ask.model
    if not context.passages or (relevance is not None and relevance < least):
        model = None
        reader.answered, finish = False, "stop"
        pieces.append(Piece(UNANSWERED))
        yield pieces[0]
    else:
        async with aclosing(write(settings.ask, messages_of(context))) as deltas:
            async for delta in deltas:
                finish = delta.finish
                for piece in reader.feed(delta.text):
                    _keep(pieces, piece)
                    yield piece
        for piece in reader.end():
            _keep(pieces, piece)
            yield piece
    whole = answer_of(context, model, pieces, answered=reader.answered, finish=finish)
    if not whole.answer:
        raise _empty(settings.ask, finish)
    yield whole


def _keep(pieces: list[Piece], piece: Piece | Discarded) -> None:
    if isinstance(piece, Piece):
        pieces.append(piece)
    else:
        pieces.clear()


def _empty(settings: AskSettings, finish: str | None) -> AnswerFailed:
    if finish == "length":
        fix = "It reached its limit of tokens before the answer: allow more, or have it reason less (ask.parameters)."
    else:
        fix = "Ask again, or check that the endpoint streams chat completions and that ask.model is a chat model."
    return AnswerFailed(f"The model {settings.model} wrote no answer.", fix)


def waited(events: AsyncGenerator[_Event, None]) -> Generator[_Event, None, None]:
    """Yield what an asynchronous generator yields, which runs in a thread of its own; closing this one closes it."""
    # Not in the caller's thread, which may have an event loop that runs, as that of a notebook does.
    arrived: SimpleQueue[_Event | BaseException | None] = SimpleQueue()
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = Future()

    async def run() -> None:
        started.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        try:
            async with aclosing(events):
                async for event in events:
                    arrived.put(event)
            arrived.put(None)
        except BaseException as error:
            arrived.put(error)

    context = contextvars.copy_context()  # with the span of the caller
    thread = Thread(target=context.run, args=(asyncio.run, run()), name="hoprank-ask", daemon=True)
    thread.start()
    loop, task = started.result()
    assert task is not None  # noqa: S101 - it runs
    try:
        while (event := arrived.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event
    finally:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
