"""Corpora: named, found, held for writing by one at a time, dropped."""

from __future__ import annotations

import difflib
import os
import socket
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import psutil
from neo4j import Record

from pipeline.errors import Busy, CorpusError, FingerprintError, InputError, ServerLost
from pipeline.graph.client import Client
from pipeline.graph.schema import corpus_label, drop_indexes, embedding_name, ensure_constraints
from pipeline.records import EdgeKind

SCHEMA_VERSION = 2
_LONGEST_NAME = 200
_DELETE_AT_ONCE = 10_000
_HELD_HERE: set[str] = set()
"""The marks under which this process writes at this moment."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus as the graph has it. ``id`` never changes; ``generation`` is the one that is visible.

    ``staging`` is the generation that is being written, or that a run which died left unfinished; else None. ``edges``
    counts by kind.
    """

    id: str
    name: str
    generation: int
    staging: int | None
    fingerprint: str
    dimension: int
    chunker: str
    analyzer: str
    documents: int
    chunks: int
    entities: int
    edges: Mapping[str, int]

    @property
    def label(self) -> str:
        """Label of its chunks and name of its full-text index."""
        return corpus_label(self.id)

    @property
    def embedding(self) -> str:
        """Label of the chunks of its model and name of their vector index."""
        return embedding_name(self.fingerprint)

    def at(self, generation: int) -> Corpus:
        """Return the corpus as one of its generations, for whoever has just published it."""
        return replace(self, generation=generation)

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> Corpus:
        """Take a corpus from its node's properties."""
        values: dict[str, Any] = {name: properties.get(name) for name in cls.__slots__}
        values["edges"] = {kind.value: properties.get(f"edges.{kind}", 0) for kind in EdgeKind}
        return cls(**values)


def list_corpora(client: Client) -> list[Corpus]:
    """Return every corpus, by name."""
    return [Corpus.of(row["corpus"]) for row in client.read("corpora")]


def find_corpus(client: Client, name: str) -> Corpus | None:
    """Return the corpus of that name, or None."""
    rows = client.read("corpus_named", name=name)
    return Corpus.of(rows[0]["corpus"]) if rows else None


def get_corpus(client: Client, name: str) -> Corpus:
    """Return the corpus of that name; raises CorpusError, naming the nearest, if there is none."""
    corpus = find_corpus(client, name)
    if corpus is None:
        names = [known.name for known in list_corpora(client)]
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        fix = (
            f"Did you mean {near[0]!r}?"
            if near
            else f"Known: {', '.join(names)}."
            if names
            else "Make one: hoprank ingest."
        )
        raise CorpusError(f"There is no corpus {name!r}.", fix)
    return corpus


def create_corpus(
    client: Client, name: str, *, fingerprint: str, dimension: int, chunker: str, analyzer: str
) -> Corpus:
    """Make a corpus, or return the one that somebody made meanwhile under the same name."""
    if not name.strip() or len(name) > _LONGEST_NAME:
        raise InputError(f"A corpus can't be named {name[:50]!r}.", f"Use 1 to {_LONGEST_NAME} characters.")
    properties = {
        "fingerprint": fingerprint,
        "dimension": dimension,
        "chunker": chunker,
        "analyzer": analyzer,
        "schema_version": SCHEMA_VERSION,
        "documents": 0,
        "chunks": 0,
        "entities": 0,
    }
    ensure_constraints(client)
    _finish_drops(client)
    rows = client.write("create_corpus", id=uuid.uuid4().hex[:12], name=name, properties=properties)
    return Corpus.of(rows[0]["corpus"])


def check_fingerprint(corpus: Corpus, fingerprint: str, chunker: str | None = None) -> None:
    """Raise FingerprintError unless the corpus was made with this embedder, and this chunker where one is given."""
    if corpus.fingerprint != fingerprint:
        raise FingerprintError(
            f"The corpus {corpus.name!r} was embedded with {corpus.fingerprint}, not with {fingerprint}.",
            "Set embed.model to the one it was made with, or ingest into a new corpus.",
        )
    if chunker is not None and corpus.chunker != chunker:
        raise FingerprintError(
            f"The corpus {corpus.name!r} was chunked by {corpus.chunker}, not by {chunker}.",
            "Set chunk.max_tokens and chunk.overlap as they were, or ingest into a new corpus.",
        )


def drop_corpus(client: Client, corpus: Corpus) -> None:
    """Delete a corpus, which the caller holds: at once for its readers; then its indexes and, in batches, its nodes.

    A drop that was cut short is completed by whoever next makes or drops a corpus.
    """
    client.write("begin_drop", corpus=corpus.id)
    _delete(client, corpus)
    _finish_drops(client)


def _finish_drops(client: Client) -> None:
    for row in client.read("dropped_corpora"):
        if row["writer"] is None or _is_dead(row["writer"]):
            _delete(client, Corpus.of(row["corpus"]))


def _delete(client: Client, corpus: Corpus) -> None:
    drop_indexes(client, [corpus.label])
    while client.write("delete_corpus_part", corpus=corpus.id, label=corpus.label, limit=_DELETE_AT_ONCE)[0]["deleted"]:
        pass
    # Whoever makes a corpus waits for this lock, so that it finds the model's index either there to stay or gone.
    with client.locking("lock_catalog", fingerprint=corpus.fingerprint) as rows:
        if not rows[0]["corpora"]:
            drop_indexes(client, [corpus.embedding])
    client.write("delete_corpus", corpus=corpus.id)


@contextmanager
def held(client: Client, corpus: Corpus) -> Iterator[tuple[Corpus, str]]:
    """Hold the right to write to a corpus; yield the corpus as it then is, and the holder's mark.

    Raises Busy, naming the process and since when, if somebody alive holds it. A process of this machine that
    is no more is passed over.
    """
    writer = _mark()
    # Noted before it is taken: a thread of ours that comes upon the mark must not think its holder dead.
    _HELD_HERE.add(writer)
    try:
        now = _hold(client, corpus, writer)
        try:
            yield now, writer
        except ServerLost:
            raise  # the mark can't be taken off now; whoever writes next sees that its holder is no more
        except BaseException:
            client.write("release_corpus", corpus=corpus.id, writer=writer)
            raise
        else:
            client.write("release_corpus", corpus=corpus.id, writer=writer)
    finally:
        _HELD_HERE.discard(writer)


def _hold(client: Client, corpus: Corpus, writer: str) -> Corpus:
    row = _take(client, corpus, writer, dead=[])
    if not row["held"] and _is_dead(row["holder"]):
        row = _take(client, corpus, writer, dead=[row["holder"]])
    if not row["held"]:
        host, pid, _ = row["holder"].split("/", 2)
        raise Busy(
            f"Process {pid} on {host} has been writing to the corpus {corpus.name!r} since {row['since']}.",
            "Wait until it is done and run this again.",
        )
    return Corpus.of(row["corpus"])


def _take(client: Client, corpus: Corpus, writer: str, dead: list[str]) -> Record:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    rows = client.write("hold_corpus", corpus=corpus.id, writer=writer, since=since, dead=dead)
    if not rows:
        raise CorpusError(f"The corpus {corpus.name!r} was dropped meanwhile.", "Run this again to make it anew.")
    return rows[0]


def _mark() -> str:
    """Name this process so that it can be told from a later one of the same number."""
    started = psutil.Process().create_time()
    return f"{socket.gethostname()}/{os.getpid()}/{started:.2f}/{uuid.uuid4().hex[:8]}"


def _is_dead(mark: str) -> bool:
    host, pid, started, _ = mark.split("/", 3)
    if host != socket.gethostname():
        return False
    if int(pid) == os.getpid():
        return mark not in _HELD_HERE
    try:
        return abs(psutil.Process(int(pid)).create_time() - float(started)) > 1
    except psutil.NoSuchProcess:
        return True
