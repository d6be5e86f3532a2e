"""Who serves: a state is believed only while its process lives, and is withdrawn only when nobody wants the server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pipeline.db.embedded.launch import heap_mb, memory_mb, page_cache_mb
from pipeline.db.embedded.options import ServerOptions
from pipeline.db.embedded.state import MODULE, State, home_argument, last_use, read_state, touch, withdraw, write_state


@pytest.fixture
def lookalike(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose command line is that of the server of ``tmp_path``."""
    command = [sys.executable, "-c", "print(flush=True); input()", MODULE, home_argument(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        # While it is being loaded a process has no command line yet.
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_a_state_is_read_back_while_its_process_lives(tmp_path: Path, lookalike: subprocess.Popen[bytes]) -> None:
    state = State(lookalike.pid, 7687, 1.5)
    write_state(tmp_path / "server.json", state)
    assert read_state(tmp_path / "server.json") == state
    assert state.uri == "bolt://127.0.0.1:7687"
    assert [path.name for path in tmp_path.iterdir()] == ["server.json"]


def test_a_zombie_does_not_serve(tmp_path: Path, lookalike: subprocess.Popen[bytes]) -> None:
    write_state(tmp_path / "server.json", State(lookalike.pid, 7687, 1.5))
    os.kill(lookalike.pid, 9)
    process = psutil.Process(lookalike.pid)
    while process.status() != psutil.STATUS_ZOMBIE:
        pass
    assert read_state(tmp_path / "server.json") is None


def test_a_process_of_another_home_is_none(tmp_path: Path, lookalike: subprocess.Popen[bytes]) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write_state(other / "server.json", State(lookalike.pid, 7687, 1.5))
    assert read_state(other / "server.json") is None


def test_a_server_that_was_just_wanted_keeps_its_state(tmp_path: Path) -> None:
    path = tmp_path / "server.json"
    write_state(path, State(1, 2, 3))
    os.utime(path, (0, 0))
    mark = last_use(path)
    assert touch(path)
    assert not withdraw(path, mark)
    assert path.exists()


@pytest.mark.parametrize("then", [0, 2**32])
def test_whoever_wants_the_server_is_noticed_though_the_clock_was_set(tmp_path: Path, then: int) -> None:
    path = tmp_path / "server.json"
    write_state(path, State(1, 2, 3))
    mark = last_use(path)
    os.utime(path, (then, then))
    assert not withdraw(path, mark)
    assert withdraw(path, last_use(path))


def test_whoever_wants_a_server_that_has_withdrawn_is_told(tmp_path: Path) -> None:
    path = tmp_path / "server.json"
    write_state(path, State(1, 2, 3))
    os.utime(path, (0, 0))
    assert withdraw(path, last_use(path))
    assert not touch(path)
    assert list(tmp_path.iterdir()) == []


def test_memory_is_sized_from_the_machine_unless_it_is_given(tmp_path: Path) -> None:
    assert 512 <= heap_mb(ServerOptions(tmp_path)) <= 4096
    assert 128 <= page_cache_mb(ServerOptions(tmp_path)) <= 4096
    assert 0 < memory_mb() <= psutil.virtual_memory().total // 2**20
    assert heap_mb(ServerOptions(tmp_path, heap_mb=300)) == 300
    assert page_cache_mb(ServerOptions(tmp_path, page_cache_mb=9)) == 9
