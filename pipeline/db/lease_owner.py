"""The marks of those who hold a corpus for writing: which process, and whether it is still there."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

_SILENT = 120.0
"""Seconds after which a holder on another machine, which says every few seconds that it lives, counts as dead."""

_HELD_HERE: set[str] = set()
"""The marks under which this process writes at this moment."""


@contextmanager
def marked() -> Iterator[str]:
    """Yield a mark that names this process so that it can be told from a later one of the same number."""
    started = psutil.Process().create_time()
    mark = f"{socket.gethostname()}/{os.getpid()}/{started:.2f}/{uuid.uuid4().hex[:8]}"
    # Noted before it is used: a thread of ours that comes upon the mark must not think its holder dead.
    _HELD_HERE.add(mark)
    try:
        yield mark
    finally:
        _HELD_HERE.discard(mark)


def is_dead(mark: str, silent: float | None = None) -> bool:
    """Whether the holder is no more: its process is gone or, on another machine, was ``silent`` (seconds) too long."""
    host, pid, started, _ = mark.split("/", 3)
    if host != socket.gethostname():
        return silent is not None and silent > _SILENT
    if int(pid) == os.getpid():
        return mark not in _HELD_HERE
    try:
        return abs(psutil.Process(int(pid)).create_time() - float(started)) > 1
    except psutil.NoSuchProcess:
        return True


def holder_of(mark: str) -> tuple[str, str]:
    """Return the process and the machine that a mark names."""
    host, pid, _ = mark.split("/", 2)
    return pid, host
