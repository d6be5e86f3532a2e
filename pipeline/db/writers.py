"""Ids of writers: they name the process and the machine that write to a corpus, and tell whether it is still alive.

On Linux a process is told from a later one with its number by the boot of the machine and by its start in clock ticks
since then, which setting the clock doesn't change. Elsewhere psutil's time of its start tells them apart: where
psutil derives that from the clock, a step of the clock makes a live writer look dead.

A machine is told from others of its name by its id; in a container, whose process may have the name and the number of
one in another container, by the boot and the PID namespace. A container that is started again is another machine.
"""

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import psutil

from pipeline.ids import digest

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_MACHINE_ID = Path("/etc/machine-id")
_PID_NAMESPACE = Path("/proc/self/ns/pid")
_FIRST_NAMESPACE = "pid:[4026531836]"
"""The PID namespace outside of containers: a constant of Linux (PROC_PID_INIT_INO)."""

_AT = "@"
_SILENCE_LIMIT = 120.0
"""Seconds without a renewal of the lease after which a writer on another machine counts as dead. Chosen by hand."""

_active_writers: set[str] = set()
"""Ids under which this process is writing now."""


@contextmanager
def new_writer() -> Iterator[str]:
    """Yield a new id, valid until the context ends; it differs from those of later processes with the same number."""
    writer = f"{_machine()}/{os.getpid()}/{_start_of(os.getpid())}/{uuid.uuid4().hex[:8]}"
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
    _, pid, start, _ = writer.split("/", 3)
    if is_elsewhere(writer):
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
    return writer.split("/", 1)[0] != _machine()


def named(writer: str) -> tuple[str, str]:
    """Return the name of a writer's machine, and the number of its process."""
    machine, pid, _ = writer.split("/", 2)
    return machine.split(_AT, 1)[0], pid


def _machine() -> str:
    """Return the name of this machine, and what tells it from others of that name; on Linux alone there is that."""
    numbering = _numbering()
    return f"{socket.gethostname()}{_AT}{numbering}" if numbering else socket.gethostname()


@cache
def _numbering() -> str:
    """Return what decides which process a number means, whenever and wherever; empty if the system doesn't tell."""
    try:
        namespace = str(_PID_NAMESPACE.readlink())
        machine = ""
        if namespace == _FIRST_NAMESPACE:
            # In a container it may be that of the image. Outside, it stays over a boot, which the start tells.
            with suppress(OSError):
                machine = _MACHINE_ID.read_text().strip()
        return digest(machine or _BOOT_ID.read_text().strip(), namespace)[:12]
    except OSError:
        return ""


def _start_of(pid: int) -> str:
    """Return the start of a process, which no later process with its number has; raises NoSuchProcess."""
    with suppress(OSError):
        boot = _BOOT_ID.read_text().strip()
        # The 22nd field; the second, the name in parentheses, may hold blanks.
        ticks = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19]
        return f"{boot}:{ticks.decode()}"
    return f"{psutil.Process(pid).create_time():.2f}"
