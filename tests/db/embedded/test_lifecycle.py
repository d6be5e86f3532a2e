"""The embedded server's life, on the real thing: each test goes on where the one before it left the home."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import neo4j
import psutil
import pytest
from filelock import FileLock

from pipeline.db.embedded import Address, ServerOptions, ensure_running, log_path, status, stop
from pipeline.db.embedded.java import Java, find_java
from pipeline.db.embedded.lifecycle import make_home
from pipeline.db.embedded.options import layout
from pipeline.errors import Busy, ConfigurationError, ServerStartFailed
from tests.conftest import JAVA_FLAGS, TRUSTED

PATIENCE_SECONDS = 120

START = """
import sys
from pathlib import Path
from pipeline.db.embedded import ServerOptions, ensure_running
print(ensure_running(ServerOptions(Path(sys.argv[1]), jars=Path(sys.argv[2]), heap_mb=512, page_cache_mb=64)).uri)
"""


@pytest.fixture(scope="module")
def options(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerOptions]:
    """A home that this module's tests share; whatever runs in it is stopped at the end."""
    home = tmp_path_factory.mktemp("home") / "inner"
    # It is there already, and open to others.
    (home / "neo4j").mkdir(parents=True)
    home.chmod(0o755)
    options = ServerOptions(home, jars=jars, heap_mb=512, page_cache_mb=64)
    yield options
    stop(options)


def start_elsewhere(options: ServerOptions) -> subprocess.Popen[str]:
    """Call ``ensure_running`` in another process."""
    command = [sys.executable, "-c", START, str(options.home), str(options.jars)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until(condition: Callable[[], bool]) -> None:
    """Return once ``condition`` holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.05)


def query(address: Address, text: str) -> list[list[object]]:
    """Log in, run one query, and return its rows."""
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        return [record.values() for record in driver.execute_query(text, database_=address.database).records]


def pid_of(options: ServerOptions) -> int:
    """The pid of the server that runs or starts."""
    pid = status(options).pid
    assert pid is not None
    return pid


def kill(options: ServerOptions) -> None:
    """``kill -9`` the server."""
    process = psutil.Process(pid_of(options))
    process.kill()
    process.wait(PATIENCE_SECONDS)


def test_a_home_that_was_never_used_has_nothing_running(tmp_path: Path) -> None:
    options = ServerOptions(tmp_path / "none")
    found = status(options)
    assert (found.running, found.starting, found.uri, found.pid, found.data_bytes) == (False, False, None, None, 0)
    assert (found.java, found.simd) == (find_java(), None)
    assert not stop(options)
    assert not log_path(options).exists()


@pytest.mark.slow
def test_a_first_start_that_is_killed_half_way_is_reported_with_the_log(jars: Path, tmp_path: Path) -> None:
    options = ServerOptions(tmp_path / "new", jars=jars, heap_mb=512, page_cache_mb=64)
    starter = start_elsewhere(options)
    wait_until((layout(options).data / "databases" / "system").exists)
    assert status(options).starting
    kill(options)
    _, error = starter.communicate(timeout=PATIENCE_SECONDS)
    assert starter.returncode != 0
    assert "ServerStartFailed" in error
    assert log_path(options).read_text().splitlines()[-1] in error


@pytest.mark.slow
def test_two_processes_that_start_at_once_get_one_server(options: ServerOptions) -> None:
    starters = [start_elsewhere(options) for _ in range(2)]
    uris = {starter.communicate(timeout=PATIENCE_SECONDS)[0].strip() for starter in starters}
    assert uris == {status(options).uri}
    assert query(ensure_running(options), "RETURN gds.version()") == [[status(options).gds_version]]


@pytest.mark.slow
def test_the_server_has_outlived_its_starter_and_is_nobodys_child_in_this_terminal(options: ServerOptions) -> None:
    ensure_running(options)
    assert os.getsid(pid_of(options)) == pid_of(options)


def test_the_password_is_for_its_owner_only(options: ServerOptions) -> None:
    ensure_running(options)
    files = layout(options)
    assert stat.S_IMODE(files.password.stat().st_mode) == 0o600
    for folder in (files.home, files.neo4j, files.logs):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert files.password.read_text() not in repr(ensure_running(options))


def test_a_folder_of_other_files_keeps_its_mode_as_a_home(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    tmp_path.chmod(0o755)

    make_home(layout(ServerOptions(tmp_path)))

    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "neo4j").stat().st_mode) == 0o700


@pytest.mark.slow
def test_after_kill_9_data_and_password_are_still_there(options: ServerOptions) -> None:
    before = ensure_running(options)
    query(before, "CREATE (:Kept {name: 'still here'})")
    kill(options)
    assert not status(options).running

    interrupted = start_elsewhere(options)
    wait_until(lambda: status(options).starting)
    pid = pid_of(options)
    interrupted.send_signal(signal.SIGINT)
    interrupted.communicate(timeout=PATIENCE_SECONDS)

    after = ensure_running(options)
    assert pid_of(options) == pid, "the server whose starter was interrupted is the one that is used"
    assert after.password == before.password
    assert query(after, "MATCH (n:Kept) RETURN n.name") == [["still here"]]


@pytest.mark.slow
def test_stop_waits_for_the_end_and_says_whether_there_was_anything_to_stop(options: ServerOptions) -> None:
    ensure_running(options)
    pid = pid_of(options)
    assert stop(options)
    assert not psutil.pid_exists(pid)
    assert not stop(options)
    assert log_path(options).read_text().endswith("Stopped\n")
    assert options.jars is not None
    assert not (options.jars / "aot.log").exists(), "a server that stops records no cache"


def test_a_pid_that_went_to_another_process_is_not_taken_for_the_server(options: ServerOptions) -> None:
    stop(options)
    state = layout(options).state
    state.write_text(f'{{"pid": {os.getpid()}, "port": 1, "since": 0}}')
    assert not status(options).running
    assert not stop(options)


def javas() -> Iterator[Java]:
    """Every Java of this machine, where Linux's packages put it."""
    for home in sorted(Path("/usr/lib/jvm").glob("*")):
        with suppress(ConfigurationError):
            yield find_java(home)


@pytest.mark.slow
def test_it_stops_by_itself_once_nobody_is_connected_and_a_lost_password_is_made_anew(
    options: ServerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(options)
    layout(options).password.unlink(missing_ok=True)
    # In a Java with vector instructions, if this machine has one. Lucene uses them with both of Java's compilers alone.
    monkeypatch.setenv(JAVA_FLAGS, TRUSTED)
    other = next((java.home for java in javas() if java.has_vector), None)
    brief = replace(options, idle_minutes=1 / 60, java_home=other)
    address = ensure_running(brief)
    found = status(replace(brief, java_home=None))
    assert (found.java.home, found.simd) == (other or find_java().home, other is not None)
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        driver.verify_connectivity()
        # As if the clock had been set back by an hour since.
        os.utime(layout(options).state, (time.time() + 3600,) * 2)
        time.sleep(3)
        assert status(brief).running
    wait_until(lambda: not status(brief).running)
    wait_until(lambda: "Stopped" in log_path(brief).read_text())
    assert "Nobody was connected" in log_path(brief).read_text()


def test_a_server_that_cannot_start_is_reported_with_the_end_of_its_log(options: ServerOptions) -> None:
    stop(options)
    with pytest.raises(
        ServerStartFailed, match=r"Could not reserve enough space|Too small|Invalid maximum heap"
    ) as raised:
        ensure_running(replace(options, heap_mb=100_000_000))
    assert str(log_path(options)) in raised.value.fix


def test_somebody_else_starting_for_too_long_is_reported(options: ServerOptions) -> None:
    stop(options)
    with FileLock(layout(options).start_lock), pytest.raises(Busy, match="starting or stopping"):
        ensure_running(replace(options, start_timeout=0.1))


@pytest.mark.slow
def test_two_homes_cannot_serve_one_neo4j_folder(options: ServerOptions, tmp_path: Path) -> None:
    stop(options)
    home = tmp_path / "other"
    home.mkdir()
    (home / "neo4j").symlink_to(layout(options).neo4j)
    with FileLock(layout(options).data_lock), pytest.raises(ServerStartFailed, match="held by another server"):
        ensure_running(replace(options, home=home, start_timeout=8))
