"""Ids of writers: who lives is told by the start of the process, whatever the clock says."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pipeline.db import writers
from pipeline.db.writers import is_elsewhere, is_stale, named, new_writer

WRITE = """
from pipeline.db.writers import new_writer
with new_writer() as writer:
    print(writer, flush=True)
    input()
"""


@pytest.fixture
def other() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A writer in another process, and that process."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", WRITE], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process
        process.kill()


def set_clock(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Have psutil derive the start of each process from a clock that was set."""
    create_time = psutil.Process.create_time
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: create_time(process) + seconds)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere psutil's time is all there is")
@pytest.mark.parametrize("seconds", [-3600, -2, 2, 3600, 1e9])
def test_a_step_of_the_clock_kills_no_writer(
    other: tuple[str, subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    writer, process = other
    set_clock(monkeypatch, seconds)

    assert not is_stale(writer)
    process.kill()
    process.wait()
    assert is_stale(writer)


@pytest.mark.parametrize("seconds", [-3600, 3600])
def test_a_writer_of_this_process_lives_until_its_end(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    with new_writer() as writer:
        set_clock(monkeypatch, seconds)
        assert not is_stale(writer)
    assert is_stale(writer)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no id of the boot")
def test_another_boot_and_another_start_are_other_processes(other: tuple[str, subprocess.Popen[str]]) -> None:
    host, pid, start, end = other[0].split("/")
    boot, ticks = start.split(":")

    assert is_stale(f"{host}/{pid}/{boot}:{int(ticks) + 1}/{end}")
    assert is_stale(f"{host}/{pid}/{boot[::-1]}:{ticks}/{end}")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there are no namespaces of processes")
def test_a_process_in_a_container_of_this_name_is_on_another_machine(
    other: tuple[str, subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pid").symlink_to("pid:[4026539999]")
    with new_writer() as own:
        monkeypatch.setattr(writers, "_PID_NAMESPACE", tmp_path / "pid")
        writers._numbering.cache_clear()
        # Their numbers mean other processes there, or none.
        for writer in (own, other[0], re.sub("/[0-9]+/", "/1/", own)):
            assert [is_stale(writer, silent) for silent in (None, 60, 180)] == [False, False, True]
            assert is_elsewhere(writer)
            assert named(writer) == (socket.gethostname(), writer.split("/")[1])
        with new_writer() as neighbour:
            assert not is_stale(neighbour, 180)
            monkeypatch.undo()
            writers._numbering.cache_clear()
            assert not is_stale(neighbour, 60)
            assert not is_stale(own, 180)


def test_ids_with_the_time_of_a_process_in_seconds_are_read(other: tuple[str, subprocess.Popen[str]]) -> None:
    process = other[1]
    machine, start = other[0].split("/", 1)[0], psutil.Process(process.pid).create_time()

    assert not is_stale(f"{machine}/{process.pid}/{start:.2f}/abc")
    assert is_stale(f"{machine}/{process.pid}/{start - 60:.2f}/abc")
    assert is_stale(f"{machine}/{os.getpid()}/{start:.2f}/abc")
    assert [is_stale("elsewhere.invalid/1/1.00/abc", silent) for silent in (None, 60, 180)] == [False, False, True]
