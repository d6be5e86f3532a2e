"""``hoprank ask``: an answer by a language model of the user's own, with citations that are checked."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from pipeline.cli.deferred import chat, prompt
from pipeline.cli.deferred import question as questions
from pipeline.cli.options import Passages, Reading, Run, read_filter
from pipeline.cli.views.answer import request_text, show_answer
from pipeline.cli.views.hits import warn_of_search
from pipeline.cli.views.output import print_json, say, spinner, warn
from pipeline.errors import ConfigurationError

if TYPE_CHECKING:
    from pipeline.api import HopRank
    from pipeline.settings import AskSettings


def ask(
    question: Annotated[str, Argument(metavar="QUESTION", help="What the model shall answer from the corpus.")],
    passages: Passages = Passages(),
    tokens: Annotated[
        int | None,
        Option(
            "--tokens", "-t", min=1, help="How many tokens the passages may take in all.", show_default="ask.tokens"
        ),
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Print what would be sent, and send nothing.")] = False,
    run: Reading = Run(),
) -> None:
    """Answer a question from a corpus, with citations, by a language model of your own.

    `hoprank help ask` shows how to set one up. Without one, this prints what it would send.
    """
    questions.refuse_empty(question)
    conditions = read_filter(passages.filters)
    with run.connect() as hoprank:
        options = {"tokens": tokens, **passages.asked(hoprank, conditions)}
        known = hoprank.settings.retrieve.known_relevance
        settings = hoprank.settings.ask
        missing = _missing(settings)
        if missing or dry_run:
            _show_request(hoprank, question, options, as_json=run.as_json)
            if missing:
                warn(f"{missing}")
        elif run.as_json:
            with spinner(f"Asking {settings.model}"):
                answer = hoprank.ask(question, **options)
            print_json(answer.to_json())
        else:
            with closing(hoprank.ask_stream(question, **options)) as events:
                show_answer(events, settings.model, known)


def _missing(settings: AskSettings) -> ConfigurationError | None:
    try:
        chat.check_model(settings)
    except ConfigurationError as error:
        return error
    return None


def _show_request(hoprank: HopRank, question: str, options: dict[str, Any], *, as_json: bool) -> None:
    """Print what would be sent to a model."""
    settings = hoprank.settings.ask
    with spinner("Searching"):
        found = hoprank.context(question, **{**options, "tokens": options["tokens"] or settings.tokens})
    warn_of_search(found.metadata, hoprank.settings.retrieve.known_relevance)
    messages = prompt.messages_of(found)
    if as_json:
        print_json({"model": settings.model or None, "messages": messages, "context": found.to_json()})
    else:
        say(request_text(messages))
        warn(f"Nothing was sent. The passages have {found.tokens:,} tokens.")
    if not found.passages:
        warn("Nothing in the corpus answers this, so no model would be asked.")
