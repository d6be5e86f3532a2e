"""Start, stop and status of the embedded server; safe to call from concurrent processes."""

import errno
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from pipeline.db.embedded import options as server
from pipeline.db.embedded.fetch import provide
from pipeline.db.embedded.jars import pinned_jars
from pipeline.db.embedded.java import find_java
from pipeline.db.embedded.launch import distrust_cache, launch, record_cache
from pipeline.db.embedded.options import Address, Layout, Report, ServerOptions, ServerStatus, Step
from pipeline.db.embedded.state import State, read_state, touch
from pipeline.errors import Busy, ConfigurationError, LoginRefused, ServerStartFailed

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_SCANT = 20_000_000
"""Bytes that an empty database needs to start; it did with 30 MB, and didn't with 1 MB."""

_POLL_SECONDS = 0.05  # far below the seconds that a start takes
_STOP_SECONDS = 120  # to write everything to disk; chosen by hand, not measured
_LAST_LINES = 20  # of a log, in an error
_HOME_ENTRIES = frozenset(
    ("neo4j", "logs", "jars", "onnx", "password", "server.json", "server.json.lock", "start.lock", "amx.json")
)


def ensure_running(options: ServerOptions, report: Report = server.silent) -> Address:
    """Return the address of the server of ``options.home``; start it if it doesn't run.

    Takes milliseconds if it runs. The server is a separate process: it outlives the caller and the caller's terminal,
    and callers in other processes find it. Concurrent callers start a single server.
    Raises DownloadFailed, ServerStartFailed with the log's last lines, or Busy.
    """
    with located(options) as files:
        if address := _answering(files):
            return address
        find_java(options.java_home)
        make_home(files)
        # Before taking the lock, so that no other process waits for this download.
        provide(pinned_jars(options.pins), server.jars_folder(options), report)
        with _locked(files.start_lock, files, options.start_timeout):
            if address := _answering(files):
                return address
            # An interrupted caller may have left a server that is still starting: wait for that server.
            launched = None if read_state(files.state) else launch(files, options)
            return _await(files, options, launched, report)


def running(options: ServerOptions) -> Address | None:
    """Return the address of the server of ``options.home`` if it answers; never start it."""
    with located(options) as files:
        return _answering(files)


def stop(options: ServerOptions) -> bool:
    """Close the databases, end the server and wait for its end; return False if no server was running.

    A server that has not ended after two minutes is killed; Neo4j recovers its data at the next start.
    """
    with located(options) as files:
        if not files.home.is_dir():
            return False
        with _locked(files.start_lock, files, options.start_timeout):
            return _end(files) is not None


def restarted(options: ServerOptions, failed: Address, report: Report = server.silent) -> Address:
    """End the server that answered at ``failed``, whose database has stopped, and return the address of a new one.

    If another process has done so meanwhile, it is the address of that one's.
    """
    with located(options) as files, _locked(files.start_lock, files, options.start_timeout):
        state = read_state(files.state)
        if state is not None and state.uri == failed.uri:
            _end(files)
    return ensure_running(options, report)


def _end(files: Layout) -> State | None:
    """Stop the server and return the state that it had; None if none was running."""
    if state := read_state(files.state):
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(state.pid)
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except psutil.TimeoutExpired:
                process.kill()
                process.wait(_STOP_SECONDS)
        files.state.unlink(missing_ok=True)
    return state


@contextmanager
def closed(options: ServerOptions, report: Report) -> Iterator[None]:
    """Keep the databases closed in the context; a server that ran is started again at its end, at its old port.

    Clients that are connected reach it again, unless another program took the port meanwhile.
    """
    files = server.layout(options)
    with _locked(files.start_lock, files, options.start_timeout):
        state = _end(files)
        try:
            # A server that stops by itself may still be closing them.
            with _locked(files.data_lock, files, options.start_timeout):
                finish_restore(files)
                yield
        finally:
            if state:
                _await(files, options, launch(files, options, state.port), report)


def finish_restore(files: Layout) -> None:
    """Put restored databases, if there are any, in the place of the present ones, which are deleted.

    A folder can't replace another in one step. So the rename that makes ``files.restored`` appear, complete, decides a
    restore: every start ends what was interrupted afterwards. The caller holds the lock of the data.
    """
    if files.restored.exists():
        if files.data.exists():
            shutil.rmtree(files.replaced, ignore_errors=True)
            files.data.replace(files.replaced)
        files.restored.replace(files.data)
    shutil.rmtree(files.replaced, ignore_errors=True)


def train(options: ServerOptions, report: Report = server.silent) -> Path:
    """Record Java's ahead-of-time cache, with which servers start in half the time, unless it exists; return its path.

    A server on an empty database of its own ingests and searches for a minute or two. Servers that run are left alone.
    Raises DownloadFailed, or ServerStartFailed with the end of the log.
    """
    with located(options) as files:
        make_home(files)
        provide(pinned_jars(options.pins), server.jars_folder(options), report)
        report(Step("Recording Java's cache"))
        if cache := record_cache(files, options):
            return cache
        log = server.jars_folder(options) / "aot.log"
        raise ServerStartFailed(
            f"Java's cache couldn't be recorded. The end of the log:\n{log_end(log)}",
            f"The whole log is {log}. Servers start without a cache too.",
        )


def status(options: ServerOptions) -> ServerStatus:
    """Return the status of the server of ``options.home`` without starting it."""
    with located(options) as files:
        state = read_state(files.state)
        return ServerStatus(
            running=state is not None and state.port != 0,
            starting=state is not None and state.port == 0,
            uri=state.uri if state else None,
            pid=state.pid if state else None,
            since=datetime.fromtimestamp(state.since, UTC) if state else None,
            version=server.NEO4J_VERSION,
            gds_version=server.GDS_VERSION,
            java=find_java(Path(state.java_home) if state and state.java_home else options.java_home),
            simd=state.simd if state else None,
            data_bytes=sum(_size(path) for path in files.data.rglob("*")),
            home=files.home,
            log=files.log,
            password_file=files.password,
        )


def log_path(options: ServerOptions) -> Path:
    """Return the file that the server process writes to; it may not exist yet."""
    return server.layout(options).log


@contextmanager
def located(options: ServerOptions) -> Iterator[Layout]:
    """Yield the files of a home; what the system says about them becomes an error that names the home."""
    files = server.layout(options)
    try:
        yield files
    except (OSError, psutil.AccessDenied) as error:
        if getattr(error, "errno", None) in _NO_ROOM:
            raise ServerStartFailed(
                f"There is no room for the embedded server on the disk of {files.home}: {error}.",
                "Make room there, or set HOPRANK_HOME to a folder on another disk.",
            ) from error
        raise ConfigurationError(
            f"{files.home} can't hold the embedded server: {error}.",
            "Set HOPRANK_HOME to a folder that you may write to.",
        ) from error


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # Neo4j removes old transaction logs at any time
        return 0


def _answering(files: Layout) -> Address | None:
    state = read_state(files.state)
    if state is None or not state.uri:
        return None
    try:
        socket.create_connection(("127.0.0.1", state.port), timeout=5).close()  # seconds; chosen by hand
    except OSError:
        return None
    if not touch(files.state):
        return None
    try:
        return Address(state.uri, server.USERNAME, files.password.read_text(), server.DATABASE)
    except FileNotFoundError as error:
        raise LoginRefused(
            f"The server of {files.home} runs, but the file with its password is gone: {files.password}.",
            "Run `hoprank db stop`; the next start makes a new password.",
        ) from error


def make_home(files: Layout) -> None:
    """Make the folders of a home, which others can't read."""
    for folder in (files.home, files.neo4j, files.logs):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A folder that existed may be open to others. A home that holds anything else, such as /tmp, keeps its mode.
    own = all(entry.name in _HOME_ENTRIES for entry in files.home.iterdir())
    for folder in (files.neo4j, files.logs, *([files.home] if own else [])):
        folder.chmod(0o700)


@contextmanager
def _locked(lock: Path, files: Layout, seconds: float) -> Iterator[None]:
    try:
        with FileLock(lock, timeout=seconds):
            yield
    except Timeout as error:
        raise Busy(
            f"Another process has been starting or stopping the server of {files.home} for {seconds:g} s.",
            f"Wait for it, or see what it does: {files.log}.",
        ) from error


def _await(files: Layout, options: ServerOptions, launched: subprocess.Popen[bytes] | None, report: Report) -> Address:
    report(Step(f"Starting Neo4j {server.NEO4J_VERSION}"))
    deadline = time.monotonic() + options.start_timeout
    while time.monotonic() < deadline:
        running = launched is not None and launched.poll() is None
        if address := _answering(files):
            return address
        if not running and read_state(files.state) is None:
            if launched:
                distrust_cache(options, launched)
            raise ServerStartFailed(
                f"The embedded Neo4j of {files.home} didn't come up. The end of its log:\n{log_end(files.log)}",
                f"{_room(files)}The whole log is {files.log}; Neo4j's own is {files.logs / 'debug.log'}.",
            )
        time.sleep(_POLL_SECONDS)
    raise ServerStartFailed(
        f"The embedded Neo4j of {files.home} hasn't come up within {options.start_timeout:g} s and is left to go on."
        f" The end of its log:\n{log_end(files.log)}",
        f"{_room(files)}Try again in a while, with a larger server.start_timeout if it is recovering much data; or end"
        " it with `hoprank db stop`.",
    )


def _room(files: Layout) -> str:
    """Return the advice to make room, if the disk of the home has hardly any."""
    left = shutil.disk_usage(files.home).free
    return f"Make room on the disk of {files.home}, which has {left / 1e6:.1f} MB left. " if left < _SCANT else ""


def log_end(log: Path) -> str:
    """Return the last lines of a log, for an error."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return "(there is none)"
    return "\n".join(lines[-_LAST_LINES:])
