"""A process that calls a function within limits of time and memory.

Hostile or damaged input may take a library any time and memory, hold the interpreter's lock all the while, or crash
the interpreter. In a process of its own that costs the input alone.
"""

import gc
import os
import pickle
import pkgutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import BinaryIO, cast

from pipeline.errors import Fault
from pipeline.resources import IMPORT_OWN

_MAIN = "sys.path[:] = {path}; from pipeline.bounded import serve; serve({function!r})"
_READY = b"ready\n"
_OUT_OF_MEMORY = b"\n"
_KILLED_BY_TIMER = -signal.SIGPROF if sys.platform != "win32" else None


class Ended(Exception):
    """A call didn't return: it exceeded a limit, or its process crashed."""


class OutOfTime(Ended):
    """A call exceeded its seconds."""


class OutOfMemory(Ended):
    """A call exceeded its memory."""


class Crashed(Ended):
    """The process ended by itself. ``exit_code`` is negative for a signal."""

    def __init__(self, exit_code: int | None) -> None:
        super().__init__(f"exit code {exit_code}")
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a call: seconds, bytes of memory, and seconds of the processor, None without such a limit.

    Seconds of the processor are the same on a busy machine as on an idle one. Windows can limit ``seconds`` alone.
    """

    seconds: float
    memory: int
    cpu_seconds: float | None = None


class BoundedProcess(AbstractContextManager["BoundedProcess"]):
    """Calls ``function``, given as ``module:name``, in a process; not thread-safe.

    The function takes a request, which is pickled, and returns JSON without a line break, as bytes: an answer is never
    unpickled, so a library that some input has taken over can't run code here. The process begins with the first call,
    serves many, is replaced after one that ended it, and ends with the context or with this process.
    """

    def __init__(self, function: str) -> None:
        self._function = function
        self._process: subprocess.Popen[bytes] | None = None

    def __exit__(self, *raised: object) -> None:
        self._end()

    def call(self, request: object, bounds: Bounds) -> bytes:
        """Return the answer to a request; raises OutOfTime, OutOfMemory or Crashed."""
        line, late = self._ask(request, bounds)
        if line.endswith(b"\n") and line != _OUT_OF_MEMORY and not late:
            return line
        code = self._end()
        if line == _OUT_OF_MEMORY:
            raise OutOfMemory
        if late or code == _KILLED_BY_TIMER:
            raise OutOfTime
        raise Crashed(code)

    def _ask(self, request: object, bounds: Bounds) -> tuple[bytes, bool]:
        """Send a request; return the line of the answer, and whether it took too long and the process was killed."""
        process = self._process = self._process or self._start()
        requests, answers = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
        late = threading.Event()

        def kill() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(bounds.seconds, kill)
        timer.daemon = True
        timer.start()
        try:
            with suppress(BrokenPipeError):
                pickle.dump((request, bounds), requests, protocol=pickle.HIGHEST_PROTOCOL)
                requests.flush()
            line = answers.readline()
        finally:
            timer.cancel()
        return line, late.is_set()

    def _start(self) -> subprocess.Popen[bytes]:
        """Start the process with the import path of this one; the current folder, which may be hostile, isn't on it."""
        main = IMPORT_OWN + _MAIN.format(path=[entry for entry in sys.path if entry], function=self._function)
        process = subprocess.Popen(  # noqa: S603 - the command is ours
            (sys.executable, "-P", "-c", main), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        if cast("BinaryIO", process.stdout).readline() != _READY:
            process.communicate()
            raise Fault(
                f"The process that calls {self._function} didn't start (exit code {process.returncode}).",
                f"Check that {sys.executable} can import pipeline.",
            )
        return process

    def _end(self) -> int | None:
        """End the process, if there is one; return its exit code."""
        process, self._process = self._process, None
        return None if process is None else end(process, 1)


def end(process: subprocess.Popen[bytes], seconds: float) -> int:
    """End a process that serves requests, and return its exit code.

    Its requests end here, and so does it; it is killed if it is still busy after so many seconds, as after Ctrl-C.
    """
    with suppress(OSError):
        process.stdin and process.stdin.close()
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()
    finally:
        process.stdout and process.stdout.close()


def serve(function: str) -> None:
    """Answer requests by a function until there are no more: the main function of the process."""
    # Ctrl-C is the parent's, which then closes the requests.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answer = pkgutil.resolve_name(function)
    answers = os.fdopen(os.dup(1), "wb")
    gc.set_threshold(50_000)  # as in pipeline.cli: trees of syntax are many objects, and few of them form cycles
    # Output of a library is no answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _write(answers, _READY)
    while True:
        try:
            request, bounds = pickle.load(sys.stdin.buffer)  # noqa: S301 - the parent's
        except EOFError:
            return
        try:
            with _limited(bounds):
                line = answer(request) + b"\n"
        except MemoryError:
            line = _OUT_OF_MEMORY
        _write(answers, line)


def _write(answers: BinaryIO, line: bytes) -> None:
    answers.write(line)
    answers.flush()


@contextmanager
def _limited(bounds: Bounds) -> Iterator[None]:
    """Limit the memory of the process, and the processor's seconds of a block, where the system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        import psutil

        used = psutil.Process().memory_info().vms
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (used + bounds.memory, most))
    _set_timer(bounds.cpu_seconds or 0)
    yield
    _set_timer(0)


def _set_timer(seconds: float) -> None:
    """End this process after so many seconds of its CPU time; never with 0."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)
