"""``server.json``: process, start time and port of a home's server."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

_LARGEST = 2**40  # above all pids, ports and times of files that aren't damaged
MODULE = "pipeline.db.embedded"


@dataclass(frozen=True, slots=True)
class State:
    """A server process; ``port`` is 0 until Bolt answers, ``since`` is in seconds since the epoch.

    ``java_home`` and ``simd`` are known once it answers: its Java, and whether that uses vector instructions.
    """

    pid: int
    port: int
    since: float
    java_home: str = ""
    simd: bool | None = None

    @property
    def uri(self) -> str | None:
        """The Bolt URI, or None while the server is starting."""
        return f"bolt://127.0.0.1:{self.port}" if self.port else None


def home_argument(home: Path) -> str:
    """Return the command-line argument of a server process that names its home."""
    return f"--home={home}"


def read_state(path: Path) -> State | None:
    """Return the state in ``path`` if its process is still alive; else None.

    A file left by a killed process gives None, even if another process has its pid now, and so does a damaged file.
    Raises OSError for one that can't be read.
    """
    try:
        state = State(**json.loads(path.read_text()))
    except (FileNotFoundError, ValueError, TypeError, RecursionError):
        return None
    numbers = (state.pid, state.port, state.since)
    if not all(isinstance(number, int | float) and 0 <= number < _LARGEST for number in numbers):
        return None
    return state if _serves(int(state.pid), path.parent) else None


def write_state(path: Path, state: State) -> None:
    """Replace ``path`` atomically, so that a reader sees either the old or the new state."""
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_text(json.dumps(asdict(state)))
    partial.replace(path)


def touch(path: Path) -> bool:
    """Record that the server is in use; return False if the server has just withdrawn its state to stop."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def last_use(path: Path) -> int | None:
    """Return a mark of the last :func:`touch`, to compare with others: after setting the clock it is no time."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def withdraw(path: Path, used: int | None) -> bool:
    """Remove the state before the server stops; return False, and keep it, if it was used since the mark ``used``.

    The file is moved before its mark is read. A caller that touched it before the move is noticed; a later caller finds
    no file and waits for the start lock. So no caller gets the address of a server that is about to stop.
    """
    aside = path.with_name(f"{path.name}.stopping")
    try:
        path.replace(aside)
    except FileNotFoundError:
        return True
    if last_use(aside) != used:
        aside.replace(path)
        return False
    aside.unlink()
    return True


def _serves(pid: int, home: Path) -> bool:
    # A reused pid is recognised by the command line, not by the start time: psutil derives that from the wall clock, so
    # after setting the clock a live server would look like another process.
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and {MODULE, home_argument(home)} <= set(process.cmdline())
    except psutil.Error:
        return False
