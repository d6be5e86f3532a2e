"""Full-text indexes that are there before their corpora, for tests whose subject is neither.

With each index that comes online the server drops the plans of all queries, and planning them again takes most of its
time in tests that make corpora: 45 of them cost it 33 s of processor time, and 17 s with indexes made 25 at once.
"""

from __future__ import annotations

import threading
import uuid
from typing import Any

from pipeline.db import catalogue, indexes
from pipeline.db.client import Client
from pipeline.text.languages import AUTO

_AT_ONCE = 25


class IndexesAhead:
    """Makes indexes under the ids of corpora to come, and gives the ids to corpora that would make equal indexes.

    ``uuid4`` stands for the function of that name in the catalogue.
    """

    def __init__(self, client: Client, analyzer: str) -> None:
        self._client = client
        self._analyzer = analyzer
        self._lock = threading.Lock()
        self._next = threading.local()
        self._ahead: list[uuid.UUID] = []
        self._made: list[str] = []

    def create_corpus(self, client: Client, name: str, **made_by: Any) -> catalogue.Corpus:
        """Create a corpus as the function of the catalogue does, whose index is there already if it can be."""
        # The texts of these tests are English: the one that they choose.
        is_plain = made_by["analyzer"] in (self._analyzer, AUTO) and not made_by.get("filterable")
        if is_plain and client.address.uri == self._client.address.uri:
            self._next.id = self._take()
        try:
            return catalogue.create_corpus(client, name, **made_by)
        finally:
            self._next.id = None

    def uuid4(self) -> uuid.UUID:
        """Return the id that was taken for the corpus that this thread is creating, else any."""
        taken: uuid.UUID | None = getattr(self._next, "id", None)
        return taken or uuid.uuid4()

    def drop(self) -> None:
        """Drop the indexes that no corpus has taken along."""
        indexes.drop_indexes(self._client, self._made)

    def _take(self) -> uuid.UUID:
        with self._lock:
            if not self._ahead:
                self._ahead = [uuid.uuid4() for _ in range(_AT_ONCE)]
                for one in self._ahead:
                    self._make(one.hex[:12])
            return self._ahead.pop()

    def _make(self, corpus_id: str) -> None:
        label = indexes.corpus_label(corpus_id)
        self._client.schema("create_fulltext_index", {"label": label}, analyzer=self._analyzer)
        self._made.append(label)
