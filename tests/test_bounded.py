"""A process that calls a function within limits: what a call may cost, and how the process ends."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from pipeline.bounded import BoundedProcess, Bounds, Crashed, OutOfMemory, OutOfTime
from pipeline.errors import Fault
from pipeline.files.limits import MEGABYTE

BOUNDS = Bounds(seconds=30, memory=500 * MEGABYTE)

FUNCTION = """
import json, os, time

def call(request):
    print("no answer")
    value = eval(request)
    return json.dumps([os.getpid(), value]).encode()
"""


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A function that evaluates its request."""
    folder = tmp_path_factory.mktemp("path")
    (folder / "bounded_calls.py").write_text(FUNCTION, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield "bounded_calls:call"


@pytest.fixture
def process(function: str) -> Iterator[BoundedProcess]:
    with BoundedProcess(function) as process:
        yield process


def ask(process: BoundedProcess, request: str, bounds: Bounds = BOUNDS) -> list[int]:
    answer: list[int] = json.loads(process.call(request, bounds))
    return answer


def test_one_process_answers_many_calls_and_ends_with_its_context(function: str) -> None:
    with BoundedProcess(function) as process:
        first, value = ask(process, "6 * 7")
        assert value == 42
        assert ask(process, "1")[0] == first != os.getpid()

    assert not psutil.pid_exists(first)


@pytest.mark.parametrize(
    ("call", "bounds", "raised"),
    [
        ("time.sleep(60)", Bounds(0.3, 500 * MEGABYTE), OutOfTime),
        ("sum(range(10**12))", Bounds(60, 500 * MEGABYTE, cpu_seconds=0.3), OutOfTime),
        ("len(bytearray(10**9))", BOUNDS, OutOfMemory),
        ("os._exit(7)", BOUNDS, Crashed),
        ("1 / 0", BOUNDS, Crashed),
    ],
)
def test_a_call_beyond_its_bounds_costs_itself_alone(
    process: BoundedProcess, call: str, bounds: Bounds, raised: type[Exception]
) -> None:
    with pytest.raises(raised):
        process.call(call, bounds)

    assert ask(process, "2")[1] == 2


def test_a_crash_tells_the_exit_code(process: BoundedProcess) -> None:
    with pytest.raises(Crashed, match="exit code 7"):
        process.call("os._exit(7)", BOUNDS)


def test_waiting_takes_no_seconds_of_the_processor(process: BoundedProcess) -> None:
    assert ask(process, "time.sleep(0.5) or 3", Bounds(30, 500 * MEGABYTE, cpu_seconds=0.3))[1] == 3


def test_ctrl_c_is_left_to_the_parent_which_ends_a_busy_process(function: str) -> None:
    with BoundedProcess(function) as process, ThreadPoolExecutor(1) as caller:
        pid, _ = ask(process, "0")
        answer = caller.submit(process.call, "time.sleep(60)", BOUNDS)
        time.sleep(0.3)
        os.kill(pid, signal.SIGINT)
        time.sleep(0.2)
        assert not answer.done()
        process.__exit__()
        assert isinstance(answer.exception(), Crashed)

    assert not psutil.pid_exists(pid)


def test_no_code_of_the_current_folder_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = "import pathlib; pathlib.Path(__file__).with_name('sprung').touch()\n"
    (tmp_path / "pipeline").mkdir()
    for name in ("json.py", "pickle.py", "sitecustomize.py", "pipeline/__init__.py"):
        (tmp_path / name).write_text(trap, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", *sys.path])

    with BoundedProcess("os:fsencode") as process:
        assert process.call("an answer", BOUNDS) == b"an answer\n"

    assert not list(tmp_path.rglob("sprung"))


def test_a_function_that_can_t_be_imported_is_a_fault() -> None:
    with (
        BoundedProcess("no_such_module:call") as process,
        pytest.raises(Fault, match="no_such_module:call didn't start"),
    ):
        process.call("x", BOUNDS)
