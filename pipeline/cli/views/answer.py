"""An answer for people: printed as it is written, then the passages that it cites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING

from rich.text import Text

from pipeline.cli.deferred import answers, citations, contexts
from pipeline.cli.views.hits import place, warn_of_search
from pipeline.cli.views.output import say, show, spinner, warn
from pipeline.text.prose import counted

if TYPE_CHECKING:
    from pipeline.answer.records import Answer, AnswerEvent

_DISCARDED = "\n\n(That was the model's reasoning. Its answer:)\n"


def request_text(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the messages of a request as text, one below the other."""
    return "\n\n".join(f"{one['role']}:\n{one['content']}" for one in messages)


def show_answer(events: Iterator[AnswerEvent], model: str, known: float) -> None:
    """Print an answer as it is written, then the passages that it cites and what its reader should know.

    ``known`` is the relevance of the best passage below which the corpus seems to know nothing.
    """
    with spinner("Searching"):
        found = next(events)
    if isinstance(found, contexts.Context):
        warn_of_search(found.metadata, known)
    with spinner(f"Asking {model}"):
        first = next(events)
    try:
        whole = _write(chain((first,), events))
    finally:
        say("")
    _show_sources(whole)
    for warning in whole.warnings:
        if warning not in whole.context.metadata.get("warnings", ()):  # told before the answer
            warn(warning)


def _write(events: Iterator[AnswerEvent]) -> Answer:
    for event in events:
        if isinstance(event, answers.Answer):
            return event
        say(event.text if isinstance(event, citations.Piece) else _DISCARDED, end="")
    raise AssertionError("an answer's stream ends with the answer")


def _show_sources(whole: Answer) -> None:
    lines = [Text()] if whole.citations else []
    for citation in whole.citations:
        head = " > ".join(part for part in (citation.title, citation.heading) if part)
        lines.append(Text(f"[{citation.number}] {head}").append(f"  {place(asdict(citation))}", style="dim"))
    show(*lines, Text(), Text(_sent(whole), style="dim"))


def _sent(whole: Answer) -> str:
    if whole.model is None:
        return "Nothing was sent: no passage is relevant enough."
    cited = f"{len(whole.citations)} of {counted(len(whole.context.passages), 'passage')} cited"
    return f"{cited}; {counted(whole.context.tokens, 'token')} of context; {whole.model}"
