"""A process that parses PDF, DOCX and HTML files: their libraries can't be bounded within a process.

A hostile or damaged file may take any time and memory, or crash the interpreter. In a process of its own that costs the
file, and neither the ingest nor its other files. The process serves many files; it begins with the first one, and is
replaced after a file that ended it.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache
from typing import BinaryIO, cast

from pydantic import TypeAdapter

from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source, Unreadable
from pipeline.limits import MEGABYTE, Limits
from pipeline.records import Document

FORMATS = frozenset({"pdf", "docx", "html"})
"""Formats that are parsed in a process of their own."""

_COMMAND = (sys.executable, "-P", "-c", "from pipeline.ingest.sources.parser_process import serve; serve()")
"""-P: the current folder, which may be the hostile one, isn't on the import path."""

_LEAVE_OUT = "Open and save it again, or leave it out."


class ParserProcess(AbstractContextManager["ParserProcess"]):
    """Parses files of ``FORMATS``; not thread-safe. The process ends with the context, or with this process."""

    def __init__(self, command: Sequence[str] = _COMMAND) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    def __exit__(self, *raised: object) -> None:
        self._end()

    def parse(self, format_name: str, source: Source) -> Document:
        """Return the document; raises Unreadable, also if parsing exceeds the limits of the source or crashes."""
        line, late = self._ask(format_name, source)
        if late:
            raise Unreadable(
                f"takes over {source.limits.seconds:g} seconds to read", "Split it, or raise sources.max_seconds."
            )
        if not line.endswith(b"\n"):
            code = self._end()
            raise Unreadable(f"crashes its parser (exit code {code})", _LEAVE_OUT)
        kind, value = json.loads(line)
        if kind == "unreadable":
            raise Unreadable(*value)
        return _documents().validate_python(value)

    def _ask(self, format_name: str, source: Source) -> tuple[bytes, bool]:
        """Send a request; return the line of the answer, and whether it took too long, so that the process was ended.

        The answer is JSON, not a pickle: a parser that a file has taken over can't run code here.
        """
        process = self._process = self._process or subprocess.Popen(  # noqa: S603 - the command is ours
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        requests, answers = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(source.limits.seconds, end)
        timer.daemon = True
        timer.start()
        try:
            with suppress(BrokenPipeError):
                pickle.dump((format_name, source), requests, protocol=pickle.HIGHEST_PROTOCOL)
                requests.flush()
            line = answers.readline()
        finally:
            timer.cancel()
        if late.is_set():
            self._end()
        return line, late.is_set()

    def _end(self) -> int | None:
        """End the process, if there is one; return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        # Its requests end here, and so does it; it is killed if it is still busy, as after Ctrl-C.
        with suppress(OSError):
            process.stdin and process.stdin.close()
        try:
            return process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()
        finally:
            process.stdout and process.stdout.close()


def serve() -> None:
    """Answer requests until there are no more: the main function of the process."""
    # Ctrl-C is the parent's, which then closes the requests.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # Output of a library is no answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while (request := _next_request(sys.stdin.buffer)) is not None:
        answers.write(json.dumps(_answer(*request)).encode() + b"\n")
        answers.flush()


def _next_request(requests: BinaryIO) -> tuple[str, Source] | None:
    try:
        format_name, source = pickle.load(requests)  # noqa: S301 - the parent's
    except EOFError:
        return None
    return format_name, source


def _answer(format_name: str, source: Source) -> tuple[str, object]:
    try:
        parse = parser_of(format_name)
        _limit_memory(source.limits)
        return "document", _documents().dump_python(parse(source), mode="json")
    except Unreadable as error:
        return "unreadable", (error.message, error.fix)
    except MemoryError:
        megabytes = source.limits.bytes_of_memory / MEGABYTE
        return "unreadable", (
            f"takes over {megabytes:,.6g} MB of memory to read",
            "Split it, or raise sources.max_memory_megabytes.",
        )


@cache
def _documents() -> TypeAdapter[Document]:
    """Return the converter of documents to JSON and back, made once they are: many runs parse no such file."""
    return TypeAdapter(Document)


def _limit_memory(limits: Limits) -> None:
    """Let the process allocate no more than the limit; systems without such a limit (Windows) have none."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        import psutil

        used = psutil.Process().memory_info().vms
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (used + limits.bytes_of_memory, most))
