"""A process that runs jobs: an ingest there takes neither the interpreter of the service nor its memory.

It runs at low priority, so that searches come first. It serves several jobs, ends with the service, however that ends,
and leaves then what the next run of the job completes.
"""

import base64
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from queue import SimpleQueue
from typing import Any, BinaryIO, cast

from pipeline.api import HopRank
from pipeline.bounded import end
from pipeline.errors import HopRankError
from pipeline.progress import Progress
from pipeline.resources import IMPORT_OWN
from pipeline.serve.folders import confined
from pipeline.serve.jobs.records import Advance, Job, Kind, Problem
from pipeline.settings import load_settings

_COMMAND = (sys.executable, "-P", "-c", IMPORT_OWN + "from pipeline.serve.jobs.process import serve; serve()")
_NICENESS = 5
"""Niceness of a job, at most 19: searches come first, and an idle machine works as fast as ever. Chosen by hand."""

_REPORT_SECONDS = 0.25
"""Between two reports of the progress; chosen by hand, not measured."""

_STOP = "stop"
_SECONDS_TO_END = 10.0
"""Seconds in which a job that runs may come to its next step; chosen by hand, not measured."""


class Stopped(Exception):
    """The job was told to stop; raised inside the ingest, which then undoes or leaves what the next run completes."""


class Control:
    """A listener of an ingest's progress (:class:`pipeline.progress.Listener`) that stops it from another thread.

    ``report`` is called with the progress, at most four times a second and when a stage begins.
    """

    def __init__(self, report: Callable[[Advance], None]) -> None:
        self._report = report
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._advance = Advance()
        self._reported = 0.0

    def stop(self) -> None:
        """Stop the ingest at its next step."""
        self._stop.set()

    def begin(self, stage: str, total: int | None) -> None:
        """Begin a stage; raises Stopped."""
        self._check()
        with self._lock:
            self._set(Advance(stage, 0, total), now=True)

    def advance(self, stage: str, steps: int) -> None:
        """Count steps; raises Stopped."""
        self._check()
        with self._lock:
            if self._advance.stage == stage:
                self._set(replace(self._advance, done=self._advance.done + steps), now=False)

    def end(self, stage: str) -> None:
        """End a stage, which the next one replaces."""

    def _check(self) -> None:
        if self._stop.is_set():
            raise Stopped

    def _set(self, advance: Advance, *, now: bool) -> None:
        self._advance = advance
        if now or time.monotonic() - self._reported >= _REPORT_SECONDS:
            self._reported = time.monotonic()
            self._report(advance)


class Failed(Exception):
    """A job ended with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class JobProcess:
    """Runs one job at a time, by the settings and on the server of ``hoprank``; started when it is needed.

    :meth:`stop` may be called from another thread.
    """

    def __init__(self, hoprank: HopRank) -> None:
        neo4j = hoprank.settings.neo4j.model_dump() | asdict(hoprank.client.address)
        self._settings = hoprank.settings.model_dump() | {"neo4j": neo4j}
        self._process: subprocess.Popen[bytes] | None = None
        self._sending = threading.Lock()
        self.progress = Advance()

    def run(self, job: Job) -> Mapping[str, Any]:
        """Run a job, which has its request, and return its summary; raises Failed, or Stopped after :meth:`stop`."""
        self.progress = Advance()
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - the command is ours
                _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            self._send(self._settings)
        process = self._process
        self._send(job)
        for line in cast("BinaryIO", process.stdout):
            kind, value = json.loads(line)
            if kind == "progress":
                self.progress = Advance(**value)
            elif kind == "result":
                return cast("Mapping[str, Any]", value)
            elif kind == "stopped":
                raise Stopped
            else:
                raise Failed(Problem(**value))
        if self._process is not process:
            raise Stopped  # it was closed with the service
        message = f"The process of the job ended with exit code {self.close()}."
        raise Failed(Problem("Fault", message, "See the log of the service, and whether there is memory enough."))

    def stop(self) -> None:
        """Stop the job at its next step, if one runs."""
        self._send(_STOP)

    def close(self) -> int | None:
        """End the process, if there is one, and return its exit code; a job that runs is stopped."""
        process, self._process = self._process, None
        if process is None:
            return None
        with self._sending:  # a message that is being sent ends first
            pass
        return end(process, _SECONDS_TO_END)

    def _send(self, message: object) -> None:
        # A process that ended is noticed by whoever reads its answers.
        with self._sending, suppress(OSError, ValueError):
            if (process := self._process) and process.stdin:
                pickle.dump(message, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
                process.stdin.flush()


def serve() -> None:
    """Run the jobs that the service sends until it ends: the main function of the process."""
    # Ctrl-C is the service's, which then stops the job.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError, OSError):
        os.nice(_NICENESS)
    answers = os.fdopen(os.dup(1), "wb")
    # Output of a library is no answer.
    os.dup2(2, 1)
    lock = threading.Lock()

    def answer(kind: str, value: object) -> None:
        with lock, suppress(OSError):
            answers.write(json.dumps([kind, value]).encode() + b"\n")
            answers.flush()

    messages = _messages(sys.stdin.buffer)
    settings = next(messages)
    jobs: SimpleQueue[tuple[Job, Control] | None] = SimpleQueue()
    report = threading.Thread(target=_receive, args=(messages, jobs, answer), daemon=True)
    report.start()
    hoprank: HopRank | None = None
    while (sent := jobs.get()) is not None:
        job, control = sent
        try:
            hoprank = hoprank or HopRank.connect(settings=load_settings(settings))
            answer("result", run(hoprank, job, Progress(control)))
        except Stopped:
            answer("stopped", None)
        except HopRankError as error:
            answer("problem", asdict(Problem(type(error).__name__, error.message, error.fix)))
        except Exception as error:
            sys.excepthook(*sys.exc_info())
            answer("problem", asdict(Problem("Fault", f"An unexpected {type(error).__name__}.", "See the log.")))
    if hoprank:
        hoprank.close()


def _messages(requests: BinaryIO) -> Iterator[Any]:
    with suppress(EOFError):
        while True:
            yield pickle.load(requests)  # noqa: S301 - the service's


def _receive(messages: Iterator[Any], jobs: SimpleQueue[tuple[Job, Control] | None], answer: Any) -> None:
    """Queue jobs with their controls, and stop the last one when told to or when the service has ended."""
    control = None
    for message in messages:
        if message != _STOP:
            control = Control(lambda advance: answer("progress", asdict(advance)))
            jobs.put((message, control))
        elif control:
            control.stop()
    if control:
        control.stop()
    jobs.put(None)


def run(hoprank: HopRank, job: Job, progress: Progress) -> Mapping[str, Any]:
    """Run a job and return its summary as JSON values; raises what the methods of HopRank raise."""
    if (request := job.request) is None:
        raise ValueError(f"the job {job.id} was claimed without its request")
    hoprank = confined(hoprank, hoprank.settings.serve.folders)
    corpus, fields = job.corpus, request.filterable
    if job.kind is Kind.INGEST:
        if request.files is not None:
            files = {key: base64.b64decode(content) for key, content in request.files.items()}
            return hoprank.add_files(files, corpus, filterable=fields, progress=progress).to_json()
        if request.documents is not None:
            return hoprank.add(request.documents, corpus, filterable=fields, progress=progress).to_json()
        return hoprank.ingest(*request.paths, corpus=corpus, filterable=fields, progress=progress).to_json()
    if request.documents is not None:
        summary = hoprank.replace(
            request.documents, corpus, dry_run=request.dry_run, filterable=fields, progress=progress
        )
    else:
        summary = hoprank.sync(
            *request.paths, corpus=corpus, dry_run=request.dry_run, filterable=fields, progress=progress
        )
    return summary.to_json()
