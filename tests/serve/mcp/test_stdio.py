"""The server over standard streams: what it writes where, when it connects, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from tests.cli.test_exit_codes import heed_interrupts
from tests.otel_collector import attributes, collecting
from tests.serve.mcp.conftest import HOPRANK
from tests.serve.mcp.test_http import INITIALIZE

UNREACHABLE = {"NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "secret"}


@contextmanager
def started(environment: Mapping[str, str], *options: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [*HOPRANK, "mcp", *options],
        env=os.environ | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ask(process: subprocess.Popen[str], **message: Any) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())["result"] if "id" in message else None


@pytest.mark.slow
def test_it_answers_before_it_is_connected_and_ends_with_its_input() -> None:
    with started(UNREACHABLE) as process:
        assert ask(process, **INITIALIZE)["serverInfo"]["name"] == "hoprank"
        assert len(ask(process, id=2, method="tools/list")["tools"]) == 8
        refused = ask(process, id=3, method="tools/call", params={"name": "list_corpora", "arguments": {}})
        rest, _ = process.communicate(timeout=30)

    assert refused["isError"] is True
    assert "No Neo4j answers" in refused["content"][0]["text"]
    assert "Traceback" not in refused["content"][0]["text"]
    assert rest == ""
    assert process.returncode == 0


def test_writes_are_left_out_and_verbs_added_on_demand() -> None:
    with started(UNREACHABLE, "--read-only", "--corpus", "docs", "--domain", "skills", "--domain", "vault") as process:
        ask(process, **INITIALIZE)
        tools = {tool["name"]: tool for tool in ask(process, id=2, method="tools/list")["tools"]}

    assert len(tools) == 12
    assert {"skills_search", "skills_order", "vault_context", "vault_links"} < tools.keys()
    assert not {"ingest", "forget"} & tools.keys()
    assert tools["search"]["inputSchema"]["properties"]["corpus"]["default"] == "docs"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals for another process")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_ends_it(number: signal.Signals, code: int) -> None:
    with started(UNREACHABLE) as process:
        ask(process, **INITIALIZE)
        process.send_signal(number)

        assert process.wait(20) == code


@pytest.mark.parametrize("written", ["calls", "half a message", "nothing"])
def test_a_client_that_goes_away_in_a_call_ends_it_quietly(written: str) -> None:
    with started(UNREACHABLE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        ask(process, **INITIALIZE)
        process.stdout.close()
        call = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "list_corpora", "arguments": {}}}
        with suppress(BrokenPipeError):
            for number in range(2, 20):
                process.stdin.write(json.dumps({**call, "id": number}) + "\n")
            process.stdin.write('{"jsonrpc": "2.0", "id": 99, "meth' if written == "half a message" else "")
            process.stdin.flush()
        with suppress(BrokenPipeError):
            process.stdin.close()
        assert process.wait(60) == 0
        assert process.stderr.read() == ""


@pytest.mark.slow
def test_a_call_is_traced_to_the_end_of_the_server(server_environment: dict[str, str], library: str) -> None:
    with (
        collecting() as collector,
        started({**server_environment, "HOPRANK_OBSERVE__TRACES": collector.url}) as process,
    ):
        ask(process, **INITIALIZE)
        arguments = {"query": "Who owned the crimson cranes?", "corpus": library}
        params = {"name": "search", "arguments": arguments}
        assert not ask(process, id=2, method="tools/call", params=params).get("isError")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0

        call = collector.wait_for(lambda span: span.name == "tools/call search")
        assert attributes(call)["gen_ai.operation.name"] == "execute_tool"
        assert f"retrieval {library}" in [span.name for span in collector.below(call)]
        assert b"crimson" not in collector.raw
