"""Holding a corpus for writing: one at a time; a second waits or is told who has it; a dead one is passed over."""

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
from pipeline.db.lease_owner import holder_of, is_dead, marked
from pipeline.db.transaction import Transaction
from pipeline.errors import Busy, CorpusError, HopRankError, ServerLost

_ASKED_EVERY = 0.5
_SAID_EVERY = 15.0
"""Seconds; see :mod:`pipeline.db.lease_owner` for how long a holder may be silent."""


@contextmanager
def held(client: Client, corpus: Corpus, wait: float = 0.0) -> Iterator[tuple[Corpus, str]]:
    """Hold the right to write to a corpus; yield the corpus as it then is, and the holder's mark.

    Raises Busy, naming the process and since when, if somebody alive holds it for ``wait`` seconds more. A process of
    this machine that is no more is passed over, and one of another that hasn't been heard of for two minutes.
    """
    with marked() as writer:
        now = _hold(client, corpus, writer, time.monotonic() + wait)
        try:
            with _heard_of(client, now, writer):
                yield now, writer
        except ServerLost:
            raise  # the mark can't be taken off now; whoever writes next sees that its holder is no more
        except BaseException:
            client.write("release_corpus", corpus=corpus.id, writer=writer)
            raise
        else:
            client.write("release_corpus", corpus=corpus.id, writer=writer)


class HeldWrites:
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
            rows = transaction.run("hold_on", corpus=self._corpus.id, writer=self._writer)
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


def _hold(client: Client, corpus: Corpus, writer: str, deadline: float) -> Corpus:
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
    rows = client.write("hold_corpus", corpus=corpus.id, writer=writer, since=since, dead=dead)
    if not rows:
        raise CorpusError(f"The corpus {corpus.name!r} was dropped meanwhile.", "Run this again to make it anew.")
    return rows[0]


@contextmanager
def _heard_of(client: Client, corpus: Corpus, writer: str) -> Iterator[None]:
    """Say every few seconds that the holder lives, for as long as the context lasts."""
    over = threading.Event()

    def say() -> None:
        while not over.wait(_SAID_EVERY):
            try:
                client.write("keep_corpus", corpus=corpus.id, writer=writer)
            except HopRankError:
                return  # whoever writes will come upon the same, and say so

    saying = threading.Thread(target=say, name="hoprank-hold", daemon=True)
    saying.start()
    try:
        yield
    finally:
        over.set()
        saying.join()
