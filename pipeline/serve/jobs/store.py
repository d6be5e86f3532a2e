"""The store of jobs in the graph: create, claim, finish, cancel and retry them. Several services may share it."""

import json
import logging
import socket
import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from neo4j import Record

from pipeline.db.client import Client
from pipeline.db.indexes import CONSTRAINTS, ensure_declared
from pipeline.db.writers import is_stale
from pipeline.errors import JobError, UnknownJob
from pipeline.knowledge.clock import now
from pipeline.serve.jobs.records import Advance, Job, Kind, Problem, Request, State

JOB_SCHEMA = ("constrain_service_job_id", "index_service_job_state", "index_service_job_finished")


_LOG = logging.getLogger("hoprank.jobs")
_CURSOR = "/"
"""Separates the time of a page's last job from its id: several jobs may be created in one instant."""


class JobList(NamedTuple):
    """A page of jobs, and ``before`` for the following page: None on the last."""

    jobs: tuple[Job, ...]
    next: str | None


class JobCount(NamedTuple):
    """The number of a corpus's jobs in a state."""

    corpus: str
    state: str
    jobs: int


class JobStore:
    """The jobs of all services on one server. Thread-safe, as the client is."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._signs: dict[str, int] = {}
        self._ignored: set[str] = set()
        self._logged: set[str] = set()

    def prepare(self) -> None:
        """Create the indexes of jobs, if they are missing."""
        ensure_declared(self._client, (*CONSTRAINTS, *JOB_SCHEMA))
        self._client.write("prepare_jobs")

    def create(self, kind: Kind, corpus: str, request: Request) -> Job:
        """Queue a job and return it."""
        id_, created_at = uuid.uuid4().hex, now()
        properties = {
            "kind": kind.value,
            "corpus": corpus,
            "state": State.QUEUED.value,
            "created_at": created_at,
            "attempt": 0,
            "request": json.dumps(asdict(request)),
        }
        host = socket.gethostname() if request.paths else None
        self._client.write("create_job", id=id_, properties=properties | ({"host": host} if host else {}))
        return Job(id_, kind, corpus, State.QUEUED, created_at, host=host)

    def list(self, corpora: Iterable[str] | None = None, *, before: str = "", limit: int = 100) -> JobList:
        """Return the jobs of ``corpora``, or of all, the latest first.

        ``before`` is ``next`` of the page before, or a time: then jobs that were created earlier are listed.
        """
        names = None if corpora is None else sorted(corpora)
        # A bare time has no id behind it: no job of that instant is meant.
        time, _, id_ = before.partition(_CURSOR)
        rows = self._client.read("jobs", corpora=names, before=time or "9999", after=id_ or None, limit=limit)
        jobs = tuple(job for row in rows if (job := self._job(row)))
        return JobList(jobs, f"{rows[-1]['created_at']}{_CURSOR}{rows[-1]['id']}" if len(rows) == limit else None)

    def counts(self) -> tuple[JobCount, ...]:
        """Return how many jobs there are, by corpus and state."""
        return tuple(JobCount(*row) for row in self._client.read("job_counts"))

    def get(self, id_: str, corpora: Collection[str] | None = None) -> Job:
        """Return a job; raises UnknownJob, also for one of another corpus than ``corpora``."""
        found = next(map(self._job, self._client.read("job", id=id_)), None)
        if found is None or (corpora is not None and found.corpus not in corpora):
            raise UnknownJob(f"There is no job {id_[:80]!r}.", "GET /v1/jobs lists the jobs.")
        return found

    def claim(self, owner: str) -> Job | None:
        """Take the oldest queued job whose corpus has no running one; it comes with its request.

        A job with paths is run on the machine that has them. One that was deferred waits, and so do younger ones of its
        corpus.
        """
        host = socket.gethostname()
        while rows := self._client.read("next_job", host=host, ignored=[*self._ignored]):
            job = self._job(rows[0])
            if job is None or job.request is None:
                self._ignore(rows[0]["element"])
            elif taken := self._client.write(
                "claim_job", id=job.id, owner=owner, started_at=now(), ignored=[*self._ignored]
            ):
                return replace(Job.of(taken[0]["job"]), request=job.request)
        return None

    def beat(self, id_: str, owner: str, progress: Advance) -> bool:
        """Record a sign of life; return whether the job should stop: it was cancelled, or is no longer the owner's."""
        rows = self._client.write("beat_job", id=id_, owner=owner, progress=json.dumps(asdict(progress)))
        return not rows or bool(rows[0]["cancelling"])

    def finish(
        self,
        id_: str,
        owner: str,
        state: State,
        *,
        result: Mapping[str, Any] | None = None,
        problem: Problem | None = None,
        keep_request: bool,
    ) -> None:
        """End a job of ``owner``; without ``keep_request`` it can't be retried."""
        self._client.write(
            "finish_job",
            id=id_,
            owner=owner,
            state=state.value,
            finished_at=now(),
            result=None if result is None else json.dumps(result),
            problem=None if problem is None else json.dumps(asdict(problem)),
            keep_request=keep_request,
        )

    def defer(self, id_: str, owner: str, problem: Problem, seconds: float, limit: float) -> bool:
        """Queue a job of ``owner`` again whose corpus another process writes; it isn't claimed for some seconds.

        One that was to be cancelled is cancelled. Return whether the job could wait: not if it was tried first longer
        than ``limit`` seconds ago.
        """
        problem_json = json.dumps(asdict(problem))
        return bool(
            self._client.write(
                "defer_job", id=id_, owner=owner, problem=problem_json, seconds=seconds, limit=limit, finished_at=now()
            )
        )

    def requeue(self, id_: str, owner: str, *, died: bool = False) -> None:
        """Queue a job of ``owner``, which stopped or ``died``, again; one that was to be cancelled is cancelled."""
        self._client.write("requeue_job", id=id_, owner=owner, died=died, finished_at=now())

    def recover(self) -> None:
        """Queue the jobs again whose owners have died; silence counts from the second look on.

        A step of the server's clock looks like silence, but a live owner gives another sign before the next look.
        """
        before, self._signs = self._signs, {}
        self._ignored.clear()  # the server gives the element id of a deleted node to a new one
        for row in self._client.read("running_jobs"):
            owner, seen = row["job"].get("owner"), row["job"].get("seen")
            if (job := self._job(row)) is None:
                continue
            try:
                is_dead = is_stale(owner, row["silent"] if before.get(owner) == seen else None)
            except (AttributeError, ValueError):  # no writer's id
                self._ignore(row["element"])
                continue
            self._signs[owner] = seen
            if is_dead:
                self.requeue(job.id, owner, died=True)

    def _job(self, row: Record) -> Job | None:
        """Return the job of a row; None for a node that isn't one."""
        try:
            return Job.of(row["job"])
        except (KeyError, TypeError, ValueError):
            self._ignore(row["element"])
            return None

    def _ignore(self, element: str) -> None:
        """Leave a node alone that no service wrote, or that something else has changed; the log names it once."""
        self._ignored.add(element)
        if element not in self._logged:
            self._logged.add(element)
            _LOG.warning("The node %s has the label of jobs, but isn't one; it is ignored.", element)

    def cancel(self, id_: str) -> Job:
        """Cancel a queued job, or tell a running one to stop, and return it.

        Raises UnknownJob, and JobError if it has ended.
        """
        rows = self._client.write("cancel_job", id=id_, finished_at=now())
        job = self.get(id_)
        if rows and State(rows[0]["state"]).is_final:
            raise JobError(f"The job {id_} is {rows[0]['state']} already.", "Retry it, if it should run again.")
        return job

    def retry(self, id_: str) -> Job:
        """Queue a job again that failed, was cancelled, or left documents out; what is done costs it no time.

        Raises UnknownJob, and JobError if it hasn't ended or has nothing to repeat.
        """
        states = [state.value for state in State if state.is_final]
        rows = self._client.write("retry_job", id=id_, states=states)
        job = self.get(id_)
        if rows and not rows[0]["possible"]:
            problem = "left nothing out" if job.state is State.SUCCEEDED else f"is {job.state}"
            raise JobError(
                f"The job {id_} {problem}.", "Only what failed, was cancelled or left documents out can be retried."
            )
        return job

    def delete_old(self, days: float) -> None:
        """Delete the jobs that finished more than ``days`` days ago."""
        self._client.write("delete_old_jobs", before=(datetime.now(UTC) - timedelta(days=days)).isoformat())
