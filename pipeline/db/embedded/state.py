"""``server.json``: which process serves a home, since when, and on which port."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

MODULE = "pipeline.db.embedded"


@dataclass(frozen=True, slots=True)
class State:
    """A server process; ``port`` is 0 until Bolt answers, ``since`` is in seconds since the epoch."""

    pid: int
    port: int
    since: float

    @property
    def ready(self) -> bool:
        """Whether Bolt answered when this was written."""
        return self.port != 0

    @property
    def uri(self) -> str | None:
        """The Bolt URI, or None while the server is starting."""
        return f"bolt://127.0.0.1:{self.port}" if self.ready else None


def home_argument(home: Path) -> str:
    """Return the argument by which a server process says on its command line whose home it serves."""
    return f"--home={home}"


def read_state(path: Path) -> State | None:
    """Return what ``path`` says of a process that is still alive; None when there is none.

    A file left behind by a process that was killed counts as none, even if its pid went to another process since.
    """
    try:
        state = State(**json.loads(path.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return state if _serves(state.pid, path.parent) else None


def write_state(path: Path, state: State) -> None:
    """Replace ``path`` in one step, so that a reader sees the old state or the new one."""
    scratch = path.with_name(f"{path.name}.{os.getpid()}")
    scratch.write_text(json.dumps(asdict(state)))
    scratch.replace(path)


def touch(path: Path) -> bool:
    """Note that the server is wanted; False when the server has just withdrawn its state to stop."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def withdraw(path: Path, idle_seconds: float) -> bool:
    """Take the state away so that nobody relies on the server any more; False if it was wanted recently.

    The file is moved first and its time read afterwards: whoever touched it before the move is seen, and whoever
    comes after it finds no file and waits for the start lock. So no caller is handed an address that is about to go.
    """
    aside = path.with_name(f"{path.name}.stopping")
    try:
        path.replace(aside)
    except FileNotFoundError:
        return True
    if time.time() - aside.stat().st_mtime < idle_seconds:
        aside.replace(path)
        return False
    aside.unlink()
    return True


def _serves(pid: int, home: Path) -> bool:
    # The command line, not the start time, tells a reused pid: psutil derives the start time from the wall clock,
    # so setting the clock would make a live server look like a stranger.
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and {MODULE, home_argument(home)} <= set(process.cmdline())
    except psutil.Error:
        return False
