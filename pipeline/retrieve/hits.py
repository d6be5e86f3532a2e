"""What a result shows of a chunk, read from the graph."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.retrieve.lru import Recent

_FIELDS = (
    "id",
    "text",
    "document",
    "title",
    "heading",
    "path",
    "ordinal",
    "start",
    "end",
    "line_start",
    "line_end",
    "properties",
)
"""The values of a hit, in the order in which ``hydrate`` returns them."""

_KEPT = 5_000
"""Hits: some ten megabytes, of chunks of the usual size."""

Hit: TypeAlias = Mapping[str, Any]


class HitReader:
    """Reads what a result shows of the chunks of a corpus, and keeps those that were read last. Thread-safe.

    A generation never changes, so that what was read of it holds; those of another one are dropped.
    """

    def __init__(self, client: Client, corpus: Corpus, kept: int = _KEPT) -> None:
        self._client = client
        self._corpus = corpus
        self._generation = -1
        self._kept: Recent[str, Hit] = Recent(kept)
        self._lock = threading.Lock()

    def read(self, ids: Sequence[str], generation: int) -> dict[str, Hit]:
        """Return what :func:`read_hits` does, in the order of ``ids``."""
        with self._lock:
            if generation != self._generation:
                self._kept.clear()
                self._generation = generation
            known = {id_: self._kept[id_] for id_ in ids if id_ in self._kept}
        missing = [id_ for id_ in ids if id_ not in known]
        found = known | read_hits(self._client, self._corpus, missing, generation)
        with self._lock:
            if generation == self._generation:
                for id_, hit in found.items():
                    self._kept.use(id_, hit)
        return {id_: found[id_] for id_ in ids if id_ in found}


def read_hits(client: Client, corpus: Corpus, ids: Sequence[str], generation: int) -> dict[str, Hit]:
    """Return the text, place and document of chunks of one generation, by id; those that it lacks are left out."""
    rows = client.read("hydrate", ids=list(ids), corpus=corpus.id, generation=generation) if ids else []
    hits = (dict(zip(_FIELDS, values, strict=True)) for row in rows for values in row["hits"])
    return {hit["id"]: hit for hit in hits}
