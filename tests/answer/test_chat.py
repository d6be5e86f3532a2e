"""What a chat endpoint is sent, and what its answers, refusals, faults and silence become."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from pipeline.answer import chat
from pipeline.answer.chat import check_model, endpoint_of
from pipeline.answer.records import Answer
from pipeline.errors import AnswerFailed, ConfigurationError, HopRankError
from pipeline.flows.ask import answer, waited
from pipeline.retrieve.context import Context, Passage
from pipeline.settings import Settings, load_settings
from tests.answer.endpoint import Endpoint, Reply, chat_endpoint, dies, errs, event, hangs, says, sends, texts_of

KEY = "sk-very-secret"
PASSAGE = Passage(
    text="Ada met Babbage in 1833.",
    document="ada.md",
    title="Ada",
    heading="Life",
    source="ada.md:1-3",
    path="/books/ada.md",
    line_start=1,
    line_end=3,
    rank=1,
    chunks=("c1",),
)
CONTEXT = Context("When did Ada meet Babbage?", (PASSAGE,), 30, 2000, 0, {"relevance": 0.9})


@pytest.fixture(scope="module")
def running() -> Iterator[Endpoint]:
    with chat_endpoint() as server:
        yield server


@pytest.fixture
def server(running: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    monkeypatch.setattr(chat, "_RETRIES", 0)
    running.will()
    return running


def settings(server: Endpoint, **values: Any) -> Settings:
    return load_settings({"ask": {"base_url": server.root, "model": "some/model", "timeout": 20, **values}})


def asked(server: Endpoint, context: Context = CONTEXT, **values: Any) -> list[Any]:
    return list(waited(answer(settings(server, **values), context)))


def answered(server: Endpoint, context: Context = CONTEXT, **values: Any) -> Answer:
    last = asked(server, context, **values)[-1]
    assert isinstance(last, Answer)
    return last


def test_the_context_comes_first_then_pieces_then_the_answer_with_what_it_cites(server: Endpoint) -> None:
    first, *pieces, last = asked(server)

    assert first is CONTEXT
    assert len(pieces) > 1
    assert texts_of(pieces) == last.answer == "Ada met Babbage in 1833 [1]."
    assert last.to_json() == {
        "answer": "Ada met Babbage in 1833 [1].",
        "answered": True,
        "complete": True,
        "relevance": 0.9,
        "model": "some/model",
        "citations": [
            {
                "number": 1,
                "document": "ada.md",
                "title": "Ada",
                "heading": "Life",
                "path": "/books/ada.md",
                "line_start": 1,
                "line_end": 3,
            }
        ],
        "unknown_citations": [],
        "warnings": [],
        "context_tokens": 30,
        "context": CONTEXT.to_json(),
    }


def test_passages_and_question_are_sent_to_the_endpoint_that_the_settings_name(server: Endpoint) -> None:
    asked(server, parameters={"temperature": 0, "reasoning_effort": "low"})

    ((path, _, body),) = server.requests
    assert path == "/v1/chat/completions"
    system, user = (message["content"] for message in body.pop("messages"))
    assert body == {"model": "some/model", "stream": True, "temperature": 0, "reasoning_effort": "low"}
    assert "[1]" in system
    assert PASSAGE.text in user
    assert user.endswith(f"Question: {CONTEXT.question}")


def test_nothing_of_the_environment_goes_to_the_endpoint(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID")
    for name in foreign:
        monkeypatch.setenv(f"OPENAI_{name}", f"foreign-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Foreign: foreign\nAuthorization: Bearer foreign")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    asked(server)
    asked(server, api_key=KEY)

    (_, without, _), (_, with_key, _) = server.requests
    assert "foreign" not in str(server.requests)
    assert "authorization" not in {name.lower() for name in without}
    assert {name.lower(): value for name, value in with_key.items()}["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/", "http://localhost:11434/v1"),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1"),
        ("http://localhost:8000/v1/chat/completions", "http://localhost:8000/v1"),
        ("https://example.org/openai/v1", "https://example.org/openai/v1"),
    ],
)
def test_an_address_may_be_written_in_several_ways(given: str, used: str) -> None:
    assert endpoint_of(given) == used


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([event(reasoning_content="Hm [9]."), event(content="In 1833 [1].", finish="stop")], id="beside"),
        pytest.param(
            [
                event(
                    content=[
                        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                        {"type": "text", "text": "In 1833 [1]."},
                    ],
                    finish="stop",
                )
            ],
            id="in parts",
        ),
    ],
)
def test_reasoning_isn_t_part_of_the_answer(server: Endpoint, events: list[str]) -> None:
    server.will(sends(*events))

    assert answered(server).answer == "In 1833 [1]."


def test_a_question_is_sent_as_far_as_it_is_read(server: Endpoint) -> None:
    asked(server, replace(CONTEXT, question="When? " * 100_000 + "\ud800"))

    assert len(server.prompt) < 11_000


@pytest.mark.parametrize(
    ("pieces", "answer", "warnings"),
    [
        (
            ("In 1833 [1", "], at a par", "ty [", "7]."),
            "In 1833 [1], at a party [7?].",
            ("The answer cites what isn't in the context: [7?].",),
        ),
        (("In 1833.",), "In 1833.", ("The answer cites no passage: nothing ties it to the corpus.",)),
        (("NO ", "ANSWER. The passages lack it."), "The corpus doesn't say. The passages lack it.", ()),
    ],
)
def test_what_ties_an_answer_to_the_passages_is_told(
    server: Endpoint, pieces: tuple[str, ...], answer: str, warnings: tuple[str, ...]
) -> None:
    server.will(says(*pieces))

    last = answered(server)

    assert (last.answer, last.warnings, last.answered) == (answer, warnings, "NO " not in pieces)
    assert last.unknown_citations == ((7,) if "7" in answer else ())


def test_without_passages_no_model_is_asked(server: Endpoint) -> None:
    nothing = Context("Who?", (), 0, 2000, 0, {})

    last = answered(server, nothing)

    assert (last.answered, last.answer, last.complete) == (False, "The corpus doesn't say.", True)
    assert server.requests == []


def test_without_a_relevant_passage_no_model_is_asked_unless_one_is_wanted(server: Endpoint) -> None:
    known = settings(server).retrieve.known_relevance
    below = replace(CONTEXT, metadata={"relevance": known / 2, "warnings": ["It seems to know nothing."]})

    last = answered(server, below)
    assert (last.answered, last.answer, last.relevance) == (False, "The corpus doesn't say.", known / 2)
    assert last.model is None
    assert last.warnings == ("It seems to know nothing.",)
    assert server.requests == []

    assert isinstance(list(waited(answer(settings(server), below, 0.0)))[-1], Answer)
    assert len(server.requests) == 1
    assert answered(server, replace(CONTEXT, metadata={"relevance": None})).answered
    assert answered(server, replace(CONTEXT, metadata={"relevance": known})).answered


@pytest.mark.parametrize(
    ("finish", "warning"),
    [("length", "reached its limit of tokens"), (None, "no reason"), ("content_filter", "content_filter")],
)
def test_an_answer_that_may_be_cut_off_says_so(server: Endpoint, finish: str | None, warning: str) -> None:
    server.will(says("In 1833 [1] and", finish=finish))

    last = answered(server)

    assert last.answer == "In 1833 [1] and"
    assert not last.complete
    assert warning in last.warnings[0]


WINDOW = {"message": "This model's maximum context length is 4096 tokens.", "code": "context_length_exceeded"}
TROUBLES: dict[str, tuple[Reply, type[HopRankError], str]] = {
    "a wrong key": (
        errs(401, {"error": {"message": f"Incorrect key {KEY}"}}),
        ConfigurationError,
        r"status 401: Incorrect key \*\*\*\nSet HOPRANK_ASK__API_KEY",
    ),
    "a key for less": (errs(403, "no"), ConfigurationError, "status 403: no\n.*may use the model"),
    "no such model": (
        errs(404, {"error": {"message": "model 'x' not found"}}),
        ConfigurationError,
        "status 404: model 'x' not found\n.*ask.base_url.*ask.model",
    ),
    "moved": (errs(307, "", Location="http://127.0.0.1:9/"), ConfigurationError, "status 307"),
    "an unknown field": (errs(400, {"error": "no such field"}), ConfigurationError, "no such field\n.*ask.parameters"),
    "too long": (errs(400, {"error": WINDOW}), ConfigurationError, "too long for some/model.*4096.*\n.*ask.tokens"),
    "too long within": (
        sends('data: {"error": {"message": "the request exceeds the available context size"}}\n\n'),
        ConfigurationError,
        "too long for some/model",
    ),
    "too many requests": (errs(429, {"error": "slow"}, Retry_After="300"), AnswerFailed, "status 429.*\n.*in 300 s"),
    "broken": (errs(500, "<h1>oops</h1>", "text/html"), AnswerFailed, "status 500: <h1>oops</h1>"),
    "an error within": (
        sends(event(content="In "), 'data: {"error": {"message": "out of memory"}}\n\n'),
        AnswerFailed,
        "broke off with 'out of memory'",
    ),
    "no JSON": (sends("data: {nope\n\n"), AnswerFailed, "no stream of chat completions"),
    "a list": (sends("data: [1, 2]\n\n"), AnswerFailed, "no stream of chat completions"),
    "a number": (sends("data: 5\n\n"), AnswerFailed, "no stream of chat completions"),
    "odd choices": (sends('data: {"choices": [5]}\n\n'), AnswerFailed, "no stream of chat completions"),
    "odd content": (
        sends('data: {"choices": [{"delta": {"content": {"a": 1}}}]}\n\n'),
        AnswerFailed,
        "no stream of chat completions",
    ),
    "a page": (errs(200, "<html>", "text/html"), AnswerFailed, "wrote no answer"),
    "nothing": (says(""), AnswerFailed, "wrote no answer"),
    "only reasoning": (says("<think>Hm, so", finish="length"), AnswerFailed, "wrote no answer.\n.*limit of tokens"),
    "dies": (dies("In 18"), AnswerFailed, "broke off: peer closed connection"),
    "hangs": (hangs(event(content="In ")), AnswerFailed, r"took longer than ask.timeout, 0\.2 s"),
    "hangs before": (hangs(), AnswerFailed, "took longer than ask.timeout"),
}


@pytest.mark.parametrize("kind", TROUBLES)
def test_trouble_ends_in_one_clear_error(server: Endpoint, kind: str) -> None:
    reply, error, said = TROUBLES[kind]
    server.will(reply)

    with pytest.raises(error, match=f"(?s){said}") as caught:
        asked(server, api_key=KEY, timeout=0.2 if kind.startswith("hangs") else 20)

    assert caught.value.fix
    assert KEY not in str(caught.value)
    assert len(server.requests) == 1


def test_a_failure_that_passes_costs_only_time(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "_RETRIES", 1)
    server.will(errs(503, "loading the model", Retry_After="0.01"))

    assert answered(server).answered
    assert len(server.requests) == 2


def test_nothing_that_listens_is_named(server: Endpoint) -> None:
    with pytest.raises(AnswerFailed, match=r"http://127\.0\.0\.1:9/v1 can't be reached"):
        asked(server, base_url="http://someone:password@127.0.0.1:9")


def test_an_answer_without_end_is_given_up(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "_MOST_CHARACTERS", 1_000)
    server.will(says(*["word " * 20] * 20))

    with pytest.raises(AnswerFailed, match="wrote more than 1,000 characters"):
        asked(server)


def test_closing_the_iterator_ends_the_request(server: Endpoint) -> None:
    server.will(hangs(event(content="In 1833, at a party that Babbage gave,")))

    with closing(waited(answer(settings(server), CONTEXT))) as events:
        next(events), next(events)
        assert not server.gone.is_set()

    assert server.gone.wait(2)
    assert not [thread for thread in threading.enumerate() if thread.name == "hoprank-ask"]


def test_an_interrupt_while_the_model_is_silent_ends_the_request(server: Endpoint) -> None:
    server.will(hangs())
    events = waited(answer(settings(server), CONTEXT))
    next(events)

    def interrupt() -> None:
        server.asked.wait(5)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    # A worker of pytest-xdist ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            next(events)
    finally:
        signal.signal(signal.SIGINT, before)

    thread.join()
    assert time.monotonic() - began < 4
    assert server.gone.wait(2)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "ask.base_url and ask.model are empty"),
        ({"model": "m"}, "ask.base_url is empty"),
        ({"base_url": "http://localhost:1"}, "ask.model is empty"),
    ],
)
def test_what_is_missing_is_named(values: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=f"(?s){said}.*HOPRANK_ASK__BASE_URL and HOPRANK_ASK__MODEL"):
        check_model(load_settings({"ask": values}).ask)


def test_a_key_that_no_header_takes_is_refused_and_not_shown(server: Endpoint) -> None:
    with pytest.raises(ConfigurationError, match="HOPRANK_ASK__API_KEY") as caught:
        asked(server, api_key=f"{KEY}\n")

    assert KEY not in str(caught.value)
    assert server.requests == []


@pytest.mark.slow
def test_the_client_is_imported_when_a_model_is_asked_and_not_before() -> None:
    code = "import sys, pipeline.api, pipeline.async_api; print('openai' in sys.modules)"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "False\n"
