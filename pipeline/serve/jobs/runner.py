"""The runner: a thread that takes jobs from the store, one after the other, and runs them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pipeline.api import HopRank
from pipeline.db.writers import new_writer
from pipeline.errors import Busy, HopRankError, ServerLost, ServerUnreachable
from pipeline.ingest.sources.given import documents_of
from pipeline.progress import Progress
from pipeline.serve.jobs.control import Control, Stopped
from pipeline.serve.jobs.records import Job, Kind, Problem, Request, State
from pipeline.serve.jobs.store import JobStore

_BEAT_SECONDS = 1.0
_POLL_SECONDS = 2.0
"""Interval at which the queue is read; a job that this service gets itself is begun at once."""

_RECOVER_SECONDS = 15.0
_BUSY_SECONDS = 2.0
_BUSY_LIMIT = 600.0
"""Seconds that a job waits for another writer of its corpus."""

_MOST_ATTEMPTS = 5
"""Runs that a job gets on its own, if its services die each time."""

_LOG = logging.getLogger("hoprank.jobs")

CheckPaths = Callable[[Request], Request]
"""A function that returns a request with its paths resolved, or raises Forbidden for those that may not be read."""


class JobRunner:
    """Runs jobs until it is stopped; then the job that runs goes back into the queue.

    A job whose service died is run again by whichever runner finds it first. ``check_paths`` is asked again when a job
    begins, because a link may lead elsewhere by then.
    """

    def __init__(self, hoprank: HopRank, store: JobStore, check_paths: CheckPaths, keep_days: float) -> None:
        self._hoprank = hoprank
        self._store = store
        self._check_paths = check_paths
        self._keep_days = keep_days
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._control: Control | None = None
        self._thread = threading.Thread(target=self._work, name="hoprank-jobs", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def check(self, request: Request) -> None:
        """Raise the error that a request would fail with: Forbidden for its paths, SourceError for its documents."""
        self._check_paths(request)
        if request.documents is not None:
            documents_of(request.documents)

    def wake(self) -> None:
        """Look into the queue at once."""
        self._wake.set()

    def stop(self, seconds: float) -> None:
        """Stop the running job at its next step and queue it again; wait up to ``seconds`` for that."""
        self._stopping.set()
        self._wake.set()
        if control := self._control:
            control.stop()
        self._thread.join(seconds)

    def _work(self) -> None:
        recovered = -_RECOVER_SECONDS
        while not self._stopping.is_set():
            try:
                if time.monotonic() - recovered >= _RECOVER_SECONDS:
                    self._store.recover()
                    self._store.delete_old(self._keep_days)
                    recovered = time.monotonic()
                found = self._take_one()
            except (ServerLost, ServerUnreachable) as error:
                _LOG.warning("Jobs wait for the server: %s", error.message)
                found = False
            except Exception:
                _LOG.exception("A job could not be taken or finished.")
                found = False
            if not found:
                self._wake.wait(_POLL_SECONDS)
                self._wake.clear()

    def _take_one(self) -> bool:
        # A writer's id a job: one whose end could not be recorded counts as dead, and is recovered.
        with new_writer() as owner:
            job = self._store.claim(owner)
            if job is None:
                return False
            if job.attempt > _MOST_ATTEMPTS:
                self._give_up(job, owner)
            else:
                self._run(job, owner)
        return True

    def _give_up(self, job: Job, owner: str) -> None:
        message = f"The service died {_MOST_ATTEMPTS} times while it ran this job."
        problem = Problem("Fault", message, "Look into its log, and retry the job.")
        self._store.finish(job.id, owner, State.FAILED, problem=problem, keep_request=True)

    def _run(self, job: Job, owner: str) -> None:
        finish = self._store.finish
        try:
            with self._beating(job, owner) as control:
                result = self._attempt(job, control)
        except Stopped:
            if self._stopping.is_set():
                self._store.requeue(job.id, owner)
            else:
                finish(job.id, owner, State.CANCELLED, keep_request=True)
        except ServerLost:
            raise
        except HopRankError as error:
            problem = Problem(type(error).__name__, error.message, error.fix)
            finish(job.id, owner, State.FAILED, problem=problem, keep_request=True)
        except Exception as error:
            _LOG.exception("The job %s failed.", job.id)
            problem = Problem("Fault", f"An unexpected {type(error).__name__}.", "See the log of the service.")
            finish(job.id, owner, State.FAILED, problem=problem, keep_request=True)
        else:
            finish(job.id, owner, State.SUCCEEDED, result=result, keep_request=bool(left_out(result)))

    def _attempt(self, job: Job, control: Control) -> Mapping[str, Any]:
        deadline = time.monotonic() + _BUSY_LIMIT
        while True:
            try:
                return run(self._hoprank, job, self._check_paths, Progress(control))
            except Busy:
                if time.monotonic() > deadline:
                    raise
                control.wait(_BUSY_SECONDS)

    @contextmanager
    def _beating(self, job: Job, owner: str) -> Iterator[Control]:
        """Record signs of life and the progress until the context ends; stop the job when it is cancelled."""
        control = self._control = Control()
        if self._stopping.is_set():
            control.stop()
        over = threading.Event()

        def beat() -> None:
            while not over.wait(_BEAT_SECONDS):
                try:
                    if self._store.beat(job.id, owner, control.progress):
                        control.stop()
                except HopRankError:
                    continue  # the ingest meets the same error, or the server is back in time

        thread = threading.Thread(target=beat, name="hoprank-job-beat", daemon=True)
        thread.start()
        try:
            yield control
        finally:
            self._control = None
            over.set()
            thread.join()


def run(hoprank: HopRank, job: Job, check_paths: CheckPaths, progress: Progress) -> Mapping[str, Any]:
    """Run a job and return the summary as JSON values; raises what :meth:`HopRank.ingest` and ``sync`` raise."""
    if job.request is None:
        raise ValueError(f"the job {job.id} was claimed without its request")
    request = check_paths(job.request)
    if job.kind is Kind.INGEST:
        if request.documents is not None:
            return hoprank.add(request.documents, job.corpus, progress=progress).to_json()
        return hoprank.ingest(*request.paths, corpus=job.corpus, progress=progress).to_json()
    if request.documents is not None:
        summary = hoprank.replace(request.documents, job.corpus, dry_run=request.dry_run, progress=progress)
    else:
        summary = hoprank.sync(*request.paths, corpus=job.corpus, dry_run=request.dry_run, progress=progress)
    return summary.to_json()


def left_out(result: Mapping[str, Any]) -> list[Any]:
    """Return the sources that a job couldn't read, of the summary that it ended with."""
    done = result.get("done", result) or {}
    return list(done.get("skipped", ()))
