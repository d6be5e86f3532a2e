"""The reader of one corpus: its connection and settings, and caches that outlive a question."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.retrieve.filters.matches import FilterMatcher
from pipeline.retrieve.hits import HitReader
from pipeline.retrieve.scoring.scorer import Scorer
from pipeline.settings import Settings

_Kept = TypeVar("_Kept")


class CorpusReader:
    """The steps and legs of a search read a corpus through this. Thread-safe.

    Raises ConfigurationError if the settings weigh a feature that there isn't.
    """

    def __init__(self, client: Client, corpus: Corpus, settings: Settings) -> None:
        self.client = client
        self.corpus = corpus
        self.settings = settings
        self.scorer = Scorer(settings.scorer)
        self.hits = HitReader(client, corpus)
        self.filters = FilterMatcher(client, corpus)
        self._kept: dict[object, Any] = {}
        self._lock = threading.Lock()

    def kept(self, kind: Callable[[Client, Corpus], _Kept]) -> _Kept:
        """Return the ``kind`` of this corpus, made at first use and kept; a leg keeps its own index in this way."""
        with self._lock:
            if kind not in self._kept:
                self._kept[kind] = kind(self.client, self.corpus)
            kept: _Kept = self._kept[kind]
            return kept
