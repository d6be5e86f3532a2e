"""The lease of a corpus: one writer at a time. A second waits or is told who has it; a dead one is passed over."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from neo4j import Record

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client, batches
from pipeline.db.transaction import Transaction
from pipeline.db.writers import holder_of, is_dead, new_writer
from pipeline.errors import Busy, CorpusError, HopRankError, ServerLost

_ASKED_EVERY = 0.5
_RENEWED_EVERY = 15.0
"""Seconds; see :mod:`pipeline.db.writers` for how long a holder may be silent."""


@contextmanager
def lease(client: Client, corpus: Corpus, wait: float = 0.0) -> Iterator[tuple[Corpus, str]]:
    """Lease a corpus for writing; yield the corpus as it then is, and the writer's id.

    Raises Busy, naming the process and since when, if somebody alive holds it for ``wait`` seconds more. A process of
    this machine that is no more is passed over, and one of another that hasn't been heard of for two minutes.
    """
    with new_writer() as writer:
        now = _acquire(client, corpus, writer, time.monotonic() + wait)
        try:
            with _renewed(client, now, writer):
                yield now, writer
        except ServerLost:
            raise  # the lease can't be released now; whoever writes next sees that its writer is dead
        except BaseException:
            client.write("release_lease", corpus=corpus.id, writer=writer)
            raise
        else:
            client.write("release_lease", corpus=corpus.id, writer=writer)


class LeasedWrites:
    """Writes to a corpus, each in a transaction that begins by making sure that ``writer`` still holds it.

    Nobody can take the corpus over until such a transaction ends. Raises Busy, and writes nothing, if somebody has: a
    holder that was silent for too long, as on a machine that slept, is taken for dead and may yet wake up.
    """

    def __init__(self, client: Client, corpus: Corpus, writer: str) -> None:
        self._client = client
        self._corpus = corpus
        self._writer = writer

    def write(self, name: str, /, **params: Any) -> list[Record]:
        """Run the write query ``name``, and return its rows."""

        def work(transaction: Transaction) -> list[Record]:
            rows = transaction.run("check_lease", corpus=self._corpus.id, writer=self._writer)
            if not rows or not rows[0]["held"]:
                raise self.taken_over()
            return transaction.run(name, **params)

        return self._client.write_together(work)

    def write_rows(self, name: str, rows: Iterable[Mapping[str, Any]], *, batch: int, **params: Any) -> None:
        """Run the write query ``name`` once per ``batch`` of ``rows`` (its ``$rows``), each in its own transaction."""
        for part in batches(rows, batch):
            self.write(name, rows=part, **params)

    def taken_over(self) -> Busy:
        """Return the error that says so."""
        return Busy(
            f"Somebody else has taken over the corpus {self._corpus.name!r} while this run was writing to it.",
            "Run this again once that is done.",
        )


def _acquire(client: Client, corpus: Corpus, writer: str, deadline: float) -> Corpus:
    while True:
        row = _take(client, corpus, writer, dead=[])
        if not row["held"] and is_dead(row["holder"], row["silent"]):
            row = _take(client, corpus, writer, dead=[row["holder"]])
        if row["held"]:
            return Corpus.of(row["corpus"])
        left = deadline - time.monotonic()
        if left <= 0:
            break
        time.sleep(min(left, _ASKED_EVERY))
    pid, host = holder_of(row["holder"])
    raise Busy(
        f"Process {pid} on {host} has been writing to the corpus {corpus.name!r} since {row['since']}.",
        "Wait until it is done and run this again, or give --wait SECONDS.",
    )


def _take(client: Client, corpus: Corpus, writer: str, dead: list[str]) -> Record:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    rows = client.write("take_lease", corpus=corpus.id, writer=writer, since=since, dead=dead)
    if not rows:
        raise CorpusError(f"The corpus {corpus.name!r} was dropped meanwhile.", "Run this again to make it anew.")
    return rows[0]


@contextmanager
def _renewed(client: Client, corpus: Corpus, writer: str) -> Iterator[None]:
    """Renew a lease every few seconds, for as long as the context lasts."""
    over = threading.Event()

    def renew() -> None:
        while not over.wait(_RENEWED_EVERY):
            try:
                client.write("renew_lease", corpus=corpus.id, writer=writer)
            except HopRankError:
                return  # whoever writes will come upon the same, and say so

    renewal = threading.Thread(target=renew, name="hoprank-lease", daemon=True)
    renewal.start()
    try:
        yield
    finally:
        over.set()
        renewal.join()
