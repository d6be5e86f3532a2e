"""Writers' ids: which process of which machine writes to a corpus, and whether it is still alive."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

_SILENT = 120.0
"""Seconds after which a holder on another machine, which says every few seconds that it lives, counts as dead."""

_OURS: set[str] = set()
"""The ids under which this process writes at this moment."""


@contextmanager
def new_writer() -> Iterator[str]:
    """Yield an id that tells this process from a later one of the same number; it is alive until the context ends."""
    started = psutil.Process().create_time()
    writer = f"{socket.gethostname()}/{os.getpid()}/{started:.2f}/{uuid.uuid4().hex[:8]}"
    # Noted before it is used: a thread of ours that comes upon the id must not think its writer dead.
    _OURS.add(writer)
    try:
        yield writer
    finally:
        _OURS.discard(writer)


def is_dead(writer: str, silent: float | None = None) -> bool:
    """Whether the holder is no more: its process is gone or, on another machine, was ``silent`` (seconds) too long."""
    host, pid, started, _ = writer.split("/", 3)
    if host != socket.gethostname():
        return silent is not None and silent > _SILENT
    if int(pid) == os.getpid():
        return writer not in _OURS
    try:
        return abs(psutil.Process(int(pid)).create_time() - float(started)) > 1
    except psutil.NoSuchProcess:
        return True


def holder_of(writer: str) -> tuple[str, str]:
    """Return the process and the machine that a writer's id names."""
    host, pid, _ = writer.split("/", 2)
    return pid, host
