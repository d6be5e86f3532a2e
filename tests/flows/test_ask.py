"""Answers on a real corpus, from Python, with an event loop, and on the command line."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from typing import Any

import pytest

from pipeline import AsyncHopRank, HopRank
from pipeline.answer.records import Answer
from pipeline.retrieve.context import Context
from pipeline.settings import AskSettings
from tests.answer.endpoint import Endpoint, chat_endpoint, dies, errs, hangs, says, texts_of
from tests.cli.conftest import Hoprank

pytestmark = pytest.mark.slow

QUESTION = "Who met Charles Babbage at a party?"


@pytest.fixture(scope="module")
def running() -> Iterator[Endpoint]:
    with chat_endpoint() as server:
        yield server


@pytest.fixture
def endpoint(running: Endpoint) -> Endpoint:
    running.will()
    return running


@pytest.fixture
def asking(hoprank: HopRank, endpoint: Endpoint) -> HopRank:
    """A connection with a model."""
    ask = AskSettings.model_validate(
        {**hoprank.settings.ask.model_dump(), "base_url": endpoint.root, "model": "some/model", "timeout": 20}
    )
    return HopRank(hoprank.client, hoprank.embedder, hoprank.settings.model_copy(update={"ask": ask}))


@pytest.fixture
def command(endpoint: Endpoint, server_environment: Mapping[str, str]) -> Hoprank:
    """A runner of commands that have a model."""
    return Hoprank({**server_environment, "HOPRANK_ASK__BASE_URL": endpoint.root, "HOPRANK_ASK__MODEL": "some/model"})


def test_python_returns_the_answer_or_streams_it(asking: HopRank, endpoint: Endpoint, library: str) -> None:
    endpoint.will(says("Ada Lovelace [1]."), says("Ada ", "Lovelace [", "1]."))

    answer = asking.ask(QUESTION, corpus=library, tokens=100, filters={"document": "ada"})
    first, *pieces, last = asking.ask_stream(QUESTION, corpus=library, tokens=100, filters={"document": "ada"})

    assert (answer.answer, [one.document for one in answer.citations]) == ("Ada Lovelace [1].", ["ada"])
    assert isinstance(first, Context)
    assert isinstance(last, Answer)
    assert texts_of(pieces) == last.answer == answer.answer
    assert answer.context.tokens <= 100


def test_an_event_loop_goes_on_while_the_model_writes_and_leaves_it_when_cancelled(
    asking: HopRank, endpoint: Endpoint, library: str
) -> None:
    async def run() -> Any:
        connection = AsyncHopRank(asking)
        answer = await connection.ask(QUESTION, corpus=library)
        async with aclosing(connection.ask_stream(QUESTION, corpus=library)) as events:
            streamed = [one async for one in events]
        endpoint.asked.clear()
        waiting = asyncio.ensure_future(connection.ask(QUESTION, corpus=library))
        while not endpoint.asked.is_set():
            await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return answer, streamed, waiting.cancelled()

    endpoint.will(says("Ada [1]."), says("Ada ", "Lovelace [1]."), hangs())
    answer, streamed, was_cancelled = asyncio.run(run())

    assert answer.answer == "Ada [1]."
    assert streamed[-1].answer == "Ada Lovelace [1]."
    assert was_cancelled
    assert endpoint.gone.wait(2)


def test_the_command_prints_the_answer_its_sources_and_what_was_sent(
    command: Hoprank, endpoint: Endpoint, library: str
) -> None:
    endpoint.will(says("<think>Hm.</think>Ada \x1b[31m[bold]Love", "lace\x1b]0;x\x07 [", "1], in [9", "9]."))

    result = command("ask", QUESTION, "--corpus", library, "--tokens", "200")

    answer, blank, source, *_ = result.stdout.splitlines()
    assert answer == "Ada [31m[bold]Lovelace]0;x [1], in [99?]."
    assert (blank, source.startswith("[1] ")) == ("", True)
    assert "tokens of context; some/model" in result.stdout
    assert "The answer cites what isn't in the context: [99?]." in result.stderr


def test_the_command_prints_the_whole_as_json(command: Hoprank, library: str) -> None:
    answer = command.json("ask", QUESTION, "--corpus", library)

    assert answer["citations"][0]["number"] == 1
    assert answer["answered"]
    assert answer["context_tokens"] == answer["context"]["tokens"] > 0


def test_without_a_model_the_command_says_what_it_would_send_and_how_to_set_one_up(
    command: Hoprank, endpoint: Endpoint, server_environment: Mapping[str, str], library: str
) -> None:
    plain = Hoprank(server_environment)
    without = plain("ask", QUESTION, "--corpus", library)
    document = json.loads(plain("ask", QUESTION, "--corpus", library, "--json").stdout)
    dry = command("ask", QUESTION, "--corpus", library, "--dry-run")

    assert "Ada Lovelace met Charles Babbage at a party" in without.stdout
    assert without.stdout.rstrip().endswith(f"Question: {QUESTION}")
    assert "HOPRANK_ASK__BASE_URL and HOPRANK_ASK__MODEL" in without.stderr
    assert document["model"] is None
    assert document["messages"][1]["content"].endswith(f"Question: {QUESTION}")
    assert "HOPRANK_ASK__BASE_URL" not in dry.stderr
    assert f"Question: {QUESTION}" in dry.stdout
    assert endpoint.requests == []


def test_trouble_ends_the_command_with_what_was_written_and_an_error(
    command: Hoprank, endpoint: Endpoint, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.will(dies("Ada Lovelace, at a party in 1833"), errs(404, {"error": "no such model"}))

    broken = command("ask", QUESTION, "--corpus", library, code=1)
    missing = command("ask", QUESTION, "--corpus", library, code=2)

    assert broken.stdout == "Ada Lovelace, at a party in 1833\n"
    assert "broke off" in broken.stderr
    assert "no such model" in missing.stderr

    monkeypatch.setitem(sys.modules, "openai", None)
    assert "[ask]" in command("ask", QUESTION, "--corpus", library, code=2).stderr
