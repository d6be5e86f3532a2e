"""The lease of a corpus, which admits one writer at a time. Others wait or get an error that names the holder."""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from neo4j import Record

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Transaction, batches
from pipeline.db.corpus import CorpusHandle
from pipeline.db.writers import is_elsewhere, is_stale, named, new_writer
from pipeline.errors import Busy, CorpusError, HopRankError, ServerLost, UnknownCorpus

_RETRY_SECONDS = 0.5  # interval of attempts to take a lease that is held; chosen by hand, not measured

_RENEW_SECONDS = 15.0
"""Interval of renewals; :mod:`pipeline.db.writers` says after how long without them a holder counts as dead."""

_WATCH = 1.5  # renewals that a silent holder is watched for; chosen by hand: one is due meanwhile

_SET_BY_CHECK = 3
"""Properties that the fragment ``leased`` sets if the lease is held: the lock, its removal, and the sign of life."""


@contextmanager
def lease(corpus: CorpusHandle, wait: float = 0.0) -> Iterator[tuple[CorpusHandle, str]]:
    """Lease a corpus for writing; yield its handle at the visible generation, and the writer's id.

    Raises UnknownCorpus if the corpus was dropped, CorpusError if it has another name by now: what is written by its
    name would be another's. Raises Busy, naming the holder and since when it writes, if a live holder keeps the lease
    for ``wait`` seconds. The lease is taken over from a process of this machine that has ended, and from a process of
    another machine that hasn't renewed it for two minutes, nor while this one watches: a step of the server's clock
    looks like silence.
    """
    with new_writer() as writer:
        leased = _acquire(corpus, writer, time.monotonic() + wait)
        try:
            with _renewed(leased, writer):
                yield leased, writer
        except ServerLost:
            raise  # the lease can't be released now; the next writer takes it over
        except BaseException:
            corpus.write("release_lease", writer=writer)
            raise
        else:
            corpus.write("release_lease", writer=writer)


class LeasedWrites:
    """Writes to a corpus by queries that begin with ``<leased($corpus, $writer)>``, which checks and keeps the lease.

    The lease can't be taken over until the query's transaction ends. Raises Busy, and writes nothing, if it was taken
    over before: a holder that didn't renew it for too long, as on a suspended machine, counts as dead but may wake up
    again. The corpus fills in what a query declares of it.
    """

    def __init__(self, corpus: CorpusHandle, writer: str) -> None:
        self._corpus = corpus
        self._writer = writer

    def write(self, name: str, /, **params: Any) -> list[Record]:
        """Run the write query ``name`` and return its rows."""

        def work(transaction: Transaction) -> list[Record]:
            rows = transaction.run(name, **self._corpus.params(name, {"writer": self._writer, **params}))
            if transaction.counters[-1].properties_set < _SET_BY_CHECK:
                raise self.taken_over()
            return rows

        return self._corpus.client.write_together(work)

    def write_rows(self, name: str, rows: Iterable[Mapping[str, Any]], *, batch: int, **params: Any) -> None:
        """Run the write query ``name`` once per ``batch`` of ``rows`` (its ``$rows``), each in its own transaction."""
        for part in batches(rows, batch):
            self.write(name, rows=part, **params)

    def taken_over(self) -> Busy:
        """Return the error that reports the loss of the lease."""
        return Busy(
            f"Somebody else has taken over the corpus {self._corpus.name!r} while this run was writing to it.",
            "Run this again once that is done.",
        )


def _acquire(corpus: CorpusHandle, writer: str, deadline: float) -> CorpusHandle:
    def take(stale: list[str]) -> Record:
        since = datetime.now(UTC).isoformat(timespec="seconds")
        rows = corpus.write("take_lease", writer=writer, since=since, stale=stale)
        if not rows:
            raise UnknownCorpus(f"The corpus {corpus.name!r} was dropped meanwhile.", "Run this again to make it anew.")
        return rows[0]

    seen, watched_from = None, time.monotonic()
    while True:
        row = take([])
        if row["seen"] != seen:
            seen, watched_from = row["seen"], time.monotonic()
        stale = not row["held"] and is_stale(row["holder"], row["silent"])
        watch = watched_from + _WATCH * _RENEW_SECONDS if stale and is_elsewhere(row["holder"]) else 0.0
        if stale and time.monotonic() >= watch:
            row = take([row["holder"]])
        if row["held"]:
            leased = CorpusHandle(corpus.client, Corpus.of(row["corpus"]), leased=True)
            if leased.name != corpus.name:
                corpus.write("release_lease", writer=writer)
                problem = f"The corpus {corpus.name!r} was renamed meanwhile: it is {leased.name!r} now."
                raise CorpusError(problem, "Run this again with the name of the corpus that you mean.")
            return leased
        left = max(deadline, watch) - time.monotonic()
        if left <= 0:
            break
        time.sleep(min(left, _RETRY_SECONDS))
    host, pid = named(row["holder"])
    raise Busy(
        f"Process {pid} on {host} has been writing to the corpus {corpus.name!r} since {row['since']}.",
        "Wait until it is done and run this again, or give --wait SECONDS.",
    )


@contextmanager
def _renewed(corpus: CorpusHandle, writer: str) -> Iterator[None]:
    """Renew a lease regularly until the context ends."""
    over = threading.Event()

    def renew() -> None:
        while not over.wait(_RENEW_SECONDS):
            try:
                corpus.write("renew_lease", writer=writer)
            except HopRankError:
                return  # the writer meets the same error and reports it

    renewal = threading.Thread(target=renew, name="hoprank-lease", daemon=True)
    renewal.start()
    try:
        yield
    finally:
        over.set()
        renewal.join()
