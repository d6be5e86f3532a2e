"""Control of a running job: it hears of the progress, and stops the job when told to."""

from __future__ import annotations

import threading
from dataclasses import replace

from pipeline.serve.jobs.records import Advance


class Stopped(Exception):
    """The job was told to stop; raised inside the ingest, which then undoes or leaves what the next run completes."""


class Control:
    """A listener of an ingest's progress (:class:`pipeline.progress.Listener`) that stops it from another thread."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._advance = Advance()

    @property
    def progress(self) -> Advance:
        """The stage that the ingest is in, and its steps."""
        return self._advance

    def stop(self) -> None:
        """Stop the ingest at its next step."""
        self._stop.set()

    def wait(self, seconds: float) -> None:
        """Wait; raises Stopped if the job is told to stop meanwhile."""
        if self._stop.wait(seconds):
            raise Stopped

    def begin(self, stage: str, total: int | None) -> None:
        """Begin a stage; raises Stopped."""
        self.wait(0)
        with self._lock:
            self._advance = Advance(stage, 0, total)

    def advance(self, stage: str, steps: int) -> None:
        """Count steps; raises Stopped."""
        self.wait(0)
        with self._lock:
            if self._advance.stage == stage:
                self._advance = replace(self._advance, done=self._advance.done + steps)

    def end(self, stage: str) -> None:
        """End a stage, which the next one replaces."""
