"""The reader of one corpus: its handle and settings, and caches that outlive a question."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from pipeline.db.corpus import CorpusHandle
from pipeline.embedding.everyday import BUNDLED, Everyday, Scale
from pipeline.embedding.reranker import Reranker
from pipeline.retrieve.chance import ChanceReader
from pipeline.retrieve.filters.matches import FilterMatcher
from pipeline.retrieve.hits import HitReader
from pipeline.retrieve.scoring.relevance import RelevanceJudge
from pipeline.retrieve.scoring.scorer import Scorer
from pipeline.settings import Settings

_Kept = TypeVar("_Kept")


class CorpusReader:
    """The steps and legs of a search read a corpus through this. Thread-safe.

    ``everyday`` are the everyday messages by the corpus's model. Without them no hit has a relevance, and cosines are
    taken for those of the bundled model. ``reranker`` reads the first candidates, None for none.
    Raises ConfigurationError if the settings weigh a feature that there isn't.
    """

    def __init__(
        self,
        corpus: CorpusHandle,
        settings: Settings,
        everyday: Everyday | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self.corpus = corpus
        self.settings = settings
        self.scorer = Scorer(settings.weights.scorer)
        self.reranker = reranker
        self.judge = RelevanceJudge(settings.weights.relevance)
        self._everyday = everyday
        self.chance = ChanceReader(corpus, everyday)
        self.hits = HitReader(corpus)
        self.filters = FilterMatcher(corpus)
        self._kept: dict[object, Any] = {}
        self._lock = threading.Lock()

    @property
    def scale(self) -> Scale:
        """The scale of the model's cosines."""
        return self._everyday.scale if self._everyday else BUNDLED

    def kept(self, kind: Callable[[CorpusHandle], _Kept]) -> _Kept:
        """Return the ``kind`` of this corpus, made at first use and kept; a leg keeps its own index in this way."""
        with self._lock:
            if kind not in self._kept:
                self._kept[kind] = kind(self.corpus)
            kept: _Kept = self._kept[kind]
            return kept
