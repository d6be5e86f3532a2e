"""The runner: a thread that takes jobs from the store, one after the other, and has them run."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from pipeline.api import HopRank
from pipeline.db.writers import new_writer
from pipeline.errors import Busy, DatabaseStopped, HopRankError, ServerLost, ServerUnreachable
from pipeline.ingest.sources.reader import check_objects
from pipeline.serve.jobs.process import Failed, JobProcess, Stopped
from pipeline.serve.jobs.records import Job, Problem, Request, State
from pipeline.serve.jobs.store import JobStore

_BEAT_SECONDS = 1.0
"""Between two signs of life. This and the times below are chosen by hand, not measured."""

_POLL_SECONDS = 2.0
"""Interval at which the queue is read; a job that this service gets itself is begun at once."""

_RECOVER_SECONDS = 5.0  # between two looks for jobs whose service died; several signs of life fit in
_DELETE_SECONDS = 3600.0  # between two deletions of old jobs, which are kept for days
_BUSY_SECONDS = 2.0  # between two attempts while another process writes the corpus; jobs of other corpora run meanwhile
_BUSY_LIMIT = 600.0
"""Seconds that a job waits for another writer of its corpus."""

_IDLE_SECONDS = 60.0
"""Seconds without a job after which the process of jobs is ended, and its memory is free."""

_MOST_DEATHS = 5
"""Runs that a job gets on its own, if its services die each time."""

_GONE = (ServerLost.__name__, DatabaseStopped.__name__, ServerUnreachable.__name__)

_LOG = logging.getLogger("hoprank.jobs")

CheckPaths = Callable[[Request], Request]
"""A function that returns a request with its paths resolved, or raises Forbidden for those that may not be read."""

Count = Callable[[str, Mapping[str, float]], None]


class JobRunner:
    """Runs jobs until it is stopped; then the job that runs goes back into the queue.

    A job whose service died is run again by whichever runner finds it first. ``check_paths`` is asked again when a job
    begins, because a link may lead elsewhere by then. ``count`` is told the kind and the seconds by stage of each job
    that succeeded.
    """

    def __init__(
        self, hoprank: HopRank, store: JobStore, check_paths: CheckPaths, keep_days: float, count: Count
    ) -> None:
        self._store = store
        self._process = JobProcess(hoprank)
        self._check_paths = check_paths
        self._keep_days = keep_days
        self._count = count
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._recovered, self._deleted = -_RECOVER_SECONDS, -_DELETE_SECONDS
        self._thread = threading.Thread(target=self._work, name="hoprank-jobs", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def check(self, request: Request) -> None:
        """Raise the error that a request would fail with: Forbidden for its paths, SourceError for its documents."""
        self._check_paths(request)
        if request.documents is not None:
            check_objects(request.documents)

    def wake(self) -> None:
        """Look into the queue at once."""
        self._wake.set()

    def stop(self, seconds: float) -> None:
        """Stop the running job at its next step and queue it again; wait up to ``seconds`` for that."""
        self._stopping.set()
        self._wake.set()
        self._process.stop()
        self._thread.join(seconds)
        self._process.close()

    def _work(self) -> None:
        worked = time.monotonic()
        while not self._stopping.is_set():
            try:
                self._tidy()
                found = self._take_one()
            except (ServerLost, ServerUnreachable) as error:
                _LOG.warning("Jobs wait for the server: %s", error.message)
                found = False
            except Exception:
                _LOG.exception("A job could not be taken or finished.")
                found = False
            if found:
                worked = time.monotonic()
                continue
            if time.monotonic() - worked > _IDLE_SECONDS:
                self._process.close()
            self._wake.wait(_POLL_SECONDS)
            self._wake.clear()

    def _tidy(self) -> None:
        """Queue the jobs of dead services again, and delete old ones, where it is time for that."""
        if time.monotonic() - self._recovered >= _RECOVER_SECONDS:
            self._store.recover()
            self._recovered = time.monotonic()
        if time.monotonic() - self._deleted >= _DELETE_SECONDS:
            self._store.delete_old(self._keep_days)
            self._deleted = time.monotonic()

    def _take_one(self) -> bool:
        # A writer's id a job: one whose end could not be recorded counts as dead, and is recovered.
        with new_writer() as owner:
            job = self._store.claim(owner)
            if job is None:
                return False
            if job.deaths >= _MOST_DEATHS:
                message = f"The service died {job.deaths} times while it ran this job."
                problem = Problem("Fault", message, "Look into its log, and retry the job.")
                self._store.finish(job.id, owner, State.FAILED, problem=problem, keep_request=True)
            else:
                self._run(job, owner)
        return True

    def _run(self, job: Job, owner: str) -> None:
        finish = self._store.finish
        try:
            with self._beating(job, owner) as cancelled:
                result = self._attempt(job, cancelled)
        except Stopped:
            if self._stopping.is_set():
                self._store.requeue(job.id, owner)
            else:
                finish(job.id, owner, State.CANCELLED, keep_request=True)
        except Failed as error:
            if error.problem.type in _GONE:
                raise ServerLost(error.problem.message, error.problem.fix) from error
            is_busy = error.problem.type == Busy.__name__
            if is_busy and self._store.defer(job.id, owner, error.problem, _BUSY_SECONDS, _BUSY_LIMIT):
                return
            finish(job.id, owner, State.FAILED, problem=error.problem, keep_request=True)
        else:
            # A source that couldn't be read may be readable at the next run.
            done = result.get("done", result) or {}
            finish(job.id, owner, State.SUCCEEDED, result=result, keep_request=bool(done.get("skipped")))
            self._count(job.kind.value, done.get("seconds", {}))

    def _attempt(self, job: Job, cancelled: threading.Event) -> Mapping[str, Any]:
        if cancelled.is_set() or self._stopping.is_set():
            raise Stopped
        return self._process.run(self._checked(job))

    def _checked(self, job: Job) -> Job:
        try:
            return replace(job, request=self._check_paths(job.request) if job.request else None)
        except HopRankError as error:
            raise Failed(Problem(type(error).__name__, error.message, error.fix)) from error

    @contextmanager
    def _beating(self, job: Job, owner: str) -> Iterator[threading.Event]:
        """Record signs of life and the progress until the context ends; yield the event of the job's cancellation."""
        over, cancelled = threading.Event(), threading.Event()

        def beat() -> None:
            while not over.wait(_BEAT_SECONDS):
                # An ingest that meets the same error ends; else the server is back in time.
                with suppress(HopRankError):
                    if self._store.beat(job.id, owner, self._process.progress):
                        cancelled.set()
                if cancelled.is_set() or self._stopping.is_set():
                    self._process.stop()

        thread = threading.Thread(target=beat, name="hoprank-job-beat", daemon=True)
        thread.start()
        try:
            yield cancelled
        finally:
            over.set()
            thread.join()
