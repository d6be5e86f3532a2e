"""A process that parses the larger files: hostile code may take a parser any time and memory, or crash it.

In a process of its own that costs the file alone. The process serves many files; it begins with the first one, and is
replaced after a file that ended it. Small files are parsed without it: no content of theirs takes a second.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from typing import BinaryIO, cast

from pydantic import TypeAdapter

from pipeline.domains.memory.scan.parsed import LARGEST, ParsedFile, is_parsed, parse_file
from pipeline.errors import Fault
from pipeline.limits import Limits

_SMALL = 10_000
"""Bytes: parsers may take time by the square of the size, or worse."""

_CPU_SECONDS = 5.0
"""Limit of a file. It is CPU time, so that a busy machine leaves out no more files than an idle one."""

_READY = b"ready\n"
_MAIN = "import sys; sys.path[:] = {}; from pipeline.domains.memory.scan.parse_process import serve; serve()"


class FileParser(AbstractContextManager["FileParser"]):
    """Parses files; not thread-safe. A file that exceeds its limits counts as one without syntax."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None

    def __exit__(self, *raised: object) -> None:
        self._end()

    def parse(self, path: str, data: bytes) -> ParsedFile:
        """Return the file ``path`` with the content ``data``."""
        if len(data) <= _SMALL or len(data) > LARGEST or not is_parsed(path):
            return parse_file(path, data)
        line = self._ask(path, data)
        if not line.endswith(b"\n"):
            self._end()
            return ParsedFile(path)
        # JSON, not a pickle: a parser that a file has taken over can't run code here
        return _files().validate_json(line)

    def _ask(self, path: str, data: bytes) -> bytes:
        """Send a file; return the line of the answer, which lacks its end if the process ended."""
        process = self._process = self._process or _start()
        requests, answers = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
        timer = threading.Timer(self._limits.seconds, process.kill)
        timer.daemon = True
        timer.start()
        try:
            with suppress(BrokenPipeError):
                pickle.dump((path, data, self._limits.bytes_of_memory), requests, protocol=pickle.HIGHEST_PROTOCOL)
                requests.flush()
            return answers.readline()
        finally:
            timer.cancel()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                stream and stream.close()


def _start() -> subprocess.Popen[bytes]:
    """Start the process with the import path of this one: the current folder, which may be hostile, isn't on it."""
    command = (sys.executable, "-P", "-c", _MAIN.format(sys.path))
    process = subprocess.Popen(  # noqa: S603 - the command is ours
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    if cast("BinaryIO", process.stdout).readline() != _READY:
        process.communicate()
        raise Fault(
            f"The process that parses files didn't start (exit code {process.returncode}).",
            f"Check that {sys.executable} can import pipeline.",
        )
    return process


def serve() -> None:
    """Answer requests until there are no more: the main function of the process."""
    # Ctrl-C is the parent's, which then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    answers.write(_READY)
    answers.flush()
    with suppress(EOFError):
        while True:
            path, data, memory = pickle.load(sys.stdin.buffer)  # noqa: S301 - the parent's
            with _limited(memory):
                file = parse_file(path, data)
            answers.write(_files().dump_json(file) + b"\n")
            answers.flush()


@contextmanager
def _limited(memory: int) -> Iterator[None]:
    """Limit the CPU seconds of a block, and the memory of the process; systems without such limits have none."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        import psutil

        used = psutil.Process().memory_info().vms
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (used + memory, most))
    _set_timer(_CPU_SECONDS)
    yield
    _set_timer(0)


def _set_timer(seconds: float) -> None:
    """End this process after so many seconds of its CPU time; never with 0. Windows has no such timer."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


@cache
def _files() -> TypeAdapter[ParsedFile]:
    return TypeAdapter(ParsedFile)
