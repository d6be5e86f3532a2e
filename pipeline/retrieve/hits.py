"""Hits, read from the graph by id and cached."""

import contextvars
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from pipeline.db.corpus import CorpusHandle
from pipeline.db.vectors import from_bytes
from pipeline.records import Hit, metadata_of
from pipeline.retrieve.lru import Recent
from pipeline.retrieve.scoring.coverage import Passage

_KEPT = 8_000
"""Hits of a corpus: 25 to 50 megabytes, by the sizes of their chunks. A search reads fifty; reading them takes a fifth
of the processor time that it costs in both processes."""


class StoredHit(NamedTuple):
    """A hit without ranks, and its passage, which keeps what the scorer makes of it."""

    hit: Hit
    passage: Passage


class HitReader:
    """Reads the hits of a corpus, and keeps those that were read last. Thread-safe.

    A generation never changes, so a hit that was read stays valid. Those of another generation are dropped.
    """

    def __init__(self, corpus: CorpusHandle, kept: int = _KEPT) -> None:
        self._corpus = corpus
        self._generation = -1
        self._kept: Recent[str, StoredHit] = Recent(kept)
        self._lock = threading.Lock()

    def read(self, ids: Sequence[str], generation: int) -> dict[str, StoredHit]:
        """Return the hits that :func:`read_hits` returns, in the order of ``ids``."""
        with self._lock:
            if generation != self._generation:
                self._kept.clear()
                self._generation = generation
            known = {id_: self._kept[id_] for id_ in ids if id_ in self._kept}
        missing = [id_ for id_ in ids if id_ not in known]
        hits = known | read_hits(self._corpus.at(generation), missing)
        with self._lock:
            if generation == self._generation:
                for id_, hit in hits.items():
                    self._kept.use(id_, hit)
        return {id_: hits[id_] for id_ in ids if id_ in hits}

    @contextmanager
    def reading(self, ids: Sequence[str], generation: int) -> Iterator[None]:
        """Read hits in a thread while the context lasts, so that :meth:`read` finds them kept; for none, do nothing."""
        if not ids:
            yield
            return

        def read() -> None:
            # A fault of the server will be met again by the read that needs them.
            with suppress(Exception):
                self.read(ids, generation)

        context = contextvars.copy_context()  # with the span that the read is within
        thread = threading.Thread(target=context.run, args=(read,), name="hoprank-hits", daemon=True)
        thread.start()
        try:
            yield
        finally:
            thread.join()


def read_hits(corpus: CorpusHandle, ids: Sequence[str]) -> dict[str, StoredHit]:
    """Return chunks as hits, by id; ids that the corpus's generation lacks are left out.

    Raises Superseded if another generation is visible by now: this one's chunks may be gone.
    """
    stored: dict[str, StoredHit] = {}
    for *fields, centroid, of_document, of_chunk in (
        corpus.read_visible("hydrate", ids=list(ids))["hits"] if ids else ()
    ):
        fields += [metadata_of(dict(of_document)), metadata_of(dict(of_chunk))]
        hit = Hit(*fields)
        of_document_vectors = None if centroid is None else from_bytes(centroid)
        passage = Passage(hit.text, hit.title, hit.heading, hit.document, of_document_vectors)
        stored[hit.id] = StoredHit(hit, passage)
    return stored
