"""Live MCP servers, real ones: over standard streams and HTTP; and programs that aren't MCP servers."""

from __future__ import annotations

import http.server
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.domains.tools.sources import live
from pipeline.domains.tools.sources.live import list_live
from pipeline.errors import ConfigurationError, SourceError

FIXTURES = Path(__file__).parent / "fixtures"
GARDEN = (sys.executable, str(FIXTURES / "garden_server.py"))
OTHER_PROTOCOL = """
import json
print(json.dumps({"jsonrpc": "2.0", "id": json.loads(input())["id"], "result": {"protocolVersion": 7}}))
input()
"""
PATIENCE = 60
"""Seconds to wait for what comes; for what never comes, tests wait a few."""


@pytest.fixture(autouse=True)
def without_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a garden server over HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    server = subprocess.Popen(
        [*GARDEN, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True
    )
    try:
        wait_for(port)
        yield port
    finally:
        server.terminate()
        server.wait(PATIENCE)


def wait_for(port: int) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < until, "the server didn't start"
            time.sleep(0.05)
        else:
            return


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def refusal(*command: str, timeout: float = PATIENCE) -> SourceError:
    with pytest.raises(SourceError) as caught:
        list_live(command, timeout=timeout)
    assert caught.value.fix
    return caught.value


def test_server_over_standard_streams() -> None:
    read = list_live(GARDEN, timeout=PATIENCE)

    (service,) = read.services
    assert (service.id, service.name, service.description) == (
        "garden",
        "The garden",
        "Beds, plants and the weather over them.",
    )
    tools = {tool.id: tool for tool in read.tools}
    assert list(tools) == ["garden/find_plants", "garden/water_plant", "garden/plan_bed"]
    found = tools["garden/find_plants"]
    assert (found.name, found.title, found.service) == ("find_plants", "Find plants", "garden")
    assert found.description == "Find plants by their name."
    assert found.annotations == {"readOnlyHint": True}
    assert found.input
    assert found.input["properties"]["limit"] == {"default": 10, "title": "Limit", "type": "integer"}
    assert found.output
    assert set(found.output["$defs"]["Plant"]["properties"]) == {"id", "name", "bed"}
    assert tools["garden/plan_bed"].output is None
    assert not read.skipped
    assert not any(tool.faults for tool in read.tools)


@pytest.mark.slow
def test_server_over_http_is_as_over_standard_streams(port: int) -> None:
    assert list_live(f"http://127.0.0.1:{port}/mcp", timeout=PATIENCE) == list_live(GARDEN, timeout=PATIENCE)


def test_command_as_one_text() -> None:
    assert list_live(f"'{GARDEN[0]}' '{GARDEN[1]}'", timeout=PATIENCE).tools


def test_server_without_handshake_is_called_as_its_command() -> None:
    read = list_live((sys.executable, str(FIXTURES / "stateless_server.py")), timeout=PATIENCE)

    assert [service.id for service in read.services] == [Path(sys.executable).name]
    assert [tool.name for tool in read.tools] == ["forecast"]
    assert read.tools[0].input == {"type": "object", "properties": {"place": {"type": "string", "default": None}}}


def test_server_that_offers_no_tools() -> None:
    read = list_live((*GARDEN, "--bare"), timeout=PATIENCE)

    assert [service.id for service in read.services] == ["bare"]
    assert not read.tools


def test_all_pages_are_read() -> None:
    read = list_live((*GARDEN, "--pages", "3"), timeout=PATIENCE)

    assert [tool.id for tool in read.tools] == ["paged/tool0", "paged/tool1", "paged/tool2"]
    assert not read.skipped


@pytest.mark.parametrize(
    ("pages", "reason"), [(("--pages", "9"), "more than 4 pages"), (("--loop",), "repeats its pages")]
)
def test_pages_without_end_are_left_out(pages: tuple[str, ...], reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_PAGES", 4)

    read = list_live((*GARDEN, *pages), timeout=PATIENCE)

    assert 0 < len(read.tools) <= 4
    assert [reason in skipped.reason for skipped in read.skipped] == [True]


def test_variables_reach_the_server_and_it_is_ended(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    list_live(GARDEN, timeout=PATIENCE, env={"GARDEN_PID_FILE": str(note)})

    assert not is_running(int(note.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_server_that_does_not_answer_is_ended_even_if_it_will_not_end(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    stubborn = (
        "import os, pathlib, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(1000)"
    )
    began = time.monotonic()

    error = refusal(sys.executable, "-c", stubborn, str(note), timeout=4)

    assert "doesn't answer within 4 seconds" in error.message
    assert not is_running(int(note.read_text(encoding="utf-8")))
    assert time.monotonic() - began < 18


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "timeout", "parts"),
    [
        ("raise SystemExit('no key is \\x1b[1mset')", PATIENCE, ("ended before it answered", "no key is �[1mset")),
        ("print('hello')", PATIENCE, ("ended before it answered", "isn't MCP")),
        ("import time; print('hello', flush=True); time.sleep(1000)", 3, ("within 3 seconds", "isn't MCP")),
        ("import sys\nwhile True: print('x' * 1000, flush=True, end='')", 2, ("within 2 seconds",)),
        (OTHER_PROTOCOL, PATIENCE, ("doesn't answer as an MCP server",)),
    ],
)
def test_program_that_is_no_server(
    program: str, timeout: float, parts: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    error = refusal(sys.executable, "-c", program, timeout=timeout)

    assert error.message.startswith(sys.executable)
    assert [part for part in parts if part not in error.message] == []
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.slow
def test_fault_is_not_logged_besides() -> None:
    asking = (
        "import sys; from pipeline.domains.tools.sources.live import list_live\n"
        "try: list_live([sys.executable, '-c', 'print(1)'])\n"
        "except Exception as error: print(error)"
    )

    done = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True, check=True, timeout=PATIENCE)

    assert "ended before it answered" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("command", ["no-such-command-here", str(FIXTURES)])
def test_command_that_can_not_be_started(command: str) -> None:
    assert refusal(command, "--flag").message.startswith(f"{command} --flag can't be started")


@pytest.mark.parametrize("target", ["", "  ", [], [""], "a 'b", "http://", "https://[::1", ["a\x00b"]])
def test_target_that_is_none(target: str | list[str]) -> None:
    with pytest.raises(SourceError):
        list_live(target)


def test_nothing_at_the_address_and_no_secret_in_the_message() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}/mcp"
        with pytest.raises(SourceError) as caught:
            list_live(f"http://ada:secret@{place}?key=secret", timeout=PATIENCE)

    assert caught.value.message.startswith(f"http://{place} ")
    assert "secret" not in str(caught.value)


def test_page_that_is_no_mcp_server(tmp_path: Path) -> None:
    class Page(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<h1>Hello</h1>")

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as page:
        threading.Thread(target=page.serve_forever, daemon=True).start()
        try:
            with pytest.raises(SourceError, match="doesn't answer as an MCP server: Unexpected content type"):
                list_live(f"http://127.0.0.1:{page.server_port}/", timeout=PATIENCE)
        finally:
            page.shutdown()


def test_silence_over_http_ends_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(SourceError, match="within 1 seconds"):
        list_live(f"http://127.0.0.1:{silent.getsockname()[1]}/mcp", timeout=1)


def test_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)

    with pytest.raises(ConfigurationError, match=r"\.\[mcp\]"):
        list_live(GARDEN)
