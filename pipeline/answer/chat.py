"""Ask an endpoint that speaks OpenAI's chat protocol, by the client of the package openai, which is an extra."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pipeline.addresses import is_loopback, without_password
from pipeline.answer.prompt import Message
from pipeline.errors import AnswerFailed, ConfigurationError, ExtraMissing, HopRankError
from pipeline.settings import AskSettings
from pipeline.telemetry import leaf, of_model, place_of

_T = TypeVar("_T")

_KEY = "HOPRANK_ASK__API_KEY"

_RETRIES = 2
"""More attempts after status 408, 409, 429 and 5xx, and if nothing can be reached: the client's own default."""

_CONNECT_SECONDS = 10.0  # chosen by hand
_MOST_CHARACTERS = 200_000  # of an answer: a hundred pages; chosen by hand
_SHOWN = 300  # characters of an endpoint's words in an error; chosen by hand

_SENT = {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"}
"""The headers of a request, beside Authorization: the client adds others, some from the environment."""

_TOO_LONG = re.compile(
    r"context.{0,40}(?:length|size|window|exceed)|too (?:long|many tokens)|exceed.{0,40}context", re.I
)
"""The words of endpoints for a prompt that is longer than the model reads."""


@dataclass(frozen=True, slots=True)
class Delta:
    """More of what the model writes; ``finish`` tells why it ended, in the last one."""

    text: str
    finish: str | None = None


def check_model(settings: AskSettings) -> None:
    """Raise ConfigurationError unless the settings name an endpoint and its model."""
    missing = [f"ask.{name}" for name in ("base_url", "model") if not getattr(settings, name)]
    if missing:
        raise ConfigurationError(
            f"No language model is set up to answer: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'}"
            " empty.",
            "Set HOPRANK_ASK__BASE_URL and HOPRANK_ASK__MODEL, for example to http://localhost:11434/v1 and the name"
            " of a model of Ollama there; see `hoprank help ask`.",
        )


def endpoint_of(base_url: str) -> str:
    """Return the address that the protocol's paths are below: ``/v1`` is added to one without a path."""
    url = base_url.rstrip("/").removesuffix("/chat/completions")
    return url if urlsplit(url).path else f"{url}/v1"


async def write(settings: AskSettings, messages: Sequence[Message]) -> AsyncGenerator[Delta, None]:
    """Yield what the model writes, as it arrives, the last with its ``finish``; closing the iterator ends the request.

    Raises ConfigurationError if the endpoint refuses the request or the model is unknown, AnswerFailed if it fails,
    writes what isn't the protocol, or takes longer than ``ask.timeout``; ExtraMissing without the package openai.
    """
    await asyncio.to_thread(_import_client)  # it takes a second, or some, for which the event loop would stand still
    deadline = time.monotonic() + settings.timeout
    characters = 0
    with _traced(settings):
        async with _named_errors(settings), _stream(settings, messages, deadline) as stream:
            chunks = aiter(stream)
            while (chunk := await _within(deadline, anext(chunks, None))) is not None:
                delta = _delta(chunk)
                characters += len(delta.text)
                if characters > _MOST_CHARACTERS:
                    raise _failed(settings, f"wrote more than {_MOST_CHARACTERS:,} characters")
                yield delta
                if delta.finish:  # what follows is no text, and some endpoints leave the connection open
                    return


def _traced(settings: AskSettings) -> AbstractContextManager[object]:
    told = {**of_model("chat", settings.model, "openai"), **place_of(settings.base_url)}
    return leaf(f"chat {settings.model}", told, alone=True)


def _import_client() -> None:
    try:
        import openai
        import openai.resources.chat.completions  # noqa: F401 - it is imported at its first use
    except ImportError as error:
        raise ExtraMissing.of("ask", error) from error


@asynccontextmanager
async def _stream(settings: AskSettings, messages: Sequence[Message], deadline: float) -> AsyncIterator[Any]:
    """Send the request, and yield the chunks of its answer as they come."""
    import openai

    url, key = endpoint_of(settings.base_url), _key(settings)

    async def leave_ours(request: Any) -> None:
        has_login = "@" in urlsplit(url).netloc and not key
        for name in set(request.headers) - _SENT - ({"authorization"} if has_login else set()):
            del request.headers[name]
        if key:
            request.headers["authorization"] = f"Bearer {key}"

    http = openai.DefaultAsyncHttpxClient(
        event_hooks={"request": [leave_ours]},
        follow_redirects=False,  # the question and the passages go where the settings say, and nowhere else
        trust_env=not is_loopback(urlsplit(url).hostname or ""),  # a proxy can't reach this machine
    )
    async with openai.AsyncOpenAI(
        base_url=url,
        api_key=key or "none",  # without one, the client would take that of another endpoint from the environment
        http_client=http,
        max_retries=_RETRIES,
        timeout=openai.Timeout(settings.timeout, connect=_CONNECT_SECONDS),
    ) as client:
        sent = client.chat.completions.create(
            model=settings.model, messages=messages, stream=True, extra_body=settings.parameters
        )
        async with await _within(deadline, sent) as stream:
            yield stream


def _key(settings: AskSettings) -> str:
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError("The key of the chat endpoint isn't plain ASCII.", f"Correct {_KEY}.")
    return key


async def _within(deadline: float, awaited: Awaitable[_T]) -> _T:
    """Return what is awaited; no socket's time limit ends a stream that trickles."""
    # Not by wait_for, which in Python 3.11 forgets a cancellation that comes together with a chunk.
    async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
        return await awaited


def _delta(chunk: Any) -> Delta:
    """Return what a chunk adds; its ``reasoning_content`` is no part of the answer."""
    try:
        if not chunk.choices:  # as of a chunk that tells the usage
            return Delta("")
        choice = chunk.choices[0]
        text = choice.delta.content or choice.delta.refusal or ""
        if isinstance(text, list):  # as Mistral's, which has the reasoning beside the text
            text = "".join(part["text"] for part in text if part["type"] == "text")
    except (AttributeError, LookupError, TypeError):
        raise ValueError from None
    if not isinstance(text, str):
        raise ValueError  # noqa: TRY004 - named for the endpoint below
    return Delta(text, choice.finish_reason)


@asynccontextmanager
async def _named_errors(settings: AskSettings) -> AsyncIterator[None]:
    """Raise what the client raises as errors that name the endpoint, its words and what to do."""
    import openai

    try:
        yield
    except (TimeoutError, openai.APITimeoutError):
        raise _failed(settings, f"took longer than ask.timeout, {settings.timeout:g} s") from None
    except openai.APIConnectionError as error:
        reason = str(error.__cause__ or "").strip() or "no connection"
        raise _failed(settings, f"can't be reached, or broke off: {_shown(settings, reason)}") from None
    except openai.APIStatusError as error:
        raise _refused(settings, error) from None
    except openai.APIError as error:  # within the stream
        raise _too_long(settings, error.message) or _failed(
            settings, f"broke off with {_shown(settings, error.message)!r}"
        ) from None
    except ValueError:
        raise _failed(settings, "wrote what is no stream of chat completions") from None


def _refused(settings: AskSettings, error: Any) -> HopRankError:
    """Return the error for an answer that isn't a success, in the endpoint's words."""
    status, body = error.status_code, error.body
    words = body.get("message") or body.get("error") or body.get("detail") if isinstance(body, dict) else body
    said = f"answered with status {status}: {_shown(settings, str(words or error.message))}"
    pause = error.response.headers.get("retry-after", "")
    if status == 429:
        wait = f"in {pause} s" if pause.isdecimal() else "later"
        return _failed(settings, said, f"Ask again {wait}: it has too many requests, or your quota is used up.")
    if status >= 500 or status in (408, 409):
        return _failed(settings, said)
    fixes = {
        401: f"Set {_KEY} to a key that it takes.",
        403: f"Set {_KEY} to a key that may use the model.",
        404: "Check ask.base_url, which ends in /v1 mostly, and ask.model: it has to have a model of this name.",
    }
    fix = fixes.get(status, "Check ask.base_url, ask.model and ask.parameters.")
    return _too_long(settings, said) or ConfigurationError(f"The chat endpoint {_named(settings)} {said}", fix)


def _too_long(settings: AskSettings, said: str) -> ConfigurationError | None:
    """Return the error for a prompt that is longer than the model reads, if that is what the endpoint says."""
    if not _TOO_LONG.search(said):
        return None
    return ConfigurationError(
        f"The context is too long for {settings.model}: {_shown(settings, said)}",
        "Send less of it, by a smaller ask.tokens or --tokens, or let the endpoint give the model a larger context.",
    )


def _failed(settings: AskSettings, reason: str, fix: str = "") -> AnswerFailed:
    runs = f"Check that it runs and serves {settings.model} as OpenAI's /v1/chat/completions does; see ask.base_url."
    return AnswerFailed(f"The chat endpoint {_named(settings)} {reason.rstrip('.')}.", fix or runs)


def _named(settings: AskSettings) -> str:
    return without_password(endpoint_of(settings.base_url))


def _shown(settings: AskSettings, words: str) -> str:
    """Return an endpoint's words in one line that isn't long, without the key, which some repeat."""
    key = _key(settings)
    return " ".join((words.replace(key, "***") if key else words).split())[:_SHOWN]
