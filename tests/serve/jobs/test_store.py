"""The store of jobs: a queue that several services share."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import neo4j
import pytest

from pipeline.db.client import Client
from pipeline.db.embedded import Address
from pipeline.db.queries import load_queries
from pipeline.db.writers import new_writer
from pipeline.errors import JobError, UnknownJob
from pipeline.serve.jobs.records import Advance, Job, Kind, Problem, Request, State
from pipeline.serve.jobs.store import JobStore

REQUEST = Request(({"id": "a", "text": "one"},))
BUSY = Problem("Busy", "Another process writes.", "Wait.")


@pytest.fixture
def store(client: Client) -> Iterator[JobStore]:
    store = JobStore(client)
    store.prepare()
    yield store
    store.delete_old(-1)


@pytest.fixture
def owner() -> Iterator[str]:
    with new_writer() as writer:
        yield writer


def claimed_by(store: JobStore, owner: str) -> Job:
    """The job that is next, which there is."""
    job = store.claim(owner)
    assert job is not None
    return job


def test_a_job_goes_from_the_queue_to_its_end(store: JobStore, owner: str) -> None:
    made = store.create(Kind.INGEST, "docs", REQUEST)
    claimed = claimed_by(store, owner)
    assert (claimed.id, claimed.state, claimed.attempt, claimed.request) == (made.id, State.RUNNING, 1, REQUEST)

    assert not store.beat(made.id, owner, Advance("embed", 3, 9))
    assert store.get(made.id).progress == Advance("embed", 3, 9)

    store.finish(made.id, owner, State.SUCCEEDED, result={"changed": 1}, keep_request=False)
    ended = store.get(made.id)
    assert (ended.state, ended.result) == (State.SUCCEEDED, {"changed": 1})
    with pytest.raises(JobError, match="left nothing out"):
        store.retry(made.id)


def test_the_oldest_goes_first_and_a_corpus_has_one_at_a_time(store: JobStore, owner: str) -> None:
    first, second, other = (store.create(Kind.INGEST, corpus, REQUEST) for corpus in ("a", "a", "b"))

    claimed = [store.claim(owner) for _ in range(3)]
    assert [job and job.id for job in claimed] == [first.id, other.id, None]
    store.finish(first.id, owner, State.FAILED, problem=Problem("Busy", "m", "f"), keep_request=True)
    assert claimed_by(store, owner).id == second.id
    for job in (second, other):
        store.finish(job.id, owner, State.FAILED, keep_request=True)


def test_a_job_whose_corpus_is_busy_waits_while_those_of_others_run(
    store: JobStore, owner: str, cypher: Callable[..., list[neo4j.Record]]
) -> None:
    busy, behind, other = (store.create(Kind.INGEST, corpus, REQUEST) for corpus in ("a", "a", "b"))
    assert claimed_by(store, owner).id == busy.id

    assert store.defer(busy.id, owner, BUSY, 60, 600)

    waiting = store.get(busy.id)
    assert (waiting.state, waiting.attempt, waiting.started_at, waiting.problem) == (State.QUEUED, 0, None, BUSY)
    claimed = [store.claim(owner) for _ in range(2)]
    assert [job and job.id for job in claimed] == [other.id, None], "the one behind doesn't overtake it"
    cypher("MATCH (j:HopRankServiceJob {id: $id}) SET j.not_before = timestamp()", id=busy.id)
    again = claimed_by(store, owner)
    assert (again.id, again.attempt, again.problem, again.deaths) == (busy.id, 1, None, 0)
    assert not store.defer(busy.id, owner, BUSY, 60, -1), "it was tried first too long ago"
    assert store.get(busy.id).state is State.RUNNING
    for job in (busy, other):
        store.finish(job.id, owner, State.FAILED, problem=BUSY, keep_request=True)
    assert store.cancel(behind.id).state is State.CANCELLED


def test_a_deferred_job_is_cancelled_at_once_and_one_that_was_to_stop_is_not_deferred(
    store: JobStore, owner: str
) -> None:
    waiting, stopping = (store.create(Kind.INGEST, corpus, REQUEST) for corpus in "ab")
    assert all(store.claim(owner) for _ in range(2))
    assert store.defer(waiting.id, owner, BUSY, 60, 600)

    cancelled = store.cancel(waiting.id)
    assert store.cancel(stopping.id).cancelling
    assert store.defer(stopping.id, owner, BUSY, 60, 600)

    assert (cancelled.state, cancelled.problem) == (State.CANCELLED, None)
    assert store.get(stopping.id).state is State.CANCELLED
    assert store.retry(waiting.id).state is State.QUEUED
    assert claimed_by(store, owner).id == waiting.id, "a retried job waits no longer"
    store.finish(waiting.id, owner, State.FAILED, keep_request=False)


def test_deaths_of_services_are_counted_and_nothing_else(store: JobStore, owner: str) -> None:
    job = store.create(Kind.SYNC, "docs", REQUEST)
    assert store.claim(owner)
    store.requeue(job.id, owner)
    with new_writer() as dead:
        assert store.claim(dead)
    store.recover()

    claimed = claimed_by(store, owner)

    assert (claimed.attempt, claimed.deaths) == (3, 1)
    store.finish(job.id, owner, State.FAILED, keep_request=True)
    store.retry(job.id)
    assert claimed_by(store, owner).deaths == 0
    store.finish(job.id, owner, State.FAILED, keep_request=False)


def test_a_job_with_paths_says_where_they_are_and_is_run_there(
    store: JobStore, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "one.invalid")
    job = store.create(Kind.INGEST, "docs", Request(paths=("/data",)))
    assert job.host == "one.invalid"
    monkeypatch.setattr(socket, "gethostname", lambda: "two.invalid")

    assert store.claim(owner) is None
    assert store.get(job.id) == job
    assert store.cancel(job.id).state is State.CANCELLED


def test_a_job_of_a_dead_owner_is_queued_again(store: JobStore) -> None:
    with new_writer() as dead:
        job = store.create(Kind.SYNC, "docs", REQUEST)
        assert store.claim(dead)
        store.recover()
        assert store.get(job.id).state is State.RUNNING

    store.recover()

    assert store.get(job.id).state is State.QUEUED
    assert store.beat(job.id, dead, Advance()), "the old owner stops"
    store.cancel(job.id)


SERVICE = """
import os, socket, sys
from pipeline.db import writers
from pipeline.db.client import Client
from pipeline.db.embedded import Address
from pipeline.db.queries import load_queries
from pipeline.serve.jobs.store import JobStore
from pathlib import Path
socket.gethostname = lambda: "replica"
os.getpid = lambda: 1
writers._PID_NAMESPACE = Path(sys.argv[1])
with Client(Address(*sys.argv[2:])) as client, writers.new_writer() as owner:
    store = JobStore(client)
    job = store.claim(owner)
    print(job and job.id, owner, flush=True)
    while line := sys.stdin.readline():
        store.recover()
        print(flush=True)
"""


@pytest.mark.slow
def test_services_in_containers_of_one_name_leave_each_other_their_jobs(
    store: JobStore, address: Address, tmp_path: Path
) -> None:
    """Each finds itself under the number of the other's process."""
    jobs = [store.create(Kind.SYNC, corpus, REQUEST) for corpus in ("one", "two")]
    with ExitStack() as stack:
        services = []
        for number, job in enumerate(jobs):
            (tmp_path / str(number)).symlink_to(f"pid:[40265{number}]")
            command = [sys.executable, "-c", SERVICE, str(tmp_path / str(number)), *asdict(address).values()]
            service = stack.enter_context(Popen(command, stdin=PIPE, stdout=PIPE, text=True))
            stack.callback(service.kill)
            assert service.stdout
            claimed, owner = service.stdout.readline().split()
            assert claimed == job.id
            stack.callback(store.finish, job.id, owner, State.FAILED, keep_request=False)
            services.append(service)
        for service in services * 2:
            assert service.stdin
            assert service.stdout
            service.stdin.write("\n")
            service.stdin.flush()
            service.stdout.readline()
        assert [store.get(job.id).state for job in jobs] == [State.RUNNING, State.RUNNING]


def test_an_owner_on_another_machine_is_dead_if_it_is_silent_between_two_looks(
    store: JobStore, cypher: Callable[..., list[neo4j.Record]]
) -> None:
    owner, say = (
        "elsewhere.invalid/1/1.00/abc",
        "MATCH (j:HopRankServiceJob {id: $id}) SET j.seen = timestamp() - $silent",
    )
    job = store.create(Kind.SYNC, "docs", REQUEST)
    assert store.claim(owner)
    # As after a step of the server's clock: a live owner gives another sign before the next look.
    for silent in (3_600_000, 180_000, 0):
        cypher(say, id=job.id, silent=silent)
        store.recover()
        assert store.get(job.id).state is State.RUNNING

    cypher(say, id=job.id, silent=180_000)
    store.recover()
    store.recover()

    assert store.get(job.id).state is State.QUEUED
    store.cancel(job.id)


def test_a_queued_job_is_cancelled_at_once_and_retried(store: JobStore, owner: str) -> None:
    job = store.create(Kind.INGEST, "docs", REQUEST)

    assert store.cancel(job.id).state is State.CANCELLED
    with pytest.raises(JobError, match="cancelled already"):
        store.cancel(job.id)
    assert store.claim(owner) is None
    assert store.retry(job.id).state is State.QUEUED
    with pytest.raises(JobError, match="is queued"):
        store.retry(job.id)
    assert claimed_by(store, owner).request == REQUEST

    assert store.cancel(job.id).cancelling
    assert store.beat(job.id, owner, Advance())
    store.requeue(job.id, owner)
    assert store.get(job.id).state is State.CANCELLED


def test_jobs_are_listed_the_latest_first_by_pages_and_corpora(store: JobStore) -> None:
    jobs = [store.create(Kind.INGEST, corpus, REQUEST) for corpus in "abab"]

    assert [job.id for job in store.list(["a"]).jobs] == [jobs[2].id, jobs[0].id]
    page = store.list(limit=3).jobs
    earlier = store.list(before=page[-1].created_at)
    assert [job.id for job in (*page, *earlier.jobs)] == [job.id for job in reversed(jobs)]
    assert earlier.next is None
    assert all(job.request is None for job in page)
    for job in jobs:
        store.cancel(job.id)


def test_no_job_of_one_instant_falls_between_pages(store: JobStore, cypher: Callable[..., list[neo4j.Record]]) -> None:
    jobs = [store.create(Kind.INGEST, "a", REQUEST).id for _ in range(5)]
    cypher("MATCH (j:HopRankServiceJob) WHERE j.id IN $ids SET j.created_at = '2026-01-01'", ids=jobs)

    listed, before = [], ""
    while True:
        page, following = store.list(["a"], before=before, limit=2)
        listed += [job.id for job in page]
        if following is None:
            break
        before = following

    assert listed == sorted(jobs)
    assert store.list(["a"], before="2026-01-01").jobs == ()
    for id_ in jobs:
        store.cancel(id_)


def test_old_jobs_are_looked_up_by_when_they_finished(
    store: JobStore, owner: str, cypher: Callable[..., list[neo4j.Record]], address: Address
) -> None:
    kept, old = (store.create(Kind.INGEST, "docs", REQUEST) for _ in range(2))
    for job in (kept, old):
        store.cancel(job.id)
    cypher("MATCH (j:HopRankServiceJob {id: $id}) SET j.finished_at = '2020'", id=old.id)
    cypher("CALL db.awaitIndexes(60)")

    store.delete_old(1)

    assert store.get(kept.id).state is State.CANCELLED
    with pytest.raises(UnknownJob):
        store.get(old.id)
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        text = f"EXPLAIN {load_queries()['delete_old_jobs'].text}"
        plan = str(driver.execute_query(text, before="2026", database_=address.database).summary.plan)
    assert "NodeIndexSeek" in plan


WHOLE = {"id": "x", "kind": "sync", "corpus": "b", "state": "queued", "created_at": "1", "attempt": 0}


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": None},
        {"id": None},
        {"corpus": 5},
        {"attempt": "many"},
        {"request": None},
        {"request": "no JSON"},
        {"request": '{"command": "rm"}'},
        {"corpus": "a", "state": "running", "owner": "nobody", "seen": "never"},
        {"corpus": "a", "state": "running", "kind": None},
    ],
    ids=str,
)
def test_a_node_that_is_no_job_is_neither_run_nor_in_the_way(
    store: JobStore,
    owner: str,
    cypher: Callable[..., list[neo4j.Record]],
    caplog: pytest.LogCaptureFixture,
    changed: Mapping[str, Any],
) -> None:
    planted = {
        name: value
        for name, value in {**WHOLE, "request": json.dumps(asdict(REQUEST)), **changed}.items()
        if value is not None
    }
    cypher("CREATE (j:HopRankServiceJob) SET j = $planted", planted=planted)
    try:
        job = store.create(Kind.INGEST, "a", REQUEST)

        for _ in range(2):
            store.recover()
            assert claimed_by(store, owner).id == job.id
            assert store.claim(owner) is None
            store.requeue(job.id, owner)

        assert job.id in {one.id for one in store.list().jobs}
        assert all(isinstance(count.corpus, str) for count in store.counts())
        found = cypher("MATCH (j:HopRankServiceJob) WHERE j.id IS NULL OR j.id <> $id RETURN properties(j)", id=job.id)
        assert [dict(row[0]) for row in found] == [planted], "it is left as it was"
        assert [record.message.count("isn't one") for record in caplog.records] == [1]
        store.cancel(job.id)
    finally:
        cypher("MATCH (j:HopRankServiceJob) WHERE j.id IS NULL OR j.id = 'x' DELETE j")
