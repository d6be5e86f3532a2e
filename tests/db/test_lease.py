"""Holding a corpus on the live server: by one writer at a time."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import neo4j
import psutil
import pytest

from pipeline.db.catalogue import Corpus, drop_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.db.lease import lease
from pipeline.db.writers import new_writer
from pipeline.errors import Busy, CorpusError

Cypher = Callable[..., list[neo4j.Record]]
Create = Callable[..., CorpusHandle]


@pytest.fixture
def create(client: Client, create: Callable[..., Corpus]) -> Create:
    """Make a corpus of that name, and return its handle."""
    return lambda name: CorpusHandle(client, create(name))


def writer_of(cypher: Cypher, corpus: CorpusHandle) -> str | None:
    (row,) = cypher("MATCH (c:HopRankCorpus {id: $id}) RETURN c.writer AS writer", id=corpus.id)
    writer: str | None = row["writer"]
    return writer


def machine() -> str:
    """This machine, as the ids of its writers name it."""
    with new_writer() as writer:
        return writer.split("/", 1)[0]


def leave_mark(cypher: Cypher, corpus: CorpusHandle, mark: str) -> None:
    cypher(
        "MATCH (c:HopRankCorpus {id: $id}) SET c.writer = $mark, c.writer_since = '2026-01-01'", id=corpus.id, mark=mark
    )


def test_a_writer_holds_the_corpus_until_it_is_done(
    client: Client, cypher: Cypher, corpus_name: str, create: Create
) -> None:
    corpus = create(corpus_name)

    with lease(corpus) as (now, writer):
        assert now == corpus
        assert writer_of(cypher, corpus) == writer
    assert writer_of(cypher, corpus) is None

    with pytest.raises(KeyboardInterrupt), lease(corpus):
        raise KeyboardInterrupt
    assert writer_of(cypher, corpus) is None


def test_a_second_writer_is_told_who_holds_it(client: Client, corpus_name: str, create: Create) -> None:
    corpus = create(corpus_name)

    with (
        lease(corpus),
        pytest.raises(Busy, match=f"Process {os.getpid()} on") as caught,
        lease(corpus),
    ):
        pass

    assert socket.gethostname() in caught.value.message
    assert corpus_name in caught.value.message
    assert "since 20" in caught.value.message


def test_a_holder_on_another_machine_that_was_silent_for_long_is_passed_over(
    client: Client, cypher: Cypher, corpus_name: str, create: Create, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.db.lease._RENEW_SECONDS", 0.2)
    corpus = create(corpus_name)
    leave_mark(cypher, corpus, "elsewhere.invalid/1/1.00/abc")
    say = "MATCH (c:HopRankCorpus {id: $id}) SET c.writer_seen = timestamp() - $silent"

    cypher(say, id=corpus.id, silent=60_000)
    with pytest.raises(Busy), lease(corpus):
        pass
    cypher(say, id=corpus.id, silent=180_000)
    with lease(corpus) as (_, writer):
        assert writer_of(cypher, corpus) == writer


def test_a_step_of_the_servers_clock_takes_no_lease_from_another_machine(
    client: Client, cypher: Cypher, corpus_name: str, create: Create, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.db.lease._RENEW_SECONDS", 1.0)
    corpus = create(corpus_name)
    leave_mark(cypher, corpus, "elsewhere.invalid/1/1.00/abc")
    sign = "MATCH (c:HopRankCorpus {id: $id}) SET c.writer_seen = timestamp() - $silent"
    # The last sign before the clock was set an hour ahead, and the next one.
    cypher(sign, id=corpus.id, silent=3_600_000)
    renewal = threading.Timer(0.5, lambda: cypher(sign, id=corpus.id, silent=0))
    renewal.start()

    with pytest.raises(Busy, match=r"Process 1 on elsewhere\.invalid"), lease(corpus):
        pass
    renewal.join()


def test_a_second_writer_may_wait(client: Client, corpus_name: str, create: Create) -> None:
    corpus = create(corpus_name)
    order: list[str] = []
    begun = threading.Event()

    def first() -> None:
        with lease(corpus):
            begun.set()
            time.sleep(0.3)
            order.append("first")

    thread = threading.Thread(target=first)
    thread.start()
    begun.wait()
    with lease(corpus, wait=60):
        order.append("second")
    thread.join()

    assert order == ["first", "second"]


def test_a_holder_that_lives_is_respected(client: Client, cypher: Cypher, corpus_name: str, create: Create) -> None:
    corpus = create(corpus_name)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        started = psutil.Process(other.pid).create_time()
        leave_mark(cypher, corpus, f"{machine()}/{other.pid}/{started:.2f}/abc")
        with pytest.raises(Busy, match=f"Process {other.pid}"), lease(corpus):
            pass
        other.kill()


@pytest.mark.parametrize("kind", ["gone", "another since", "this process before"])
def test_a_holder_that_is_no_more_is_passed_over(
    client: Client, cypher: Cypher, corpus_name: str, create: Create, kind: str
) -> None:
    corpus = create(corpus_name)
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    now = psutil.Process().create_time()
    mark = {
        "gone": f"{ended.pid}/{now:.2f}",
        "another since": f"{os.getppid()}/1000.00",
        "this process before": f"{os.getpid()}/{now:.2f}",
    }[kind]
    leave_mark(cypher, corpus, f"{machine()}/{mark}/abc")

    with lease(corpus) as (_, writer):
        assert writer_of(cypher, corpus) == writer


def test_of_many_that_want_it_at_once_one_gets_it(client: Client, corpus_name: str, create: Create) -> None:
    corpus = create(corpus_name)
    got: list[str] = []
    refused: list[str] = []
    ready, done = threading.Barrier(5), threading.Event()

    def want() -> None:
        ready.wait()
        try:
            with lease(corpus) as (_, writer):
                got.append(writer)
                done.wait(60)
        except Busy as error:
            refused.append(error.message)
            if len(refused) == 4:
                done.set()

    threads = [threading.Thread(target=want) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(got), len(refused)) == (1, 4)


def test_a_corpus_that_was_dropped_meanwhile_can_not_be_held(client: Client, corpus_name: str, create: Create) -> None:
    corpus = create(corpus_name)
    drop_corpus(client, corpus.record)

    with pytest.raises(CorpusError, match="dropped"), lease(corpus):
        pass


def test_a_corpus_that_was_renamed_meanwhile_is_not_written_to_by_its_old_name(
    client: Client, cypher: Cypher, corpus_name: str, create: Create
) -> None:
    corpus = create(corpus_name)
    cypher("MATCH (c:HopRankCorpus {id: $id}) SET c.name = $name", id=corpus.id, name=f"{corpus_name}-new")
    try:
        with pytest.raises(CorpusError, match=f"was renamed meanwhile: it is '{corpus_name}-new' now"), lease(corpus):
            pytest.fail("it was leased")
        assert writer_of(cypher, corpus) is None
    finally:
        cypher("MATCH (c:HopRankCorpus {id: $id}) SET c.name = $name", id=corpus.id, name=corpus_name)
