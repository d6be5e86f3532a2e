"""Control of a running job: it hears of the progress, and stops the job when told to."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from pipeline.serve.jobs.records import Advance

_REPORT_SECONDS = 0.25


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
