"""Ids of writers: they name the process and the machine that write to a corpus, and tell whether it is still alive."""

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

_SILENCE_LIMIT = 120.0
"""Seconds without a renewal of the lease after which a writer on another machine counts as dead. Chosen by hand."""

_active_writers: set[str] = set()
"""Ids under which this process is writing now."""


@contextmanager
def new_writer() -> Iterator[str]:
    """Yield a new id, valid until the context ends; it differs from those of later processes with the same number."""
    started = psutil.Process().create_time()
    writer = f"{socket.gethostname()}/{os.getpid()}/{started:.2f}/{uuid.uuid4().hex[:8]}"
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
    host, pid, started, _ = writer.split("/", 3)
    if host != socket.gethostname():
        return silent is not None and silent > _SILENCE_LIMIT
    if int(pid) == os.getpid():
        return writer not in _active_writers
    try:
        return abs(psutil.Process(int(pid)).create_time() - float(started)) > 1
    except psutil.NoSuchProcess:
        return True
