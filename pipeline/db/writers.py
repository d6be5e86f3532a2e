"""Ids of writers: they name the process and the machine that write to a corpus, and tell whether it is still alive.

On Linux a process is told from a later one with its number by the boot of the machine and by its start in clock ticks
since then, which setting the clock doesn't change. Elsewhere, and in the ids of older versions, psutil's time of its
start tells them apart: where psutil derives that from the clock, a step of the clock makes a live writer look dead.
"""

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_SILENCE_LIMIT = 120.0
"""Seconds without a renewal of the lease after which a writer on another machine counts as dead. Chosen by hand."""

_active_writers: set[str] = set()
"""Ids under which this process is writing now."""


@contextmanager
def new_writer() -> Iterator[str]:
    """Yield a new id, valid until the context ends; it differs from those of later processes with the same number."""
    writer = f"{socket.gethostname()}/{os.getpid()}/{_start_of(os.getpid())}/{uuid.uuid4().hex[:8]}"
    # Added before its first use: another thread that reads the id must not take its writer for dead.
    _active_writers.add(writer)
    try:
        yield writer
    finally:
        _active_writers.discard(writer)


def is_stale(writer: str, silent: float | None = None) -> bool:
    """Return whether a writer is dead: its process has ended or, on another machine, was silent for too long.

    ``silent`` is the time since its last sign of life, in seconds; None if unknown.
    """
    host, pid, start, _ = writer.split("/", 3)
    if host != socket.gethostname():
        return silent is not None and silent > _SILENCE_LIMIT
    if int(pid) == os.getpid():
        return writer not in _active_writers
    try:
        if ":" in start:
            return _start_of(int(pid)) != start
        return abs(psutil.Process(int(pid)).create_time() - float(start)) > 1
    except psutil.NoSuchProcess:
        return True


def is_elsewhere(writer: str) -> bool:
    """Return whether a writer is on another machine, so that only its silence tells that it is dead."""
    return writer.split("/", 1)[0] != socket.gethostname()


def _start_of(pid: int) -> str:
    """Return the start of a process, which no later process with its number has; raises NoSuchProcess."""
    with suppress(OSError):
        boot = _BOOT_ID.read_text().strip()
        # The 22nd field; the second, the name in parentheses, may hold blanks.
        ticks = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19]
        return f"{boot}:{ticks.decode()}"
    return f"{psutil.Process(pid).create_time():.2f}"
